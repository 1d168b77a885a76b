import BSONStore
import StitchSync

/// The sync of one collection with a remote for the duration of a command.
struct SyncSession: Sendable {
    /// The local collection.
    let collection: SyncCollection<BSONDocument>
    /// The remote.
    let remote: SessionRemote
    private let meter: Locked<ProgressMeter?>
    private let conflictHandler: ConflictHandler<BSONDocument>
    private let errors = Locked<[SessionError]>([])
    /// The console for errors as they arrive; `nil` while they are collected.
    private let console: Locked<Console?>

    /// The page cache of each connection; a command visits each document once or twice.
    static let cacheKiB = 8_192

    /// The maximum number of passes in a row, for a remote that changes all the time.
    private static let passesMax = 100

    init(
        store: DocumentStore, remote name: String, namespace: Namespace,
        conflictHandler: ConflictHandler<BSONDocument>
    ) async throws {
        let remote = try SessionRemote(name)
        let meter = Locked<ProgressMeter?>(nil)
        let engine = try SyncEngine(
            store: store, remote: MeteredRemote(base: remote.remote, meter: meter))
        await self.init(
            engine.collection(namespace), remote, meter, conflictHandler, Locked<Console?>(nil))
    }

    private init(
        _ collection: SyncCollection<BSONDocument>, _ remote: SessionRemote,
        _ meter: Locked<ProgressMeter?>, _ conflictHandler: ConflictHandler<BSONDocument>,
        _ console: Locked<Console?>
    ) async {
        (self.collection, self.remote, self.meter) = (collection, remote, meter)
        (self.conflictHandler, self.console) = (conflictHandler, console)
        let errors = errors
        let namespace = collection.namespace
        await collection.configure(
            conflictHandler: conflictHandler,
            errorListener: { error, id in
                let error = SessionError(error, id, in: namespace)
                guard let console = console.withLock({ $0 }) else {
                    return errors.withLock { $0.append(error) }
                }
                do throws(CommandError) {
                    try console.warn("error: \(error.text)")
                } catch {
                    // Standard error is closed: the error has no reader.
                }
            })
    }

    /// Returns the session of another collection of the same store with the same remote.
    func session(of namespace: Namespace) async -> SyncSession {
        await SyncSession(
            engine.collection(namespace), remote, meter, conflictHandler, console)
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

    /// Syncs some collections until a signal arrives, and prints errors as they arrive.
    ///
    /// Other collections of the store may belong to other remotes, so they are left alone.
    func watch(
        _ namespaces: [Namespace], until stops: AsyncStream<Int32>, on console: Console
    ) async throws {
        for other in try engine.syncedCollections() where !namespaces.contains(other) {
            await engine.collection(other).updateSyncFrequency(.onDemand)
        }
        self.console.withLock { $0 = console }
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
        let kept = Set(try await collection.rejectedWrites.all().map(\.id))
        let meter = ProgressMeter(
            ProgressBar(
                label, unit: "documents", total: max(before.pending, before.toLook),
                on: descriptor), report: report)
        self.meter.withLock { $0 = meter }
        defer { self.meter.withLock { $0 = nil } }
        let (counts, passes) = try await syncUntilQuiet()
        try await meter.finish()
        await engine.flushEvents()
        return SyncOutcome(
            namespace: collection.namespace, report: counts, passes: passes,
            after: try await collection.status(),
            rejected: try await collection.rejectedWrites.all().filter { !kept.contains($0.id) },
            allErrors: errors.withLock { errors in
                defer { errors = [] }
                return errors
            })
    }

    /// Runs passes over the collection until one finds nothing to do.
    private func syncUntilQuiet() async throws -> (report: SyncPassReport, passes: Int) {
        var total = SyncPassReport()
        for pass in 1...Self.passesMax {
            let report = try await collection.syncNow()
            total.add(report)
            if report.isQuiet || !report.reachedRemote { return (total, pass) }
        }
        return (total, Self.passesMax)
    }

    /// Returns the collections of the store.
    func names() throws -> [Namespace] { try engine.store.read { try $0.collections() } }

    /// Closes both sides.
    func close() async {
        engine.store.close()
        await remote.close()
    }
}

/// An error that the engine reports during a command.
struct SessionError: Sendable {
    /// The collection, the document and the message.
    let text: String
    /// Whether the error is a write that the remote refused, which the store keeps.
    let isRejectedWrite: Bool

    init(_ error: SyncError, _ id: BSONValue?, in namespace: Namespace) {
        let reasons = error.compensatingWrites.map(\.reason)
        let message = reasons.isEmpty ? error.message : reasons.joined(separator: "; ")
        let place = id.map { "\(namespace) \($0.extendedJSON(.relaxed)): " } ?? ""
        text = place + EngineText.translated(message)
        isRejectedWrite = !reasons.isEmpty
    }
}

/// The result of a run of passes.
struct SyncOutcome: Sendable {
    /// The collection.
    let namespace: Namespace
    /// The summed report of all passes.
    let report: SyncPassReport
    /// The number of passes.
    let passes: Int
    /// The counts of documents by state, afterwards.
    let after: SyncStatus
    /// The writes that the remote refused during the run, and that the store keeps.
    let rejected: [RejectedWrite<BSONDocument>]
    /// The errors that the engine reported.
    let allErrors: [SessionError]

    /// The messages of the errors, with the documents' ids.
    var errors: [String] { allErrors.map(\.text) }

    /// The messages of the errors other than refused writes.
    var otherErrors: [String] { allErrors.filter { !$0.isRejectedWrite }.map(\.text) }

    /// The maximum number of rejected writes that are named.
    static let rejectedShownMax = 10

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
            && after.stop == nil && errors.isEmpty && rejected.isEmpty
    }

    /// Returns a line for each new rejected write, and one for those of earlier runs.
    func rejectedLines(store: String) -> [String] {
        var lines = rejected.prefix(Self.rejectedShownMax).map { write in
            "1 write rejected: \(write.place): \(write.reason.printable); see `stitchsync retry "
                + "\(ShellWord(store))`"
        }
        let rest = after.rejected - lines.count
        if rest > 0 {
            let write = rejected.isEmpty ? "rejected write" : "other rejected write"
            lines.append(
                "\(rest.counted(write)) kept; see `stitchsync retry \(ShellWord(store))`")
        }
        return lines
    }

    /// Returns the remaining work in one line.
    func whyNotInStep(store: String) -> String {
        let rejected = rejected.isEmpty ? "" : ", \(rejected.count) rejected"
        let missing =
            after.unexplained > 0
            ? ", \(after.unexplained) missing at the remote (see `stitchsync resolve "
                + "\(ShellWord(store)) \(ShellWord(namespace.description)) --missing upload`)" : ""
        let stop =
            after.stop.map { "; stopped: \($0.explanation(store: store, namespace))" } ?? ""
        return "not in step: \(after.pending) pending, \(after.paused) paused"
            + "\(rejected)\(missing)\(stop)"
    }
}
