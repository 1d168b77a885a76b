import BSONStore
import StitchSync

/// The data of a report about a store, read in one go.
struct StoreInspection: Sendable {
    /// One collection of the report.
    struct Collection: Sendable {
        let namespace: Namespace
        let documentCount: Int
        let byteCount: Int
        let status: SyncStatus
        /// The first synced documents, up to the limit.
        let editions: [DocumentEditions]
        /// The paused documents with the reasons.
        let paused: [(id: BSONValue, reason: PauseReason)]
        let rejected: [RejectedWrite<BSONDocument>]
        /// What keeps documents from being in step, as `status` says it.
        let remarks: [StatusRemark]
    }

    /// The path of the store as given on the command line.
    let name: String
    /// The time of the report.
    let time: BSONDatetime
    let statistics: StoreStatistics
    let collections: [Collection]
    let conflicts: [JournaledConflict]
    let passes: [JournaledPass]
    let subscriptions: SubscriptionSet?
    /// The results of the structural check.
    let findings: [SyncFinding]
    /// Whether no collection was ever synced.
    let isNeverSynced: Bool

    /// Reads a store.
    ///
    /// - Parameter documentsMax: the maximum number of listed documents of each collection.
    init(of store: DocumentStore, name: String, documentsMax: Int) async throws {
        self.name = name
        time = .now
        statistics = try store.statistics()
        let engine = try SyncEngine(lookingAt: store)
        var namespaces = statistics.collections.map(\.namespace)
        namespaces += try engine.syncedCollections().filter { !namespaces.contains($0) }
        var collections: [Collection] = []
        for namespace in namespaces {
            collections.append(
                try await Self.collection(
                    namespace, statistics, store, engine, name, documentsMax: documentsMax))
        }
        self.collections = collections
        conflicts = try engine.journaledConflicts()
        passes = try engine.journaledPasses()
        let latest = try engine.subscriptions.latest
        subscriptions = latest.version == 0 ? nil : latest
        findings = try await engine.verify()
        isNeverSynced = try engine.syncedCollections().isEmpty
    }

    private static func collection(
        _ namespace: Namespace, _ statistics: StoreStatistics, _ store: DocumentStore,
        _ engine: SyncEngine, _ name: String, documentsMax: Int
    ) async throws -> Collection {
        let size = statistics.collections.first { $0.namespace == namespace }
        let collection = engine.collection(namespace)
        var paused: [(id: BSONValue, reason: PauseReason)] = []
        for id in try await collection.pausedIDs {
            if let reason = try await collection.status(of: id).pauseReason {
                paused.append((id, reason))
            }
        }
        return Collection(
            namespace: namespace, documentCount: size?.documentCount ?? 0,
            byteCount: size?.documentBytes ?? 0, status: try await collection.status(),
            editions: try engine.editions(in: namespace, limit: documentsMax), paused: paused,
            rejected: try await collection.rejectedWrites.all(),
            remarks: try await CollectionReport(of: namespace, store, engine, at: name).remarks)
    }
}

// MARK: - JSON

extension StoreInspection {
    /// The report as one JSON object.
    var document: BSONDocument {
        var document: BSONDocument = [
            "store": .string(name), "at": .datetime(time),
            "fileBytes": .int64(Int64(statistics.fileBytes)),
            "freeBytes": .int64(Int64(statistics.freeBytes)),
            "logBytes": .int64(Int64(statistics.logBytes)),
            "collections": .array(BSONArray(collections.map { .document($0.document) })),
            "conflicts": .array(BSONArray(conflicts.map { .document($0.document) })),
            "passes": .array(BSONArray(passes.map { .document($0.document) })),
            "findings": .array(BSONArray(findings.map { .string("\($0)") })),
        ]
        if let subscriptions {
            document.append("subscriptions", .document(subscriptions.document))
        }
        return document
    }
}

extension StoreInspection.Collection {
    fileprivate var document: BSONDocument {
        let paused = paused.map { id, reason in
            BSONValue.document([
                "_id": id, "code": .string(reason.code.rawValue),
                "reason": .string(reason.message),
            ])
        }
        let documents = editions.map { edition in
            var document: BSONDocument = [
                "_id": edition.documentID, "state": .string(edition.status.name),
            ]
            if let version = edition.version.value { document.append("version", version) }
            return BSONValue.document(document)
        }
        return [
            "collection": .string(namespace.description),
            "documents": .int64(Int64(documentCount)), "bytes": .int64(Int64(byteCount)),
            "synced": .int64(Int64(status.synced)), "pending": .int64(Int64(status.pending)),
            "toLook": .int64(Int64(status.toLook)), "paused": .array(BSONArray(paused)),
            "rejected": .array(BSONArray(rejected.map { .document($0.object()) })),
            "listed": .array(BSONArray(documents)),
        ]
    }
}

extension JournaledConflict {
    /// The conflict as one JSON object.
    var document: BSONDocument {
        func value(_ edition: BSONDocument?) -> BSONValue {
            edition.map(BSONValue.document) ?? .null
        }
        return [
            "collection": .string(namespace.description), "_id": documentID,
            "at": .datetime(time), "base": value(base), "local": value(local),
            "remote": value(remote), "answer": .string(answer.name),
            "mayHaveLanded": .bool(mayHaveLanded), "text": .string(answerText),
        ]
    }
}

extension JournaledPass {
    /// The pass as one JSON object.
    fileprivate var document: BSONDocument {
        func count(_ number: Int) -> BSONValue { .int64(Int64(number)) }
        return [
            "at": .datetime(time), "sent": count(report.uploaded), "taken": count(report.taken),
            "removed": count(report.removed + report.evicted),
            "conflicts": count(report.conflicts), "paused": count(report.paused),
            "rejected": count(report.reverted),
            "errors": .array(BSONArray(report.errors.map { .string($0.rawValue) })),
        ]
    }
}

extension SubscriptionSet {
    /// The set's state in words.
    var stateText: String {
        switch state {
        case .pending: "pending"
        case .bootstrapping: "bootstrapping"
        case .complete: "complete"
        case .error(let text): "error: \(text)"
        case .superseded: "superseded"
        }
    }

    fileprivate var document: BSONDocument {
        let queries = subscriptions.map { subscription in
            BSONValue.document([
                "name": subscription.name.map(BSONValue.string) ?? .null,
                "collection": .string(subscription.query.namespace.description),
                "filter": .document(subscription.query.filter),
            ])
        }
        return [
            "version": .int64(version), "state": .string(stateText),
            "queries": .array(BSONArray(queries)),
        ]
    }
}
