package import BSONStore

/// A conflict as it was found, with what became of it: kept for tools, not for the engine.
package struct JournaledConflict: Sendable, Hashable {
    /// What became of a conflict.
    package enum Answer: Sendable, Hashable {
        /// The local edition was kept.
        case useLocal
        /// The remote edition was taken.
        case useRemote
        /// This document was kept.
        case use(BSONDocument)
        /// It was deleted on both sides.
        case delete
        /// The handler or its answer failed for this reason, and the document was paused.
        case failed(String)
        /// There was no handler: it waits.
        case waits
    }

    /// The collection.
    package let namespace: Namespace
    /// The document's `_id`.
    package let documentID: BSONValue
    /// What the remote had confirmed; `nil` where it never held the document.
    package let base: BSONDocument?
    /// The local edition; `nil` for a deletion.
    package let local: BSONDocument?
    /// The remote edition without its version; `nil` where it was deleted.
    package let remote: BSONDocument?
    /// The version field that the base was taken with.
    package let baseVersion: BSONValue?
    /// The version field of the remote edition.
    package let remoteVersion: BSONValue?
    /// The local change may be in the remote's edition already.
    package let mayHaveLanded: Bool
    /// What became of it.
    package let answer: Answer
    /// When it was answered, by the clock of this machine.
    package let time: BSONDatetime
}

extension JournaledConflict {
    var byteCount: Int {
        let answered = if case .use(let document) = answer { document.byteCount } else { 0 }
        return [base, local, remote].reduce(answered) { $0 + ($1?.byteCount ?? 0) }
    }
}
