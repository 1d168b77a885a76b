import BSONStore
import BenchmarkRemotes
import Foundation
import StitchSync

/// Two stores on disk, one in the part of the remote, and passes between them.
struct SyncWorkloads {
    static let namespace = Namespace("bench", "items")
    let settings: SyncSettings

    init(_ settings: SyncSettings) { self.settings = settings }

    func run() async throws {
        try await initial()
        try await changed(conflicts: false)
        try await changed(conflicts: true)
        try await push()
    }

    private func isWanted(_ name: String) -> Bool {
        settings.only.isEmpty || name.contains(settings.only)
    }

    /// Everything is new here; then the same engine with nothing to do, and a new one.
    private func initial() async throws {
        guard isWanted("initial") || isWanted("idle") || isWanted("reconnect") else { return }
        try await Bench.run(settings) { bench in
            try bench.fillRemote()
            try await bench.measure("R2L_initial") {
                try await bench.items.sync(ids: bench.ids)
                return try await bench.engine.syncNow()
            }
            for name in ["idle_pass", "idle_again"] {
                try await bench.measure(name, perDocument: false) {
                    try await bench.engine.syncNow()
                }
            }
            try await bench.engine.release()
            let second = try SyncEngine(store: bench.local, remote: bench.slow)
            try await bench.measure("reconnect", perDocument: false) {
                try await second.syncNow()
            }
            try await second.forceScan(Self.namespace)
            try await bench.measure("scan") { try await second.syncNow() }
        }
    }

    /// Every document changed at the remote, and here too when they conflict.
    private func changed(conflicts: Bool) async throws {
        let name = conflicts ? "R2L_conflict" : "R2L_changed"
        guard isWanted(name) else { return }
        try await Bench.run(settings) { bench in
            try bench.fillRemote()
            await bench.items.configure(conflictHandler: .remoteWins)
            try await bench.items.sync(ids: bench.ids)
            try await bench.engine.syncNow()
            for round in ["grows", "same"] {
                try bench.changeRemote(round == "grows" ? "r1" : "r2")
                if conflicts {
                    try await bench.items.updateMany([:], ["$set": ["newField": "mine!"]])
                }
                try await bench.measure("\(name)_\(round)") { try await bench.engine.syncNow() }
                try await bench.engine.syncUntilQuiet()
            }
        }
    }

    /// Everything is new here and travels up; then a small change of everything.
    private func push() async throws {
        guard isWanted("L2R") else { return }
        try await Bench.run(settings) { bench in
            try await bench.items.insertMany(bench.documents())
            try await bench.measure("L2R_insert") { try await bench.engine.syncNow() }
            try await bench.engine.syncUntilQuiet()
            for (round, value) in [("grows", "mine!"), ("same", "yours")] as [(String, BSONValue)] {
                try await bench.items.updateMany([:], ["$set": ["newField": value]])
                try await bench.measure("L2R_update_\(round)") { try await bench.engine.syncNow() }
                try await bench.engine.syncUntilQuiet()
            }
        }
    }
}

/// One remote and one device.
struct Bench {
    let settings: SyncSettings
    let remote: DocumentStore
    let local: DocumentStore
    let slow: SlowRemote
    let engine: SyncEngine
    let items: SyncCollection<BSONDocument>
    let ids: [BSONValue]

    init(_ directory: String, _ settings: SyncSettings) throws {
        self.settings = settings
        remote = try DocumentStore(
            at: .file(directory + "/remote.db"),
            options: .init(
                durability: .normal, changeHistory: .keep(changesMax: 4 * settings.count)))
        local = try DocumentStore(
            at: .file(directory + "/local.db"), options: .init(durability: .normal))
        slow = SlowRemote(
            base: InProcessRemote(store: remote), delay: .milliseconds(settings.latencyMS))
        engine = try SyncEngine(store: local, remote: slow)
        items = engine.collection(SyncWorkloads.namespace)
        ids = try (0..<settings.count).map { number in
            let hex = String(number, radix: 16)
            return .objectID(
                try BSONObjectID(String(repeating: "0", count: 24 - hex.count) + hex))
        }
    }

    /// Lends a bench with files of its own, which are gone afterwards.
    static func run(
        _ settings: SyncSettings, _ body: (Bench) async throws -> Void
    ) async throws {
        let directory = FileManager.default.temporaryDirectory
            .appending(path: "sync-bench-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true)
        defer { unlinkAll(directory) }
        let bench = try Bench(directory, settings)
        // A task may hold an engine a little longer; its files go once they are closed.
        defer {
            bench.local.close()
            bench.remote.close()
        }
        try await body(bench)
    }

    private static func unlinkAll(_ directory: String) {
        do {
            try FileManager.default.removeItem(atPath: directory)
        } catch {
            print("# cannot remove \(directory): \(error)")
        }
    }

    /// The ancestor's document: fields of 7 letters with 50 letters each, 64 bytes a field.
    func documents() -> [BSONDocument] {
        var random = SystemRandomNumberGenerator()
        func letters(_ count: Int) -> String {
            String(
                decoding: (0..<count).map { _ in UInt8.random(in: 97...122, using: &random) },
                as: UTF8.self)
        }
        let fields = (0..<settings.size / 64).map { _ in
            (letters(7), BSONValue.string(letters(50)))
        }
        return ids.map { BSONDocument([("_id", $0)] + fields) }
    }

    func fillRemote() throws { try fillRemote(documents()) }

    /// Puts documents into the remote, each with a version.
    func fillRemote(_ documents: [BSONDocument]) throws {
        let remote = items.namespace
        let documents = documents.map { document in
            var document = document
            document.append(
                "__stitch_sync_version",
                ["spv": 1, "id": "0f0e0d0c-0b0a-0908-0706-050403020100", "v": .int64(0)])
            return document
        }
        try self.remote.write { transaction in
            for document in documents { try transaction.insert(remote, document) }
        }
    }

    /// Changes all documents of the remote, or some.
    func changeRemote(_ value: String, _ ids: ArraySlice<BSONValue>? = nil) throws {
        let update = try Update([
            "$set": ["newField": .string(value)], "$inc": ["__stitch_sync_version.v": 1],
        ])
        let filter = try ids.map { try Filter(["_id": ["$in": .array(BSONArray($0))]]) } ?? .all
        _ = try remote.write { transaction in
            try transaction.updateMany(
                items.namespace, filter: filter, update: update, keepImages: false)
        }
    }

    /// Changes some documents here.
    func changeLocal(_ value: String, _ ids: ArraySlice<BSONValue>) async throws {
        try await items.updateMany(
            ["_id": ["$in": .array(BSONArray(ids))]], ["$set": ["newField": .string(value)]])
    }

    func measure(
        _ name: String, perDocument: Bool = true, _ body: () async throws -> SyncPassReport
    ) async throws {
        // As the baseline does before it measures: what was written to prepare is in the files.
        try remote.checkpoint()
        try local.checkpoint()
        // A checkpoint has those who read drop what they cached, with their next read: 2 ms for 60 MiB.
        _ = (try remote.changePosition, try local.changePosition)
        let (wall, cpu, start) = (ContinuousClock.now, Bench.cpuNS(), Bench.seconds())
        let report = try await body()
        let span = String(format: "%.6f,%.6f", start, Bench.seconds())
        let share = Double(perDocument ? settings.count : 1)
        let wallNS = (ContinuousClock.now - wall) / .nanoseconds(1)
        print(
            name, String(format: "%.1f", wallNS / share),
            String(format: "%.1f", Double(Bench.cpuNS() - cpu) / share), report.requests)
        print("# \(name) ran at \(span)")
    }

    /// The clock of `perf record -k CLOCK_MONOTONIC`, whose report takes a span as `--time`.
    private static func seconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    private static func cpuNS() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
