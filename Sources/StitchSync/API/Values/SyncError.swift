public import BSONStore

/// Says what went wrong in keeping a document or a collection in step.
public struct SyncError: Error, Sendable, CustomStringConvertible {
    /// Classifies what went wrong.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// The conflict handler threw; the document is paused.
        case handlerFailed
        /// The conflict handler did not answer in time; the document is paused.
        case handlerTimeout
        /// The conflict handler's answer has another `_id`; the document is paused.
        case handlerChangedID
        /// A document does not fit beside its version field.
        case documentTooLarge
        /// The remote refused the write for good; the document is paused.
        case rejected
        /// The remote did not allow writes, which were taken back (Device Sync's 231): what was
        /// written is kept among the rejected writes, and other documents go on.
        case compensatingWrite
        /// A write is certainly not allowed, and the collection is strict: nothing was stored.
        case writeRefused
        /// The remote failed as often as is allowed; the document is paused.
        case retriesExhausted
        /// The document's version field is not one that we understand; its writes stay queued.
        case foreignVersion
        /// A document could not be read as the collection's type.
        case decodingFailed
        /// The remote cannot be reached; passes go on trying.
        case remoteUnavailable
        /// The remote wants somebody to sign in; passes go on after ``SyncEngine/noteSignIn()``.
        case authRequired
        /// The engine is offline: the app said so.
        case offline
        /// What was waited for did not come in time.
        case timedOut
        /// The collection has no conflict handler, and a conflict needs one.
        case notConfigured
        /// Another engine syncs this file, in this process or another.
        case storeInUse
        /// A pass was asked for by a conflict handler, which a pass waits for.
        case passUnderWay
        /// What the remote holds under an id cannot be kept in the store; the document is paused.
        case unusableDocument
        /// The remote dropped or renamed the collection: its sync stopped, and everything here is kept.
        case collectionDropped
        /// The remote collection is another one than the one that the documents were synced with: its
        /// sync stopped, nothing was deleted or sent.
        case remoteChanged
        /// Documents are missing at the remote, and nothing says that somebody deleted them: they are
        /// kept here and not sent.
        case unexplainedAbsence
        /// The remote refused a set of subscriptions; the set before goes on.
        case subscriptionFailed
        /// A document is missing in the store though nobody deleted it: the file is damaged, nothing of
        /// it is sent, and the document is paused.
        case localDocumentMissing
        /// The store failed.
        case storeFailed
    }

    /// What went wrong.
    public let code: Code
    /// A sentence for people.
    public let message: String
    /// The collection concerned, where there is one.
    public let namespace: Namespace?
    /// The document concerned, where there is one.
    public let documentID: BSONValue?
    /// The error underneath, where there is one.
    public let underlying: (any Error)?

    /// Makes an error of its parts.
    public init(
        _ code: Code, _ message: String, namespace: Namespace? = nil,
        documentID: BSONValue? = nil, underlying: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        self.namespace = namespace
        self.documentID = documentID
        self.underlying = underlying
    }

    /// The code, the collection and the sentence.
    public var description: String {
        let place = namespace.map { " in \($0)" } ?? ""
        return "\(code.rawValue)\(place): \(message)"
    }
}
