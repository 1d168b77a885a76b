import Testing

@testable import StitchServer

/// Without the order of their last use a new key would push out one that is in use.
@Suite struct UseOrderTests {
    @Test("The oldest key is the one that was not used for longest")
    func order() {
        var order = UseOrder<Int>()
        #expect(order.oldest() == nil)
        for key in [1, 2, 3, 1] { order.use(key) }
        #expect(order.count == 3)
        #expect(order.oldest() == 2 && order.oldest { $0 % 2 == 1 } == 3)
        order.remove(2)
        order.remove(2)
        #expect(order.oldest() == 3 && order.count == 2)
        order.use(3)
        order.use(2)
        #expect(order.oldest() == 1)
        for key in 1...3 { order.remove(key) }
        #expect(order.oldest() == nil && order.count == 0)
    }

    /// Uses beyond the keys are dropped from time to time; no key may be lost then.
    @Test("Many uses of few keys keep all keys, in their order")
    func manyUses() {
        var order = UseOrder<Int>()
        for number in 0..<10_000 { order.use(number % 7) }
        var keys: [Int] = []
        while let key = order.oldest() {
            keys.append(key)
            order.remove(key)
        }
        #expect(keys == (9_993..<10_000).map { $0 % 7 })
    }
}
