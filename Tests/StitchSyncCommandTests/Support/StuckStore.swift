import BSONStore
import StitchSync
import StitchSyncTesting

/// A store in which something went wrong: a conflict was merged, one failed, and a write was refused.
struct StuckStore {
    static let items = Namespace("shop", "items")

    /// Whoever wrote the documents that both sides change.
    private struct Unsure: Error {}

    /// Makes `phone.stitch` and `remote.stitch` in a folder.
    static func make(in folder: TemporaryFolder) async throws {
        let remote = try InProcessRemote(at: .file(folder.path("remote.stitch")))
        let network = FaultyRemote(remote)
        let store = try DocumentStore(at: .file(folder.path("phone.stitch")))
        let engine = try SyncEngine(store: store, remote: network)
        let items = engine.collection(Self.items)
        let handler = ConflictHandler<BSONDocument> { conflict in
            guard conflict.documentID != "unsure" else { throw Unsure() }
            guard var merged = conflict.remote else { return .useRemote }
            merged.set("note", to: conflict.local?["note"] ?? .null)
            return .use(merged)
        }
        await items.configure(conflictHandler: handler, rejectionPolicy: .revert)
        for id in ["merged", "unsure", "refused"] {
            try await items.insertOne([
                "_id": .string(id), "price": 1, "size": ["wide": 2, "high": 3],
                "note": "<script>alert(1)</script>",
            ])
        }
        try await engine.syncUntilQuiet()
        for id: BSONValue in ["merged", "unsure"] {
            try await items.updateOne(["_id": id], ["$set": ["note": "mine"]])
            try await remote.store.collection(Self.items)
                .updateOne(["_id": id], ["$set": ["price": 2], "$inc": [Self.counter: 1]])
        }
        try await engine.syncUntilQuiet()
        try await items.updateOne(["_id": "refused"], ["$set": ["price": -1]])
        network.next(.write, .fail(RemoteError(.rejected, "a price is not negative")))
        try await engine.syncUntilQuiet()
        try await engine.release()
        store.close()
        remote.store.close()
    }

    private static let counter = "\(DocumentVersion.fieldName).v"
}
