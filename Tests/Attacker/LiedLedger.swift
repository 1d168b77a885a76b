import BSONStore
import StitchSync

/// What must be there after a remote lied and became honest.
struct LiedLedger {
    let engine: SyncEngine
    let remote: DocumentStore
    /// What the device's user updated, deleted and inserted.
    let updated: Range<Int32>
    let deleted: Range<Int32>
    let inserted: Range<Int32>
    /// What others deleted and inserted at the remote.
    let deletedThere: Range<Int32>
    let insertedThere: Range<Int32>
    /// The remote called documents absent, by proof: what the user deleted is gone then, as far as the
    /// device can know.
    let calledAbsent: Bool

    /// A document as it was before anybody changed it.
    static func document(_ id: Int32) -> BSONDocument {
        ["_id": .int32(id), "n": .int32(id), "text": .string("text of \(id)")]
    }

    /// What is gone, changed or appeared in a collection.
    ///
    /// - Parameters:
    ///   - isWritten: whether user and others wrote into it.
    ///   - wasHere: whether the device had the documents before it was lied to.
    func losses(
        in namespace: Namespace, isWritten: Bool, wasHere: Bool, all: Range<Int32>
    ) async throws -> [String] {
        let there = remote.collection(namespace)
        var lost: [String] = []
        let written = isWritten ? Array(updated) + Array(deleted) + Array(inserted) : []
        for id in written {
            let isKept = try await isKept(id, namespace)
            if !isKept, !(calledAbsent && deleted.contains(id)) {
                lost.append("\(namespace) \(id), which the user wrote")
            }
        }
        let gone = isWritten ? Array(deletedThere) : []
        for id in all where !written.contains(id) && !gone.contains(id) {
            guard try there.findOne(id: .int32(id))?.withoutVersion == expected(id, isWritten)
            else {
                lost.append("\(namespace) \(id) changed at the remote")
                continue
            }
            let here = try engine.collection(namespace).findOne(id: .int32(id))
            if here == nil, wasHere { lost.append("\(namespace) \(id) left the device") }
            let status = try await engine.collection(namespace).status(of: .int32(id))
            if status == .synced, here != nil, here?.withoutVersion != expected(id, isWritten) {
                lost.append("\(namespace) \(id) is another on the device, and called synced")
            }
        }
        let known = Array(all) + (isWritten ? Array(inserted) + Array(insertedThere) : [])
        for document in try there.find().fetch() {
            // What the remote itself told of may be sent to it where it was adopted.
            guard let id = document["_id"], id != "stranger" else { continue }
            if !known.contains(where: { id == .int32($0) }) {
                lost.append("\(namespace) \(id) appeared at the remote")
            }
        }
        return lost
    }

    private func expected(_ id: Int32, _ isWritten: Bool) -> BSONDocument {
        var document = Self.document(id)
        if isWritten, LiedDevice.updatedThere.contains(id) { document["at"] = "remote" }
        return document
    }

    /// Whether what the user wrote is at the remote, waits here, or is kept among the rejected writes.
    private func isKept(_ id: Int32, _ namespace: Namespace) async throws -> Bool {
        let here = engine.collection(namespace)
        let rejected = try await here.rejectedWrites.all()
        let isRejected = rejected.contains { write in
            write.documentID == .int32(id) && holds(write.latestDocument, id)
        }
        if isRejected { return true }
        if holds(try remote.collection(namespace).findOne(id: .int32(id)), id) { return true }
        guard holds(try here.findOne(id: .int32(id)), id) else { return false }
        switch try await here.status(of: .int32(id)) {
        case .pending, .stale, .conflicted, .paused, .unexplained: return true
        case .notSynced, .synced: return false
        }
    }

    /// Whether a document is what the user made of it.
    private func holds(_ document: BSONDocument?, _ id: Int32) -> Bool {
        if deleted.contains(id) { return document == nil }
        if updated.contains(id) { return document?["at"] == "device" }
        return document?["text"] == Self.document(id)["text"]
    }
}
