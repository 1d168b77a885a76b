import Testing

@testable import BSONCore

/// Without turns, who sends much makes everybody else wait for all of it.
@Suite struct FairQueueTests {
    /// A queue that is right by its form: a list, searched for whose turn came longest ago.
    private struct Model {
        var waiting: [(owner: Int, element: Int)] = []
        var turn: [Int: Int] = [:]
        var clock = 0

        mutating func append(_ element: Int, of owner: Int) {
            if !waiting.contains(where: { $0.owner == owner }) { take(owner) }
            waiting.append((owner, element))
        }

        mutating func take(_ owner: Int) {
            clock += 1
            turn[owner] = clock
        }

        mutating func popFirst(where isEligible: (Int) -> Bool) -> (Int, Int)? {
            let owners = Set(waiting.map(\.owner)).filter(isEligible)
            guard let owner = owners.min(by: { turn[$0] ?? 0 < turn[$1] ?? 0 }),
                let index = waiting.firstIndex(where: { $0.owner == owner })
            else { return nil }
            take(owner)
            return waiting.remove(at: index)
        }
    }

    @Test(arguments: UInt64(0)..<20)
    func `random worlds answer as the plain model does`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var (queue, model) = (FairQueue<Int, Int>(), Model())
        for number in 0..<2_000 {
            if random.next() % 5 < 3 {
                let owner = Int(random.next() % 7)
                queue.append(number, of: owner)
                model.append(number, of: owner)
            } else {
                let barred = Int(random.next() % 7)
                let shown = queue.first { $0 != barred }
                let found = queue.popFirst { $0 != barred }
                let wanted = model.popFirst { $0 != barred }
                #expect(found?.0 == wanted?.0 && found?.1 == wanted?.1)
                #expect(shown?.element == found?.1)
            }
            #expect(queue.count == model.waiting.count)
            for owner in 0..<7 {
                #expect(queue.count(of: owner) == model.waiting.count { $0.owner == owner })
            }
        }
    }

    @Test func `an owner's first element waits for one of each other owner`() {
        var queue = FairQueue<String, Int>()
        for number in 0..<1_000 { queue.append(number, of: "a") }
        queue.append(0, of: "b")
        queue.append(0, of: "c")
        #expect((0..<4).compactMap { _ in queue.popFirst()?.0 } == ["a", "b", "c", "a"])
        #expect(queue.count == 998)
    }
}
