public import BSONStore

/// An error in the sync of a document, a collection or the engine.
///
/// ```swift
/// for await error in engine.errors {
///     print(error.code, error.documentID ?? .null, error.message)
/// }
/// ```
public struct SyncError: Error, Sendable, CustomStringConvertible {
    /// The kind of an error.
    ///
    /// ```swift
    /// do {
    ///     try await engine.waitForUpload(timeout: .seconds(30))
    /// } catch let error as SyncError where error.code == .timedOut {
    ///     print("some changes are still pending")
    /// }
    /// ```
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// The conflict handler threw; the document is paused.
        case handlerFailed
        /// The conflict handler did not return in time; the document is paused.
        case handlerTimeout
        /// The conflict handler's document has another `_id`; the document is paused.
        case handlerChangedID
        /// A document with its version field exceeds the size limit.
        case documentTooLarge
        /// The remote refused the write permanently; the document is paused.
        case rejected
        /// The remote did not allow writes, and the engine reverted them (Device Sync's error 231).
        /// The store keeps them among the rejected writes; the sync of other documents continues.
        case compensatingWrite
        /// A strict collection found that the remote would refuse the write; nothing was stored.
        case writeRefused
        /// The remote failed too often in a row; the document is paused.
        case retriesExhausted
        /// The document has a foreign version field; its local changes stay pending.
        case foreignVersion
        /// A document does not decode as the collection's type.
        case decodingFailed
        /// The remote cannot be reached; passes keep trying.
        case remoteUnavailable
        /// The user has to sign in; passes continue after ``SyncEngine/noteSignIn()``.
        case authRequired
        /// The user is signed in, but has no privilege to read the collection at the remote; passes
        /// keep trying.
        case notAuthorized
        /// The engine is offline, see ``SyncEngine/setOnline(_:)``.
        case offline
        /// A wait reached its timeout.
        case timedOut
        /// A conflict needs a conflict handler, and the collection has none.
        case notConfigured
        /// Another engine syncs the file, in this process or another.
        case storeInUse
        /// A conflict handler called for a pass, although a pass waits for that handler.
        case passUnderWay
        /// The store cannot hold the remote's document; the document is paused.
        case unusableDocument
        /// The remote dropped or renamed the collection; its sync stopped, and local documents
        /// stay.
        case collectionDropped
        /// The remote collection is not the one that the documents were synced with; its sync
        /// stopped, and nothing was deleted or uploaded.
        case remoteChanged
        /// Documents are missing at the remote without evidence of a delete; they stay local and
        /// are not uploaded.
        case unexplainedAbsence
        /// The remote refused a subscription set; the previous set stays active.
        case subscriptionFailed
        /// A local document is missing although it was not deleted: the file is damaged. Its loss
        /// is not uploaded, and the document is paused.
        case localDocumentMissing
        /// Another secret was given for a user's store than that of the user's last sign-in.
        case wrongSecret
        /// The store failed; ``SyncEngine/run()`` reports a temporary cause, such as a full disk,
        /// once.
        case storeFailed
        /// The remote does not have a file yet, or does not show it to the user.
        case fileMissing
        /// The remote refused a file, or its content is damaged; ``AttachmentFile/state()`` has the
        /// reason. Other files are sent and loaded.
        case fileFailed
        /// A file that the app wants to attach cannot be read.
        case fileUnreadable
        /// The file to which a content is copied cannot be written.
        case fileUnwritable
        /// The store, which had failed, can be written again.
        case storeRecovered
    }

    /// The kind of the error.
    public let code: Code
    /// An explanation in one sentence.
    public let message: String
    /// The collection concerned; `nil` where the error concerns none.
    public let namespace: Namespace?
    /// The `_id` of the document concerned; `nil` where the error concerns none.
    public let documentID: BSONValue?
    /// The cause; `nil` where there is none.
    public let underlying: (any Error)?

    /// Makes an error from its parts.
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

    /// The code, the collection and the explanation.
    public var description: String {
        let place = namespace.map { " in \($0)" } ?? ""
        return "\(code.rawValue)\(place): \(message)"
    }
}
