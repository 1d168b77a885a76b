import BSONStore
import BenchmarkUsage
import Foundation
import StitchRemote
import StitchSync

/// One round of all rows, with a new collection and new devices.
struct WireRound {
    private let settings: WireSettings
    private let report: WireReport
    private let namespace = Namespace("bench", "items_\(UInt32.random(in: 0...UInt32.max))")

    struct NotInStep: Error { let statuses: [SyncStatus] }

    init(_ settings: WireSettings, _ report: WireReport) {
        self.settings = settings
        self.report = report
    }

    func run() async throws {
        let (first, second) = (try await device("a"), try await device("b"))
        let documents = (0..<settings.count).map(settings.document)
        try await first.items.insertMany(documents)
        try await measure("upload", settings.count) {
            try await first.engine.syncUntilQuiet().report.requests
        }
        try await measure("download", settings.count) {
            try await second.items.sync(ids: documents.compactMap { $0["_id"] })
            return try await second.engine.syncUntilQuiet().report.requests
        }
        try await first.items.updateMany([:], ["$set": ["n": 1]])
        try await measure("changed up", settings.count) {
            try await first.engine.syncUntilQuiet().report.requests
        }
        try await measure("changed down", settings.count) {
            try await second.engine.syncUntilQuiet().report.requests
        }
        if wants("merge") {
            try await first.items.updateMany([:], ["$set": ["n": 2]])
            try await second.items.updateMany([:], ["$set": ["n": 3]])
            try await measure("merge", settings.count * 2) {
                try await first.engine.syncUntilQuiet().report.requests
                    + second.engine.syncUntilQuiet().report.requests
                    + first.engine.syncUntilQuiet().report.requests
            }
        }
        if wants("subscribed") { try await subscribe(documents) }
        if wants("file") { try await carryFile(documents[0]["_id"] ?? .null, first, second) }
        let settled = SyncStatus(synced: settings.count)
        let statuses = [try await first.items.status(), try await second.items.status()]
        guard statuses.allSatisfy({ $0 == settled }) else { throw NotInStep(statuses: statuses) }
        try await live(documents[0]["_id"] ?? .null, first, second)
    }

    /// Measures the first download of a subscription to all documents, and of a set of subscriptions to
    /// one document each.
    private func subscribe(_ documents: [BSONDocument]) async throws {
        let whole = try await device("c")
        try await measure("subscribed", documents.count) {
            try await whole.items.subscribe(named: "all", waitForSync: .never)
            return try await whole.engine.syncUntilQuiet().report.requests
        }
        let some = documents.prefix(Self.subscriptionsMax)
        let single = try await device("d")
        try await measure("subscriptions", some.count) {
            try await single.engine.subscriptions.update { set in
                for (index, document) in some.enumerated() {
                    let query = try SubscriptionQuery(
                        single.items.find(["_id": document["_id"] ?? .null]))
                    set.insertOrAssign(query, named: "\(index)")
                }
            }
            return try await single.engine.syncUntilQuiet().report.requests
        }
        let statuses = [try await whole.items.status(), try await single.items.status()]
        guard statuses.map(\.synced) == [documents.count, some.count] else {
            throw NotInStep(statuses: statuses)
        }
    }

    /// Measures a file beside a document from device to device, by the megabyte, and beside it what a
    /// plain file on the same disk costs.
    private func carryFile(
        _ id: BSONValue, _ first: WireDevice, _ second: WireDevice
    ) async throws {
        let megabyte = 1_000_000
        let file = URL(filePath: "\(settings.folder)/\(namespace.collection).bin")
        try await measure("file written", settings.fileMB) {
            try Data().write(to: file)
            let handle = try FileHandle(forWritingTo: file)
            var state = UInt64.random(in: 0 ... .max)
            for _ in 0..<settings.fileMB {
                var bytes = Data(capacity: megabyte)
                for _ in 0..<megabyte / 8 {
                    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                    withUnsafeBytes(of: state) { bytes.append(contentsOf: $0) }
                }
                try handle.write(contentsOf: bytes)
            }
            try handle.synchronize()
            try handle.close()
            return 0
        }
        var reference: Attachment?
        try await measure("file attached", settings.fileMB) {
            reference = try await first.items.attach(contentsOf: file, to: id, at: "file")
            return 0
        }
        guard let reference else { return }
        try await first.engine.syncUntilQuiet()
        try await second.engine.syncUntilQuiet()
        try await measure("file up", settings.fileMB) {
            try await first.engine.attachments.transfer().sent
        }
        try await measure("file down", settings.fileMB) {
            try await second.items.file(reference, of: id).download()
            return 0
        }
    }

    /// The largest number of subscriptions to one document each.
    private static let subscriptionsMax = 2_000

    private func wants(_ row: String) -> Bool {
        settings.rows.contains(row)
    }

    /// A device with a file and a remote of its own.
    private func device(_ name: String) async throws -> WireDevice {
        try await WireDevice(
            path: "\(settings.folder)/\(namespace.collection)-\(name).stitch", uri: settings.uri,
            namespace)
    }

    private func measure(
        _ name: String, _ count: Int, _ body: () async throws -> Int
    ) async throws {
        let (own, server) = (ProcessUsage().time, ProcessUsage.time(of: settings.server))
        let start = ContinuousClock.now
        let requests = try await body()
        let time = ContinuousClock.now - start
        report.add(
            name,
            WireReport.Measure(
                time: time, deviceTime: ProcessUsage().time - own,
                serverTime: ProcessUsage.time(of: settings.server) - server, count: count,
                requests: requests))
    }

    /// Measures single changes while both devices run: one at a time from write to event, and as many
    /// as possible one after the other.
    private func live(_ id: BSONValue, _ first: WireDevice, _ second: WireDevice) async throws {
        guard wants("stream") || wants("one") else { return }
        let (arrivals, arrive) = AsyncStream.makeStream(of: Int64.self)
        let registration = second.items.addChangeEventListener { event in
            if event.reason == .remote, let n = event.fullDocument?["n"]?.int64Value {
                arrive.yield(n)
            }
        }
        defer { registration.remove() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await first.engine.run() }
            group.addTask { try await second.engine.run() }
            defer { group.cancelAll() }
            var iterator = arrivals.makeAsyncIterator()
            func change(_ n: Int64) async throws {
                try await first.items.updateOne(["_id": id], ["$set": ["n": .int64(n)]])
            }
            if wants("one") {
                var times: [Double] = []
                for n in 1_000..<Int64(1_000 + settings.changes) {
                    let start = ContinuousClock.now
                    try await change(n)
                    while let arrived = await iterator.next(), arrived != n {}
                    times.append((ContinuousClock.now - start) / .milliseconds(1))
                }
                report.add(latencies: Array(times.dropFirst(times.count / 10)))
            }
            if wants("stream") {
                let last = Int64(100_000 + settings.changes)
                try await measure("single writes", settings.changes) {
                    for n in 100_001...last { try await change(n) }
                    while let arrived = await iterator.next(), arrived != last {}
                    return 0
                }
            }
        }
    }
}

/// A device of the benchmark.
struct WireDevice {
    let engine: SyncEngine
    let items: SyncCollection<BSONDocument>

    init(path: String, uri: String, _ namespace: Namespace) async throws {
        engine = try SyncEngine(
            store: try DocumentStore(at: .file(path)), remote: try ServerRemote(uri))
        items = engine.collection(namespace)
        await items.configure(conflictHandler: .remoteWins)
    }
}
