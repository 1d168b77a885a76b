internal import BSONStore

/// The decision which work begins on the threads of a pool.
///
/// An owner, which is a user or an address, may begin further work of a lane while it has fewer
/// running there than threads are free. So one owner takes at most half of them, and the next ones
/// half of the rest. What an owner may not begin waits for other work of the same owner. The owners
/// whose work waits for a free thread take turns.
struct WorkShares<Work: Sendable>: Sendable {
    /// The sizes of a pool.
    struct Bounds: Sendable, Hashable {
        /// The number of threads in each lane.
        var threads: [WorkLane: Int]
        /// The maximum amount of waiting work of one owner.
        var waitingOfOneMax = 1_000

        /// The number of all threads.
        var threadsMax: Int { threads.values.reduce(0, +) }

        /// Returns the sizes of a pool with some threads for users, and a reserve beside them.
        static func usual(common: Int) -> Bounds {
            Bounds(threads: [
                .common: common, .operators: max(2, common / 8), .vital: max(4, common / 4),
            ])
        }
    }

    /// Work that begins.
    struct Begun: Sendable {
        let work: Work
        let owner: [UInt8]
        let lane: WorkLane
    }

    private let bounds: Bounds
    private var queues: [WorkRank: FairQueue<[UInt8], Work>] = [:]
    private var running: [WorkLane: [[UInt8]: Int]] = [:]
    private var used: [WorkLane: Int] = [:]
    /// The clock of the turns, which owners of all kinds of work take together.
    private var clock: UInt64 = 0

    init(_ bounds: Bounds) { self.bounds = bounds }

    /// The lanes in which a kind of work may run, the first choice first.
    static func lanes(_ rank: WorkRank) -> [WorkLane] {
        switch rank {
        case .ordinary: [.common]
        case .ofOperator: [.common, .operators]
        case .vital: [.vital]
        }
    }

    /// The amount of waiting work.
    var waitingCount: Int { queues.values.reduce(0) { $0 + $1.count } }

    /// Returns the amount of an owner's waiting work.
    func waitingCount(of owner: [UInt8]) -> Int {
        queues.values.reduce(0) { $0 + $1.count(of: owner) }
    }

    /// Returns the amount of an owner's running work in a lane.
    func runningCount(of owner: [UInt8], _ lane: WorkLane) -> Int {
        running[lane]?[owner] ?? 0
    }

    /// Returns the number of a lane's threads without work.
    func freeCount(_ lane: WorkLane) -> Int {
        bounds.threads[lane, default: 0] - used[lane, default: 0]
    }

    /// Whether an owner may begin further work in a lane.
    func mayBegin(_ owner: [UInt8], _ lane: WorkLane) -> Bool {
        runningCount(of: owner, lane) < freeCount(lane)
    }

    /// Whether an owner has room for one more piece of waiting work.
    func hasRoom(for owner: [UInt8]) -> Bool {
        waitingCount(of: owner) < bounds.waitingOfOneMax
    }

    /// Adds work behind that of the same owner.
    mutating func add(_ work: Work, of owner: [UInt8], _ rank: WorkRank) {
        inTurn(rank) { $0.append(work, of: owner) }
    }

    private mutating func inTurn<R>(
        _ rank: WorkRank, _ body: (inout FairQueue<[UInt8], Work>) -> R
    ) -> R {
        var queue = queues.removeValue(forKey: rank) ?? FairQueue()
        queue.clock = clock
        let result = body(&queue)
        clock = queue.clock
        queues[rank] = queue
        return result
    }

    /// Takes the next work that may begin; `nil` when none may.
    mutating func next() -> Begun? {
        for lane in WorkLane.allCases where freeCount(lane) > 0 {
            guard let rank = nextRank(in: lane) else { continue }
            // Not `self`: a copy of the queues would make each change of one copy it whole.
            let (owners, free) = (running[lane] ?? [:], freeCount(lane))
            let found = inTurn(rank) { $0.popFirst { owners[$0, default: 0] < free } }
            guard let (owner, work) = found else { continue }
            running[lane, default: [:]][owner, default: 0] += 1
            used[lane, default: 0] += 1
            return Begun(work: work, owner: owner, lane: lane)
        }
        return nil
    }

    /// Returns the kind of work that is next in a lane: that of the owner who has waited longest for
    /// a turn.
    private func nextRank(in lane: WorkLane) -> WorkRank? {
        let next = WorkRank.allCases.compactMap { rank -> (rank: WorkRank, since: UInt64)? in
            guard Self.lanes(rank).contains(lane),
                let first = queues[rank]?.first(where: { mayBegin($0, lane) })
            else { return nil }
            return (rank, first.waitsSince)
        }
        return next.min { $0.since < $1.since }?.rank
    }

    /// Notes the end of work that began.
    mutating func end(_ owner: [UInt8], _ lane: WorkLane) {
        used[lane, default: 0] -= 1
        let left = runningCount(of: owner, lane) - 1
        running[lane]?[owner] = left > 0 ? left : nil
    }

    /// Removes all waiting work.
    mutating func removeAll() -> [Work] {
        var all: [Work] = []
        for rank in WorkRank.allCases {
            while let (_, work) = queues[rank]?.popFirst() { all.append(work) }
        }
        return all
    }
}
