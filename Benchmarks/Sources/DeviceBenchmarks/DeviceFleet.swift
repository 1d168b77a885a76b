import BSONStore
import BenchmarkUsage
import Foundation
import StitchRemote
import StitchSync

/// Devices in one process that are in step and wait for changes.
struct DeviceFleet {
    private let settings: DeviceSettings
    private let folder: URL
    /// The devices that received a change, each with the change's number.
    private let arrivals = AsyncStream.makeStream(of: Int64.self)

    init(_ settings: DeviceSettings) throws {
        self.settings = settings
        folder = FileManager.default.temporaryDirectory.appending(path: "devices-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    func run() async throws {
        defer {
            do { try FileManager.default.removeItem(at: folder) } catch { print(error) }
        }
        let first = try await device(0)
        try await items(of: first).insertOne(["_id": "k", "n": -1])
        try await first.waitForUpload()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await first.run() }
            try await items(of: first).subscribe(named: "all")
            let one = try await measureIdle("1 device", seconds: min(settings.idle, 8))
            for number in 1..<settings.devices {
                let engine = try await device(number)
                group.addTask { try await engine.run() }
                try await items(of: engine).subscribe(named: "all")
            }
            let all = try await measureIdle(
                "\(settings.devices) devices", seconds: settings.idle)
            print(
                String(
                    format: "a device more   %6.2f MiB, %.2f threads",
                    (all.memoryMiB - one.memoryMiB) / Double(settings.devices - 1),
                    Double(all.threads - one.threads) / Double(settings.devices - 1)))
            try await measureChanges(of: first)
            group.cancelAll()
        }
    }

    private func device(_ number: Int) async throws -> SyncEngine {
        let path = folder.appending(path: "\(number).stitch").path
        let engine = try SyncEngine(
            store: try DocumentStore(at: settings.hasFiles ? .file(path) : .inMemory),
            remote: try ServerRemote(settings.uri))
        let arrived = arrivals.continuation
        await items(of: engine).configure(
            conflictHandler: .remoteWins,
            changeEventListener: { event in
                if event.reason == .remote, let n = event.fullDocument?["n"]?.int64Value {
                    arrived.yield(n)
                }
            })
        return engine
    }

    private func items(of engine: SyncEngine) -> SyncCollection<BSONDocument> {
        engine.collection(settings.namespace)
    }

    /// Prints what the process needs while nothing happens; returns its usage in the end.
    private func measureIdle(_ name: String, seconds: Int) async throws -> ProcessUsage {
        // Until what the beginning left, such as threads that end when idle, is gone.
        try await ContinuousClock().sleep(for: .seconds(8))
        let before = ProcessUsage()
        try await ContinuousClock().sleep(for: .seconds(seconds))
        let after = ProcessUsage()
        print(
            String(
                format: "%-14@  %3d threads  %6.1f MiB  idle: %.2f %% of a core, %.0f waits/s",
                name as NSString, after.threads, after.memoryMiB,
                (after.time - before.time) / .seconds(seconds) * 100,
                Double(after.waits - before.waits) / Double(seconds)))
        return after
    }

    /// Prints how long a change takes until all other devices have it.
    private func measureChanges(of first: SyncEngine) async throws {
        var iterator = arrivals.stream.makeAsyncIterator()
        var times: [Double] = []
        for n in 0..<Int64(settings.changes) {
            let start = ContinuousClock.now
            try await items(of: first).updateOne(["_id": "k"], ["$set": ["n": .int64(n)]])
            var missing = settings.devices - 1
            while missing > 0, let arrived = await iterator.next() {
                if arrived == n { missing -= 1 }
            }
            times.append((ContinuousClock.now - start) / .milliseconds(1))
        }
        times.sort()
        print(
            String(
                format: "to %d others    median %.1f ms  p99 %.1f ms  of %d changes",
                settings.devices - 1, times[times.count / 2], times[times.count * 99 / 100],
                times.count))
    }
}
