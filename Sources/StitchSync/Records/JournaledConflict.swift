package import BSONStore

/// A conflict with its outcome, stored for tools, not for the engine.
package struct JournaledConflict: Sendable, Hashable {
    /// The outcome of a conflict.
    package enum Answer: Sendable, Hashable {
        /// The local edition was kept.
        case useLocal
        /// The remote edition was taken.
        case useRemote
        /// This document was stored on both sides.
        case use(BSONDocument)
        /// The document was deleted on both sides.
        case delete
        /// The handler or its answer failed for this reason, and the document was paused.
        case failed(String)
        /// The conflict waits, since there was no handler.
        case waits
    }

    /// The document's collection.
    package let namespace: Namespace
    /// The document's `_id`.
    package let documentID: BSONValue
    /// The confirmed edition; `nil` where the remote never held the document.
    package let base: BSONDocument?
    /// The local edition; `nil` for a delete.
    package let local: BSONDocument?
    /// The remote edition without its version field; `nil` for a delete.
    package let remote: BSONDocument?
    /// The version field of the base.
    package let baseVersion: BSONValue?
    /// The version field of the remote edition.
    package let remoteVersion: BSONValue?
    /// Whether the remote's edition may contain the local change already.
    package let mayHaveLanded: Bool
    /// The outcome of the conflict.
    package let answer: Answer
    /// The time of the outcome, by this device's clock.
    package let time: BSONDatetime
}

extension JournaledConflict {
    var byteCount: Int {
        let answered = if case .use(let document) = answer { document.byteCount } else { 0 }
        return [base, local, remote].reduce(answered) { $0 + ($1?.byteCount ?? 0) }
    }
}

extension JournaledConflict {
    /// Reads a conflict as the server returns it; `nil` where a role hid an edition, or for another
    /// document.
    ///
    /// - Throws: `StoreError` for an invalid namespace.
    package init?(shared document: BSONDocument) throws {
        guard let name = document["namespace"]?.stringValue,
            let id = document["documentID"], case .datetime(let time) = document["time"],
            document["hidden"] == nil
        else { return nil }
        let result = document["result"]?.documentValue
        switch document["decision"]?.stringValue {
        case "useLocal": answer = .useLocal
        case "useRemote": answer = .useRemote
        case "delete": answer = .delete
        case "use":
            guard let result else { return nil }
            answer = .use(result)
        case "fail": answer = .failed(document["code"]?.stringValue ?? "")
        default: return nil
        }
        self.namespace = try Namespace(parsing: name)
        documentID = id
        base = document["base"]?.documentValue
        local = document["local"]?.documentValue
        remote = document["remote"]?.documentValue
        baseVersion = document["baseVersion"]
        remoteVersion = document["remoteVersion"]
        mayHaveLanded = document["mayHaveLanded"]?.boolValue ?? false
        self.time = time
    }
}
