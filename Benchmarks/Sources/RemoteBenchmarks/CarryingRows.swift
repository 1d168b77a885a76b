import BSONStore
import Foundation
import StitchSync

/// Carries many documents up from one device and down to another.
struct CarryingRows {
    let settings: RemoteSettings
    let latencyMS: Int

    func run() async throws {
        let namespace = settings.namespace()
        let first = try await RemoteDevice(settings, namespace, latencyMS: latencyMS)
        for start in stride(from: 0, to: settings.count, by: 1_000) {
            let end = min(start + 1_000, settings.count)
            try await first.items.insertMany((start..<end).map(settings.document))
        }
        try await measure("up") { try await first.engine.syncUntilQuiet().report }
        let second = try await RemoteDevice(settings, namespace, latencyMS: latencyMS)
        let ids = (0..<settings.count).map { BSONValue.int32(Int32($0)) }
        try await measure("down") {
            try await second.items.sync(ids: ids)
            return try await second.engine.syncUntilQuiet().report
        }
        try await first.items.updateMany([:], ["$set": ["n": 1]])
        try await measure("changes up") { try await first.engine.syncUntilQuiet().report }
        try await measure("changes down") { try await second.engine.syncUntilQuiet().report }
        let settled = SyncStatus(synced: settings.count)
        guard try await first.items.status() == settled, try await second.items.status() == settled
        else { throw NotInStep() }
    }

    struct NotInStep: Error {}

    private func measure(
        _ name: String, _ body: () async throws -> SyncPassReport
    ) async throws {
        let start = ContinuousClock.now
        let report = try await body()
        let time = ContinuousClock.now - start
        var usage = rusage()
        #if canImport(Glibc)
            getrusage(RUSAGE_SELF.rawValue, &usage)
        #else
            getrusage(RUSAGE_SELF, &usage)
        #endif
        print(
            String(
                format: "%-14@ %3d ms later  %8.0f documents/s  %5.1f requests per 1,000  %5d MiB",
                name as NSString, latencyMS, Double(settings.count) / (time / .seconds(1)),
                Double(report.requests) * 1_000 / Double(settings.count), usage.ru_maxrss / 1_024))
    }
}
