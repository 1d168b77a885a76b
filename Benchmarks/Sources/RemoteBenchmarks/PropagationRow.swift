import BSONStore
import Foundation
import StitchSync

/// Measures how long a change takes from a write here until it is told of there.
struct PropagationRow {
    let settings: RemoteSettings

    func run() async throws {
        let namespace = settings.namespace()
        let (first, second) = (
            try await RemoteDevice(settings, namespace), try await RemoteDevice(settings, namespace)
        )
        try await first.items.insertOne(["_id": "k", "n": -1])
        try await first.engine.syncUntilQuiet()
        try await second.items.sync(ids: ["k"])
        try await second.engine.syncUntilQuiet()
        let (arrivals, arrive) = AsyncStream.makeStream(of: Int64.self)
        let registration = second.items.addChangeEventListener { event in
            if event.reason == .remote, let n = event.fullDocument?["n"]?.int64Value {
                arrive.yield(n)
            }
        }
        defer { registration.remove() }
        let times = try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await first.engine.run() }
            group.addTask { try await second.engine.run() }
            defer { group.cancelAll() }
            return try await measure(first, arrivals)
        }
        print(
            String(
                format: "one change      median %6.2f ms  p99 %6.2f ms  of %d",
                times[times.count / 2], times[times.count * 99 / 100], times.count))
    }

    /// The milliseconds of each change, the shortest first.
    private func measure(
        _ first: RemoteDevice, _ arrivals: AsyncStream<Int64>
    ) async throws -> [Double] {
        var iterator = arrivals.makeAsyncIterator()
        var times: [Double] = []
        for n in 0..<Int64(settings.changes) {
            let start = ContinuousClock.now
            try await first.items.updateOne(["_id": "k"], ["$set": ["n": .int64(n)]])
            while let arrived = await iterator.next(), arrived != n {}
            times.append((ContinuousClock.now - start) / .milliseconds(1))
        }
        return times.sorted()
    }
}
