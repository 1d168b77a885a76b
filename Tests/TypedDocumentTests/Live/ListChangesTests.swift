import BSONStore
import Testing

/// Without these a list on the screen would show other rows than the query found, or crash in its
/// batch update.
@Suite struct ListChangesTests {
    /// An element of a list: what identifies it, and its content.
    private struct Element: Hashable {
        var id: Int
        var content: Int
    }

    /// Numbers that only a seed decides.
    private struct Seeded: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9e37_79b9_7f4a_7c15
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
            return mixed ^ (mixed >> 31)
        }
    }

    private static func changes(_ old: [Element], _ new: [Element]) -> ListChanges {
        ListChanges(from: old.map(\.id), to: new.map(\.id)) { old[$0] != new[$1] }
    }

    /// Does what `UITableView.performBatchUpdates` does, and reloads the changed rows afterwards.
    private static func batchUpdate(
        _ old: [Element], _ changes: ListChanges, _ new: [Element]
    ) -> [Element] {
        var rows = old
        for index in (changes.removed + changes.moved.map(\.from)).sorted(by: >) {
            rows.remove(at: index)
        }
        let arriving =
            changes.inserted.map { ($0, new[$0]) } + changes.moved.map { ($0.to, old[$0.from]) }
        for (index, row) in arriving.sorted(by: { $0.0 < $1.0 }) { rows.insert(row, at: index) }
        for index in changes.changed { rows[index] = new[index] }
        return rows
    }

    /// Checks all laws of the difference of two lists.
    private static func check(_ old: [Element], _ new: [Element]) {
        let changes = changes(old, new)
        let oldIDs = Set(old.map(\.id))
        let newIDs = Set(new.map(\.id))
        #expect(batchUpdate(old, changes, new) == new)
        #expect(changes.removed == old.indices.filter { !newIDs.contains(old[$0].id) })
        #expect(changes.inserted == new.indices.filter { !oldIDs.contains(new[$0].id) })
        let contents = Dictionary(uniqueKeysWithValues: old.map { ($0.id, $0.content) })
        let changed = new.indices.filter { index in
            contents[new[index].id].map { $0 != new[index].content } ?? false
        }
        #expect(changes.changed == changed)
        #expect(changes.moved.map(\.to) == changes.moved.map(\.to).sorted())
        #expect(changes.moved.allSatisfy { old[$0.from].id == new[$0.to].id })
        #expect(changes.isEmpty == (old == new))
        // The closure makes the inserted and changed elements only.
        var list = old
        var made: [Int] = []
        changes.apply(to: &list) { index in
            made.append(index)
            return new[index]
        }
        #expect(list == new)
        #expect(made == (changes.inserted + changes.changed).sorted())
    }

    /// All orders of all subsets of some ids.
    private static func arrangements(_ ids: [Int]) -> [[Int]] {
        var all: [[Int]] = [[]]
        for (index, id) in ids.enumerated() {
            var rest = ids
            rest.remove(at: index)
            all += arrangements(rest).map { [id] + $0 }
        }
        return all
    }

    @Test func `the difference of any two short lists leads from one to the other`() {
        let lists = Self.arrangements([1, 2, 3, 4])
        #expect(lists.count == 65)
        for old in lists {
            for new in lists {
                // In the new list each second id has another content.
                Self.check(
                    old.map { Element(id: $0, content: 0) },
                    new.map { Element(id: $0, content: $0 % 2) })
            }
        }
    }

    @Test(arguments: UInt64(1)...40)
    func `the changes of any sequence of edits lead to the list after them`(seed: UInt64) {
        var random = Seeded(state: seed)
        var list: [Element] = []
        var nextID = 0
        for _ in 0..<50 {
            let before = list
            for _ in 0..<Int.random(in: 0...6, using: &random) {
                switch Int.random(in: 0..<5, using: &random) {
                case 0, 1:
                    let place = Int.random(in: 0...list.count, using: &random)
                    list.insert(Element(id: nextID, content: 0), at: place)
                    nextID += 1
                case 2 where !list.isEmpty:
                    list.remove(at: Int.random(in: 0..<list.count, using: &random))
                case 3 where !list.isEmpty:
                    list[Int.random(in: 0..<list.count, using: &random)].content += 1
                case 4 where !list.isEmpty:
                    let element = list.remove(at: Int.random(in: 0..<list.count, using: &random))
                    list.insert(element, at: Int.random(in: 0...list.count, using: &random))
                default: list.shuffle(using: &random)
                }
            }
            Self.check(before, list)
        }
    }

    @Test func `as few documents as possible move`() {
        let sorted = Array(0..<6)
        for order in Self.arrangements(sorted) where order.count == sorted.count {
            let changes = ListChanges(from: sorted, to: order) { _, _ in false }
            // The longest rising choice of the order, by trying all of them.
            let longest = (0..<(1 << order.count)).map { mask in
                let chosen = order.indices.filter { mask & (1 << $0) != 0 }.map { order[$0] }
                return chosen == chosen.sorted() ? chosen.count : 0
            }.max()
            #expect(changes.moved.count == order.count - (longest ?? 0))
        }
        let toTheEnd = ListChanges(from: [1, 2, 3, 4], to: [2, 3, 4, 1]) { _, _ in false }
        #expect(toTheEnd == ListChanges(moved: [.init(from: 0, to: 3)]))
    }

    @Test(.timeLimit(.minutes(30)), arguments: [true, false])
    func `a hundred thousand documents in another order take no square of steps`(isReversed: Bool) {
        var random = Seeded(state: 7)
        let old = Array(0..<100_000)
        let new = isReversed ? old.reversed() : old.shuffled(using: &random)
        let changes = ListChanges(from: old, to: new) { _, _ in false }
        var list = old
        changes.apply(to: &list) { new[$0] }
        #expect(list == new && !changes.moved.isEmpty)
    }

    @Test func `an error while a list changes leaves it`() {
        struct Refusal: Error {}
        var list = ["a", "b"]
        let changes = ListChanges(removed: [0], inserted: [1])
        #expect(throws: Refusal.self) { try changes.apply(to: &list) { _ in throw Refusal() } }
        #expect(list == ["a", "b"])
        changes.apply(to: &list) { "new \($0)" }
        #expect(list == ["b", "new 1"])
    }
}
