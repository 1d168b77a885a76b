import BSONStore
import Testing

@testable import StitchSync

/// The fields that a history tells of a conflict.
@Suite struct HistoryFieldTests {
    @Test("fields that differ are found wherever they stand in an edition")
    func anyPlace() {
        var dice = Dice(seed: 7)
        for _ in 0..<500 {
            let editions = (0..<4).map { _ in Self.edition(&dice) }
            let fields = HistoryField.differing(
                base: editions[0], local: editions[1], remote: editions[2], result: editions[3])
            var names: [String] = []
            for name in editions.flatMap({ $0?.keys ?? [] }) where !names.contains(name) {
                if Set(editions.map { $0?[name] }).count > 1 { names.append(name) }
            }
            #expect(Set(fields.map(\.name)) == Set(names), "\(editions)")
            for field in fields {
                let told = [field.base, field.local, field.remote, field.result]
                #expect(told == editions.map { $0?[field.name] }, "\(editions)")
            }
        }
    }

    @Test("at most sixteen fields are told, those of the base first")
    func most() {
        let fields = (0..<40).map { ("f\($0)", BSONValue.int32(Int32($0))) }
        let (base, remote) = (BSONDocument(fields), BSONDocument(fields.reversed()))
        #expect(
            HistoryField.differing(base: base, local: remote, remote: remote, result: remote)
                .isEmpty)
        let told = HistoryField.differing(base: base, local: nil, remote: remote, result: nil)
        #expect(told.map(\.name) == (0..<16).map { "f\($0)" })
        #expect(told.allSatisfy { $0.base == $0.remote && $0.local == nil && $0.result == nil })
    }

    /// A document of some fields in some order, or none.
    private static func edition(_ dice: inout Dice) -> BSONDocument? {
        guard dice.below(8) > 0 else { return nil }
        var names = ["a", "b", "c", "d", "e"]
        if dice.below(2) == 0 { names.swapAt(dice.below(5), dice.below(5)) }
        names.removeAll { _ in dice.below(5) == 0 }
        return BSONDocument(names.map { ($0, .int32(Int32(dice.below(2)))) })
    }
}
