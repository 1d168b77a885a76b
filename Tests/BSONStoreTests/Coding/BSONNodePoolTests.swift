import Testing

@testable import BSONCore
@testable import BSONStore

/// Nodes serve again for the values of their type, wherever in memory the types happen to lie.
struct BSONNodePoolTests {
    private final class Node: BSONReusableNode {
        let number: Int
        var nextIdle: Unmanaged<Node>?

        init(_ number: Int) { self.number = number }
    }

    private struct Nested<Inner> {}

    private typealias Pool = BSONNodePool<Node>

    /// Types that the pool keeps in the same place unless it minds.
    private static func colliding(_ count: Int) throws -> [any Any.Type] {
        func nest<Inner>(_ inner: Inner.Type) -> any Any.Type { Nested<Inner>.self }
        var types: [Int: [any Any.Type]] = [:]
        var type: any Any.Type = Int.self
        for _ in 0..<2_000 {
            type = _openExistential(type, do: nest)
            types[Pool.index(ObjectIdentifier(type)), default: []].append(type)
        }
        return Array(try #require(types.values.first { $0.count >= count }).prefix(count))
    }

    @Test("types whose places are the same keep a node each")
    func collision() throws {
        let types = try Self.colliding(6)
        var pool = Pool()
        for _ in 0..<3 {
            for (number, type) in types.enumerated() { pool.put(Node(number), type) }
            for (number, type) in types.enumerated() {
                let (node, other) = (pool.take(type), pool.take(type))
                #expect(node?.number == number && other == nil)
            }
        }
    }

    @Test("a node that serves while one of another type is put away comes back to its place")
    func nested() throws {
        let types = try Self.colliding(2)
        var pool = Pool()
        pool.put(Node(0), types[0])
        for _ in 0..<3 {
            let taken = pool.take(types[0])
            let outer = try #require(taken)
            let inner = pool.take(types[1]) ?? Node(1)
            pool.put(inner, types[1])
            pool.put(outer, types[0])
        }
        let numbers = [pool.take(types[0])?.number, pool.take(types[1])?.number]
        #expect(numbers == [0, 1])
    }

    @Test("more types than there are places near by are served, some with a new node each time")
    func crowd() throws {
        let types = try Self.colliding(12)
        var pool = Pool()
        for (number, type) in types.enumerated() { pool.put(Node(number), type) }
        var found: [Int?] = []
        for type in types { found.append(pool.take(type)?.number) }
        #expect(found == Array(0..<8) + [nil, nil, nil, nil])
        // Their places are for others by now.
        pool.put(Node(12), types[11])
        let last = pool.take(types[11])?.number
        #expect(last == 12)
    }
}
