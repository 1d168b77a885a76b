import BSONStore
import Foundation
import StitchSync
import Testing

/// Without these a typed write would overwrite what the app left alone, and another device's edit
/// with it (rule R15).
@Suite struct TypedWriteLawTests {
    /// A way to store a changed value.
    typealias Writer =
        @Sendable (
            _ value: Record, _ before: Record, _ stored: BSONDocument, _ coder: Coder
        ) throws -> BSONDocument

    struct Coder {
        let encoder: BSONEncoder
        let decoder: BSONDecoder
        let types = RecordTypes()

        init() {
            encoder = BSONEncoder(userInfo: [.recordTypes: types])
            decoder = BSONDecoder(userInfo: [.recordTypes: types])
        }

        func decode(_ type: RecordType, _ document: BSONDocument) throws -> Record {
            try types.with(type) { try decoder.decode(Record.self, from: document) }
        }
    }

    /// As `modify` does.
    static let modifying: Writer = { value, before, stored, coder in
        try coder.types.with(value.type.type) {
            let coding = DocumentCoding<Record>(coder.encoder, coder.decoder)
            return try coding.change(value, [coding.edition(before, stored)])
        }
    }

    /// As `replaceOne` does.
    static let replacing: Writer = { value, before, stored, coder in
        try coder.types.with(value.type.type) { try coder.encoder.encode(value, onto: stored) }
    }

    /// A wrong engine: it writes the whole encoding over the fields that it knows.
    static let overwriting: Writer = { value, before, stored, coder in
        var result = stored
        for (key, field) in try coder.encoder.encode(value) { result[key] = field }
        return result
    }

    /// The seeds of the pairs of edits; `make law` sets `LAW_PAIRS` and `LAW_FROM`.
    static var seeds: Range<UInt64> {
        func number(_ name: String) -> UInt64? {
            ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) }
        }
        let first = number("LAW_FROM") ?? 0
        return first..<first + (number("LAW_PAIRS") ?? 4_000)
    }

    @Test("modify changes exactly what the app changed", .timeLimit(.minutes(180)))
    func modify() throws {
        for seed in Self.seeds {
            if let broken = try Self.broken(seed, Self.modifying) {
                Issue.record("seed \(seed): \(broken)")
                return
            }
        }
    }

    @Test("a replacement changes exactly what the app changed", .timeLimit(.minutes(180)))
    func replace() throws {
        for seed in Self.seeds {
            if let broken = try Self.broken(seed, Self.replacing) {
                Issue.record("seed \(seed): \(broken)")
                return
            }
        }
    }

    @Test("an edit of an older value keeps the edits made since", .timeLimit(.minutes(180)))
    func edited() throws {
        for seed in Self.seeds {
            if let broken = try Self.brokenLater(seed, isWrong: false) {
                Issue.record("seed \(seed): \(broken)")
                return
            }
        }
        let broken = try (0..<200).compactMap { try Self.brokenLater($0, isWrong: true) }
        #expect(broken.count > 50, "a write without the older value is caught")
    }

    @Test("a wrong engine that writes the whole encoding breaks the law")
    func wrong() throws {
        let broken = try (0..<200).compactMap { try Self.broken(UInt64($0), Self.overwriting) }
        #expect(broken.count > 50)
    }

    // MARK: - The law

    /// Lets two devices edit different properties of one stored document.
    ///
    /// - Returns: what broke the law; `nil` if nothing did.
    static func broken(_ seed: UInt64, _ write: Writer) throws -> String? {
        var dice = RecordDice(seed: seed)
        let type = dice.type()
        let coder = Coder()
        var stored = dice.stored(dice.record(type))
        if stored["_id"] == nil { stored.append("_id", 1) }
        let value = try coder.decode(type, stored)
        guard try write(value, value, stored, coder) == stored else {
            return "a write of an unchanged value: \(stored)"
        }
        var editions: [BSONDocument] = []
        var wanted = value
        for part in dice.parts(of: value, stored) {
            var edited = value
            let changed = dice.edit(&edited, part)
            let written = try write(edited, value, stored, coder)
            if let broken = difference(stored, written, type, value, edited) {
                return "\(broken)\n\(stored)\n\(written)"
            }
            let read = try coder.decode(type, written)
            guard same(read, edited, coder) else {
                return "an edit of \(changed) is lost\n\(stored)\n\(written)"
            }
            wanted.take(changed, of: part, from: edited)
            editions.append(written)
        }
        let merged = ThreeWayMerge().merge(base: stored, local: editions[0], remote: editions[1])
        guard merged.overlaps.isEmpty else {
            return "overlaps \(merged.overlaps)\n\(stored)\n\(editions)"
        }
        guard same(try coder.decode(type, merged.document), wanted, coder) else {
            return "the merge lost an edit\n\(stored)\n\(editions)\n\(merged.document)"
        }
        return nil
    }

    /// Edits an older value of a document that another edit changed meanwhile.
    ///
    /// - Parameter isWrong: whether the write does not know the value that the edit began with.
    static func brokenLater(_ seed: UInt64, isWrong: Bool) throws -> String? {
        var dice = RecordDice(seed: seed)
        let type = dice.type()
        let coder = Coder()
        let coding = DocumentCoding<Record>(coder.encoder, coder.decoder)
        var stored = dice.stored(dice.record(type))
        if stored["_id"] == nil { stored.append("_id", 1) }
        let value = try coder.decode(type, stored)
        let names = type.members.map(\.name)
        let half = dice.below(names.count + 1)
        var (theirs, mine) = (value, value)
        _ = dice.edit(&theirs, outOf: Array(names[..<half]))
        let changed = dice.edit(&mine, outOf: Array(names[half...]))
        let edition = try modifying(theirs, value, stored, coder)
        let written = try coder.types.with(type) {
            try coding.write(mine, from: isWrong ? nil : value, onto: edition)
        }
        var wanted = theirs
        for name in changed { wanted.values[name] = mine.values[name] }
        if let broken = difference(edition, written, type, theirs, wanted) {
            return "\(broken)\n\(edition)\n\(written)"
        }
        guard same(try coder.decode(type, written), wanted, coder) else {
            return "an edit is lost\n\(edition)\n\(written)"
        }
        return nil
    }

    private static func same(_ left: Record, _ right: Record, _ coder: Coder) -> Bool {
        // URLs and negative zeros keep their text and sign in encodings only.
        left == right
    }

    /// Compares what is stored before and after, where the value did not change.
    private static func difference(
        _ before: BSONDocument, _ after: BSONDocument, _ type: RecordType, _ old: Record,
        _ new: Record
    ) -> String? {
        let known = Set(type.members.map(\.name))
        for (key, value) in before where !known.contains(key) {
            guard let kept = after[key], kept.contentEquals(value) else {
                return "the unknown field \(key) changed"
            }
        }
        for (key, _) in after where !known.contains(key) && before[key] == nil {
            return "a field \(key) appeared"
        }
        for member in type.members {
            let (was, now) = (before[member.name], after[member.name])
            if old.values[member.name] == new.values[member.name] {
                guard was.map({ [$0] }) == now.map({ [$0] }) else {
                    return "\(member.name) changed without an edit"
                }
                continue
            }
            if let broken = inside(member, was, now, old, new) {
                return "\(member.name): \(broken)"
            }
        }
        let order = after.keys.filter { before[$0] != nil }
        return order == before.keys.filter { after[$0] != nil } ? nil : "the order changed"
    }

    /// Compares the parts of a property that changed.
    private static func inside(
        _ member: RecordType.Member, _ was: BSONValue?, _ now: BSONValue?, _ old: Record,
        _ new: Record
    ) -> String? {
        switch (member.kind, old.values[member.name], new.values[member.name]) {
        case (.record(let type), .record(let old)?, .record(let new)?):
            guard case .document(let was)? = was, case .document(let now)? = now else { return nil }
            return difference(was, now, type, old, new)
        case (.records(let type), .records(let old)?, .records(let new)?):
            guard case .array(let was)? = was, case .array(let now)? = now else { return nil }
            return elements(type, old, new, was.values, now.values)
        case (.recordSet(let type), .recordSet(let old)?, .recordSet(let new)?):
            guard case .array(let was)? = was, case .array(let now)? = now else { return nil }
            return stayed(type, old.intersection(new), was.values, now.values)
        case (.recordsByName(let type), .recordsByName(let old)?, .recordsByName(let new)?):
            guard case .document(let was)? = was, case .document(let now)? = now else { return nil }
            for (name, record) in new {
                guard let source = old[name], case .document(let before)? = was[name],
                    case .document(let after)? = now[name]
                else { continue }
                if let broken = difference(before, after, type, source, record) {
                    return "[\(name)]: \(broken)"
                }
            }
            return nil
        case (.stringSet, .stringSet(let old)?, .stringSet(let new)?):
            return sets(was, now) { value in
                guard case .string(let text) = value else { return false }
                return old.contains(text) && new.contains(text)
            }
        default: return nil
        }
    }

    /// Elements with an identity of their own, those that did not change, and those that changed in
    /// their place keep what the type does not know.
    private static func elements(
        _ type: RecordType, _ old: [Record], _ new: [Record], _ was: [BSONValue],
        _ now: [BSONValue]
    ) -> String? {
        guard was.count == old.count, now.count == new.count else { return "another count" }
        for (index, record) in new.enumerated() {
            guard let source = source(of: index, old, new),
                case .document(let before) = was[source],
                case .document(let after) = now[index]
            else { continue }
            if let broken = difference(before, after, type, old[source], record) {
                return "[\(index)]: \(broken)"
            }
        }
        return nil
    }

    /// Returns the position of the old element that a new one must be written onto; `nil` if the
    /// law leaves it open.
    private static func source(of index: Int, _ old: [Record], _ new: [Record]) -> Int? {
        let record = new[index]
        func sameID(_ other: Record) -> Bool { other.values["id"] == record.values["id"] }
        if record.values["id"] != nil, new.filter(sameID).count == 1,
            old.filter(sameID).count == 1
        {
            return old.firstIndex(where: sameID)
        }
        if old.indices.contains(index), old[index] == record { return index }
        if let same = old.firstIndex(of: record) {
            // Equal elements may take each other's place.
            return old.count { $0 == record } == 1 && new.count { $0 == record } == 1 ? same : nil
        }
        guard old.count == new.count, sameID(old[index]), !new.contains(old[index]) else {
            return nil
        }
        return index
    }

    /// Elements of a set of documents that stay keep their bytes, where they can be found.
    private static func stayed(
        _ type: RecordType, _ staying: Set<Record>, _ was: [BSONValue], _ now: [BSONValue]
    ) -> String? {
        guard type.members.allSatisfy(\.kind.hasOneForm) else { return nil }
        do {
            for value in was {
                guard case .document(let document) = value,
                    staying.contains(try Coder().decode(type, document))
                else { continue }
                guard now.contains(where: { $0.contentEquals(value) }) else {
                    return "an element that stays changed: \(document)"
                }
            }
            return nil
        } catch {
            return "\(error)"
        }
    }

    /// Elements of sets that stay keep their order.
    private static func sets(
        _ was: BSONValue?, _ now: BSONValue?, _ stays: (BSONValue) -> Bool
    ) -> String? {
        guard case .array(let was)? = was, case .array(let now)? = now else { return nil }
        let (before, after) = (was.values.filter(stays), now.values.filter(stays))
        return before == after ? nil : "the set's order changed"
    }
}
