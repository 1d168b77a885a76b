import BSONStore
import StitchSync

/// The sync of one collection with a remote for the duration of a command.
struct SyncSession: Sendable {
    /// The local collection.
    let collection: SyncCollection<BSONDocument>
    /// The remote.
    let remote: SessionRemote
    private let meter = Locked<ProgressMeter?>(nil)
    private let errors = Locked<[String]>([])

    /// The page cache of each connection; a command visits each document once or twice.
    static let cacheKiB = 8_192

    /// The maximum number of passes in a row, for a remote that changes all the time.
    private static let passesMax = 100

    init(
        store: DocumentStore, remote name: String, namespace: Namespace,
        conflictHandler: ConflictHandler<BSONDocument>
    ) async throws {
        remote = try SessionRemote(name)
        let engine = try SyncEngine(
            store: store, remote: MeteredRemote(base: remote.remote, meter: meter))
        collection = engine.collection(namespace)
        let errors = errors
        await collection.configure(
            conflictHandler: conflictHandler,
            errorListener: { error, id in
                let place = id.map { "\($0.extendedJSON(.relaxed)): " } ?? ""
                let reasons = error.compensatingWrites.map(\.reason)
                let text = reasons.isEmpty ? error.message : reasons.joined(separator: "; ")
                errors.withLock { $0.append("\(place)\(text)") }
            })
    }

    private var engine: SyncEngine { collection.engine }

    /// Sets whether the network is available.
    func setOnline(_ isOnline: Bool) { engine.setOnline(isOnline) }

    /// Syncs every local and remote document that matches a filter.
    ///
    /// - Returns: the number of documents that were not synced before.
    func adopt(matching filter: BSONDocument = [:]) async throws -> Int {
        let namespace = collection.namespace
        let here = try SessionRemote.ids(matching: filter, in: namespace, of: engine.store)
        return try await adopt(here + remote.ids(matching: filter, in: namespace))
    }

    /// Syncs documents.
    ///
    /// - Returns: the number of documents that were not synced before.
    func adopt(_ ids: [BSONValue]) async throws -> Int {
        let known = try await collection.status().synced
        try await collection.sync(ids: ids)
        return try await collection.status().synced - known
    }

    /// Syncs both sides until a signal arrives.
    func watch(until stops: AsyncStream<Int32>) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await engine.run() }
            group.addTask { for await _ in stops { break } }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    /// Runs passes under a progress bar until both sides have no changes left.
    func run(
        label: String, on descriptor: Descriptor, report: ProgressMeter.Report? = nil
    ) async throws -> SyncOutcome {
        let before = try await collection.status()
        let meter = ProgressMeter(
            ProgressBar(
                label, unit: "documents", total: max(before.pending, before.toLook),
                on: descriptor), report: report)
        self.meter.withLock { $0 = meter }
        defer { self.meter.withLock { $0 = nil } }
        let (counts, passes) = try await engine.syncUntilQuiet(passesMax: Self.passesMax)
        try await meter.finish()
        await engine.flushEvents()
        return SyncOutcome(
            report: counts, passes: passes, after: try await collection.status(),
            errors: errors.withLock { errors in
                defer { errors = [] }
                return errors
            })
    }

    /// Closes both sides.
    func close() async {
        engine.store.close()
        await remote.close()
    }
}

/// The result of a run of passes.
struct SyncOutcome: Sendable {
    /// The summed report of all passes.
    let report: SyncPassReport
    /// The number of passes.
    let passes: Int
    /// The counts of documents by state, afterwards.
    let after: SyncStatus
    /// The messages to the error listener, with the documents' ids.
    let errors: [String]

    /// Returns the outcome as one JSON object.
    func document(adopted: Int) -> BSONDocument {
        func count(_ number: Int) -> BSONValue { .int64(Int64(number)) }
        return [
            "inStep": .bool(isInStep), "synced": count(after.synced), "new": count(adopted),
            "sent": count(report.uploaded), "taken": count(report.taken),
            "removed": count(report.removed), "conflicts": count(report.conflicts),
            "passes": count(passes), "pending": count(after.pending),
            "paused": count(after.paused), "rejected": count(after.rejected),
            "missing": count(after.unexplained),
            "stop": after.stop.map { .string("\($0)") } ?? .null,
            "errors": .array(BSONArray(errors.map(BSONValue.string))),
        ]
    }

    /// Whether nothing is left to do.
    var isInStep: Bool {
        after.pending == 0 && after.paused == 0 && after.toLook == 0 && after.unexplained == 0
            && after.stop == nil && errors.isEmpty
    }

    /// The remaining work in one line.
    var whyNotInStep: String {
        let missing = after.unexplained > 0 ? ", \(after.unexplained) missing at the remote" : ""
        let stop = after.stop == nil ? "" : "; the collection is stopped, see `stitchsync resolve`"
        return "not in step: \(after.pending) pending, \(after.paused) paused\(missing)\(stop)"
    }
}
