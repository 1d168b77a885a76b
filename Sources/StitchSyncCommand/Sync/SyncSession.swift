import BSONStore
import StitchSync

/// Keeps a collection of one store file in step with a remote store file, for the time of a command.
struct SyncSession: Sendable {
    /// The documents on this side.
    let collection: SyncCollection<BSONDocument>
    /// The remote.
    let remote: SessionRemote
    private let meter = Locked<ProgressMeter?>(nil)
    private let errors = Locked<[String]>([])

    /// The page cache of each connection; a command visits each document once or twice.
    static let cacheKiB = 8_192

    /// Passes in a row after which a remote that changes all the time is left.
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

    /// Tells the engine whether there is a network.
    func setOnline(_ isOnline: Bool) { engine.setOnline(isOnline) }

    /// Keeps every document in step that either side has and that a filter matches.
    ///
    /// - Returns: how many were not in step before.
    func adopt(matching filter: BSONDocument = [:]) async throws -> Int {
        let namespace = collection.namespace
        let here = try SessionRemote.ids(matching: filter, in: namespace, of: engine.store)
        return try await adopt(here + remote.ids(matching: filter, in: namespace))
    }

    /// Keeps documents in step.
    ///
    /// - Returns: how many were not in step before.
    func adopt(_ ids: [BSONValue]) async throws -> Int {
        let known = try await collection.status().synced
        try await collection.sync(ids: ids)
        return try await collection.status().synced - known
    }

    /// Keeps both sides in step until a signal comes.
    func watch(until stops: AsyncStream<Int32>) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await engine.run() }
            group.addTask { for await _ in stops { break } }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    /// Runs passes until both sides have nothing left to say, under a progress bar.
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

    /// Lets go of both sides.
    func close() async {
        engine.store.close()
        await remote.close()
    }
}

/// Tells what a run of passes did, and what is left.
struct SyncOutcome: Sendable {
    /// What all passes did together.
    let report: SyncPassReport
    /// How many there were.
    let passes: Int
    /// The documents by their state, afterwards.
    let after: SyncStatus
    /// What the error listener was told, with the documents' ids.
    let errors: [String]

    /// The outcome as one object.
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

    /// What is left, in a line.
    var whyNotInStep: String {
        let missing = after.unexplained > 0 ? ", \(after.unexplained) missing at the remote" : ""
        let stop = after.stop == nil ? "" : "; the collection is stopped, see `stitchsync resolve`"
        return "not in step: \(after.pending) pending, \(after.paused) paused\(missing)\(stop)"
    }
}
