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
