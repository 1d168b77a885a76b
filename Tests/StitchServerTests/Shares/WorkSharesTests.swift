import BSONStore
import SyncSimulation
import Testing

@testable import StitchServer

/// Without shares one user's slow work takes all threads, and the server is deaf for the others.
@Suite struct WorkSharesTests {
    private static func owner(_ name: String) -> [UInt8] { Array(name.utf8) }

    private static func shares(
        _ common: Int, operators: Int = 2, vital: Int = 2
    ) -> WorkShares<Int> {
        WorkShares(
            .init(threads: [.common: common, .operators: operators, .vital: vital]))
    }

    /// Begins all that may begin, and returns its owners and lanes.
    private static func begin(_ shares: inout WorkShares<Int>) -> [WorkShares<Int>.Begun] {
        var begun: [WorkShares<Int>.Begun] = []
        while let next = shares.next() { begun.append(next) }
        return begun
    }

    @Test("A user's 41st piece of work waits for the user's others, and for nobody else's")
    func flood() {
        var shares = Self.shares(32, operators: 4, vital: 8)
        for number in 0..<200 { shares.add(number, of: Self.owner("a"), .ordinary) }
        let first = Self.begin(&shares)
        #expect(first.map(\.work) == Array(0..<16))
        shares.add(1_000, of: Self.owner("b"), .ordinary)
        shares.add(1_001, of: Self.owner("x"), .vital)
        #expect(Set(Self.begin(&shares).map(\.work)) == [1_000, 1_001])
        shares.end(Self.owner("a"), .common)
        #expect(Self.begin(&shares).map(\.work) == [16])
    }

    @Test("Each of several floods leaves room for the next user")
    func floods() {
        var shares = Self.shares(32)
        var counts: [Int] = []
        for name in ["a", "b", "c", "d", "e", "f"] {
            for number in 0..<100 { shares.add(number, of: Self.owner(name), .ordinary) }
            counts.append(Self.begin(&shares).count)
        }
        #expect(counts == [16, 8, 4, 2, 1, 1])
    }

    @Test("An operator's work begins although users' work takes all threads")
    func operators() {
        var shares = Self.shares(2)
        for name in ["a", "b", "c"] { shares.add(0, of: Self.owner(name), .ordinary) }
        #expect(Self.begin(&shares).count == 2)
        for number in 1...3 { shares.add(number, of: Self.owner("root"), .ofOperator) }
        #expect(Self.begin(&shares).map(\.work) == [1])
        shares.add(9, of: Self.owner("root"), .vital)
        #expect(Self.begin(&shares).map(\.work) == [9])
    }

    @Test("Every kind of work may run in some lane, and only operators' in two")
    func lanes() {
        let table: [WorkRank: [WorkLane]] = [
            .ordinary: [.common], .ofOperator: [.common, .operators], .vital: [.vital],
        ]
        for rank in WorkRank.allCases { #expect(WorkShares<Int>.lanes(rank) == table[rank]) }
    }

    @Test("A lone owner takes half of any lane, a second one half of the rest", arguments: 1...64)
    func halves(threads: Int) {
        for rank in WorkRank.allCases where rank != .ofOperator {
            var shares = Self.shares(threads, operators: 0, vital: threads)
            for name in ["a", "b"] {
                for number in 0...threads { shares.add(number, of: Self.owner(name), rank) }
                _ = Self.begin(&shares)
                if name == "a" {
                    let lane: WorkLane = rank == .vital ? .vital : .common
                    let running = shares.runningCount(of: Self.owner("a"), lane)
                    #expect(running == (threads + 1) / 2)
                }
            }
        }
    }

    @Test("What waits has a limit for each owner")
    func limit() {
        var bounds = WorkShares<Int>.Bounds.usual(common: 4)
        bounds.waitingOfOneMax = 3
        var shares = WorkShares<Int>(bounds)
        for number in 0..<3 {
            #expect(shares.hasRoom(for: Self.owner("a")))
            shares.add(number, of: Self.owner("a"), .ordinary)
        }
        #expect(!shares.hasRoom(for: Self.owner("a")) && shares.hasRoom(for: Self.owner("b")))
        #expect(Self.begin(&shares).count == 2)
        #expect(shares.hasRoom(for: Self.owner("a")))
        #expect(shares.removeAll() == [2])
    }

    /// A world of random work; checks each law after each step.
    private struct World {
        var shares: WorkShares<Int>
        let threads: [WorkLane: Int]
        var random: SimulationRandom
        var running: [WorkShares<Int>.Begun] = []
        /// The ranks and owners of waiting work, in the order of arrival.
        var waiting: [(work: Int, owner: [UInt8], rank: WorkRank)] = []
        var number = 0
        /// The turns of others that an owner with eligible work has waited for.
        var passedOver: [[UInt8]: Int] = [:]

        mutating func step() {
            switch random.next() % 3 {
            case 0: add()
            case 1: add()
            default: if !running.isEmpty { end() }
            }
            beginAll()
            checkConserving()
        }

        mutating func add() {
            let owner = [UInt8(random.next() % 9)]
            let rank = WorkRank.allCases[Int(random.next() % 3)]
            number += 1
            shares.add(number, of: owner, rank)
            waiting.append((number, owner, rank))
        }

        mutating func end() {
            let ended = running.remove(at: Int(random.next() % UInt64(running.count)))
            shares.end(ended.owner, ended.lane)
        }

        mutating func beginAll() {
            while true {
                let before = shares
                guard let begun = shares.next() else { return }
                let index = waiting.firstIndex { $0.work == begun.work }
                guard let index else {
                    Issue.record("work begins that does not wait")
                    return
                }
                let (_, owner, rank) = waiting[index]
                #expect(owner == begun.owner)
                // The order in a share.
                #expect(
                    !waiting[..<index].contains { $0.owner == owner && $0.rank == rank },
                    "a user's earlier work waits on")
                // The share, and the reserve.
                #expect(WorkShares<Int>.lanes(rank).contains(begun.lane))
                #expect(before.mayBegin(owner, begun.lane))
                note(begun, rank, before)
                waiting.remove(at: index)
                running.append(begun)
                for lane in WorkLane.allCases {
                    #expect(running.count { $0.lane == lane } <= threads[lane] ?? 0)
                    #expect(
                        shares.freeCount(lane)
                            == (threads[lane] ?? 0) - running.count { $0.lane == lane })
                }
            }
        }

        /// No starvation: whoever may begin is passed over by each other owner at most once a turn.
        mutating func note(
            _ begun: WorkShares<Int>.Begun, _ rank: WorkRank, _ before: WorkShares<Int>
        ) {
            let eligible = Set(
                waiting.filter { $0.rank == rank && before.mayBegin($0.owner, begun.lane) }
                    .map(\.owner))
            for owner in eligible where owner != begun.owner {
                passedOver[owner, default: 0] += 1
                // Nine owners, and two kinds of work before it that share a lane.
                #expect(passedOver[owner] ?? 0 <= 40, "an owner starves")
            }
            passedOver[begun.owner] = 0
        }

        /// Work conserving: what waits is kept out by its own share or by a full lane only.
        func checkConserving() {
            for (_, owner, rank) in waiting {
                for lane in WorkShares<Int>.lanes(rank) {
                    #expect(!shares.mayBegin(owner, lane), "a thread is free, and work waits")
                    let isNew = shares.runningCount(of: owner, lane) == 0
                    #expect(!isNew || shares.freeCount(lane) == 0, "a new user waits")
                }
            }
        }
    }

    @Test("The laws hold in random worlds", arguments: UInt64(0)..<30)
    func worlds(seed: UInt64) {
        let threads: [WorkLane: Int] = [
            .common: Int(seed % 7) + 1, .operators: Int(seed % 3), .vital: Int(seed % 4) + 1,
        ]
        var world = World(
            shares: WorkShares(.init(threads: threads)), threads: threads,
            random: SimulationRandom(seed: seed))
        for _ in 0..<400 { world.step() }
        // In the end nothing is left.
        while !world.running.isEmpty {
            world.end()
            world.beginAll()
        }
        #expect(world.waiting.isEmpty || threads[.common] == 0)
        #expect(world.shares.waitingCount == 0)
    }
}
