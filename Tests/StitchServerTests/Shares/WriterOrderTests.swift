import Testing

@testable import StitchServer

/// Who writes next decides how long a user waits for the transactions of another one.
struct WriterOrderTests {
    /// An order that an expectation may ask, which changes it.
    private final class Order {
        private var order = WriterOrder()

        var count: Int { order.count }
        var hasWaiting: Bool { order.hasWaiting }

        func enter(_ owner: [UInt8], _ kind: WriterOrder.Kind) -> UInt64 {
            order.enter(owner, kind)
        }

        func begin(_ place: UInt64) -> Bool { order.begin(place) }

        func leave(_ place: UInt64) { order.leave(place) }
    }

    private static let (ann, ben, cid): ([UInt8], [UInt8], [UInt8]) = ([1], [2], [3])

    @Test("whoever wrote last comes after the others, however many of its transactions came before")
    func afterTheOthers() {
        let order = Order()
        let held = order.enter(Self.ann, .transaction)
        #expect(order.begin(held))
        let more = (0..<12).map { _ in order.enter(Self.ann, .transaction) }
        let single = order.enter(Self.ben, .single)
        let transaction = order.enter(Self.cid, .transaction)
        #expect(!(more + [single, transaction]).contains { order.begin($0) })
        order.leave(held)
        #expect(!more.contains { order.begin($0) } && !order.begin(transaction))
        #expect(order.begin(single))
        #expect(!order.begin(transaction), "a single write is under way")
        order.leave(single)
        #expect(!more.contains { order.begin($0) })
        #expect(order.begin(transaction))
        order.leave(transaction)
        #expect(!order.begin(more[1]) && order.begin(more[0]))
    }

    @Test("one user's transactions get the lock once between two writes of another one")
    func turns() {
        let order = Order()
        var waiting = (0..<3).map { _ in order.enter(Self.ann, .transaction) }
        for _ in 0..<20 {
            // Ann's next one writes, and Ben comes while it does.
            let next = waiting.removeFirst()
            #expect(order.begin(next))
            let write = order.enter(Self.ben, .single)
            waiting.append(order.enter(Self.ann, .transaction))
            #expect(!order.begin(write))
            order.leave(next)
            #expect(!waiting.contains { order.begin($0) })
            #expect(order.begin(write))
            order.leave(write)
        }
        #expect(order.hasWaiting)
    }

    @Test("single writes go on together, and none overtakes a transaction that is next")
    func together() {
        let order = Order()
        let writes = (0..<8).map { _ in order.enter(Self.ann, .single) }
        #expect(writes.allSatisfy { order.begin($0) })
        let transaction = order.enter(Self.ben, .transaction)
        let late = order.enter(Self.ann, .single)
        #expect(!order.begin(transaction))
        order.leave(writes[0])
        #expect(!order.begin(late), "Ben has waited since before Ann's last turn")
        for write in writes.dropFirst() { order.leave(write) }
        #expect(order.begin(transaction))
        order.leave(transaction)
        #expect(order.begin(late))
    }

    @Test("the writers of one user keep their order, and one that stops waiting had no turn")
    func ofOne() {
        let order = Order()
        let first = order.enter(Self.ann, .transaction)
        let second = order.enter(Self.ann, .transaction)
        let other = order.enter(Self.ben, .transaction)
        #expect(!order.begin(second) && !order.begin(other))
        order.leave(first)
        #expect(!order.begin(other) && order.begin(second))
        order.leave(second)
        #expect(order.begin(other))
        order.leave(other)
        #expect(order.count == 0 && !order.hasWaiting)
    }

    @Test("the last turns of many users are forgotten, and not those of the latest")
    func manyUsers() {
        let order = Order()
        for user in 0..<3 * WriterOrder.ownersMax {
            let owner = [UInt8(user & 255), UInt8(user >> 8)]
            let place = order.enter(owner, .single)
            #expect(order.begin(place))
            order.leave(place)
        }
        let last = 3 * WriterOrder.ownersMax - 1
        let recent = order.enter([UInt8(last & 255), UInt8(last >> 8)], .transaction)
        let former = order.enter([0, 0], .transaction)
        #expect(!order.begin(recent) && order.begin(former))
    }
}
