import BSONStore
import StitchSync

/// What `status` reports of one collection.
struct CollectionReport: Sendable {
    let namespace: Namespace
    /// The store's file.
    let path: String
    let count: Int
    let status: SyncStatus
    /// The paused documents with the codes and texts of the reasons.
    let paused: [(id: BSONValue, code: String, text: String)]
    /// The first documents with a change that the next sync sends, with their states.
    let pending: [(id: BSONValue, status: DocumentSyncStatus)]
    /// The number of documents that are deleted here and not yet at the remote.
    let deletedCount: Int
    /// The first rejected writes.
    let rejected: [RejectedWrite<BSONDocument>]
    /// The documents that are missing at the remote.
    let missing: [BSONValue]
    /// The documents with a foreign version.
    let foreign: [BSONValue]

    /// The maximum number of documents of each kind that are named.
    private static let namedMax = 10

    init(
        of namespace: Namespace, _ store: DocumentStore, _ engine: SyncEngine, at path: String
    ) async throws {
        let collection = engine.collection(namespace)
        self.namespace = namespace
        self.path = path
        count = try store.read { try $0.count(namespace) }
        status = try await collection.status()
        var paused: [(id: BSONValue, code: String, text: String)] = []
        for id in try await collection.pausedIDs {
            let reason = try await collection.status(of: id).pauseReason
            paused.append(
                (id, reason?.code.rawValue ?? "", reason?.message ?? "the reason is unknown"))
        }
        self.paused = paused
        let ids = try await collection.pendingIDs
        var pending: [(id: BSONValue, status: DocumentSyncStatus)] = []
        for id in ids where pending.count < Self.namedMax {
            let status = try await collection.status(of: id)
            if status.pauseReason == nil { pending.append((id, status)) }
        }
        self.pending = pending
        // Most stores have no document that was deleted and whose delete was not sent.
        deletedCount =
            status.synced <= count
            ? 0
            : try store.read { transaction in
                try ids.count { try transaction.get(namespace, id: $0) == nil }
            }
        rejected = try await Array(collection.rejectedWrites.all().prefix(Self.namedMax))
        missing = try await collection.unexplainedIDs
        foreign = try await collection.foreignVersionIDs
    }

    static let titles = ["collection", "documents", "synced", "pending", "paused", "rejected"]

    /// The line of the table.
    var row: [String] {
        [namespace.description]
            + [count, status.synced, status.pending, status.paused, status.rejected]
            .map(String.init)
    }

    /// The lines below the table.
    var remarks: [StatusRemark] {
        var remarks = pendingRemarks
        remarks += paused.prefix(Self.namedMax).map { id, _, text in
            let place = place(of: id)
            return remark(
                "paused", id,
                "\(EngineText.translated(text)); see \(place.command("diff")); to sync it again: "
                    + place.resumption)
        }
        remarks += more(status.paused - min(paused.count, Self.namedMax), "paused")
        remarks += rejected.map { write in
            remark(
                "rejected", write.documentID,
                "\(write.reason.printable); see `stitchsync retry \(ShellWord(path))`")
        }
        remarks += more(status.rejected - rejected.count, "rejected")
        if let stop = status.stop {
            remarks.append(
                remark("stopped", nil, stop.explanation(store: path, namespace)))
        }
        if !missing.isEmpty {
            remarks.append(
                remark(
                    "missing at the remote", nil,
                    "\(missing.count.counted("document")), kept here and not uploaded (see "
                        + "`stitchsync resolve`)"))
        }
        return remarks + foreign.map { remark("foreign version", $0, "") }
    }

    /// The lines about changes that were not sent.
    private var pendingRemarks: [StatusRemark] {
        var remarks: [StatusRemark] = []
        for (id, status) in pending {
            let place = place(of: id)
            remarks.append(
                status == .conflicted
                    ? remark(
                        "conflicted", id,
                        "the next sync resolves it; see \(place.command("diff"))")
                    : remark(
                        "pending", id,
                        "the next sync sends it; see \(place.command("diff")); to drop the change: "
                            + place.command("discard")))
        }
        let rest = status.pending - paused.count - pending.count
        if pending.count == Self.namedMax { remarks += more(rest, "pending") }
        if deletedCount > 0 {
            remarks.append(
                remark(
                    "deleted", nil,
                    "\(deletedCount.counted("synced document")) deleted here, not yet at the "
                        + "remote; the next sync sends it"))
        }
        let absentCount = status.synced - count - deletedCount
        if absentCount > 0 {
            remarks.append(
                remark(
                    "no document", nil,
                    "\(absentCount.counted("synced _id")) without a document here, as after a "
                        + "rejected insert; sync fetches one that appears at the remote"))
        }
        return remarks
    }

    private func remark(_ state: String, _ id: BSONValue?, _ text: String) -> StatusRemark {
        StatusRemark(state: state, namespace: namespace, documentID: id, text: text)
    }

    private func place(of id: BSONValue) -> DocumentPlace {
        DocumentPlace(store: path, namespace: namespace, id: id)
    }

    private func more(_ count: Int, _ state: String) -> [StatusRemark] {
        count > 0 ? [remark(state, nil, "and \(count) more")] : []
    }

    /// The JSON object.
    var object: BSONDocument {
        let reasons = paused.map { id, code, text in
            BSONValue.document(["_id": id, "code": .string(code), "reason": .string(text)])
        }
        return [
            "collection": .string(namespace.description), "documents": .int64(Int64(count)),
            "synced": .int64(Int64(status.synced)),
            "pending": .int64(Int64(status.pending)),
            "toLook": .int64(Int64(status.toLook)), "paused": .array(BSONArray(reasons)),
            "rejected": .int64(Int64(status.rejected)),
            "foreignVersion": .array(BSONArray(foreign)),
            "missing": .array(BSONArray(missing)),
            "stop": status.stop.map { .string("\($0)") } ?? .null,
        ]
    }
}
