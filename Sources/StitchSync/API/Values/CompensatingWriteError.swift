internal import BSONStore

/// The refused writes behind an error of code `.compensatingWrite` or `.writeRefused`.
///
/// ```swift
/// for await error in todos.errors {
///     guard let rejection = error.underlying as? CompensatingWriteError else { continue }
///     print(rejection.writes.map(\.reason), rejection.rejectedWriteIDs)
/// }
/// ```
public struct CompensatingWriteError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The writes that were not allowed.
    public let writes: [CompensatingWrite]
    /// Their ids among the rejected writes, in the same order; empty for writes that were never
    /// stored.
    ///
    /// An error that is reported again after a crash has the same ids.
    public let rejectedWriteIDs: [Int64]
    /// The remote's error code; ``CompensatingWrite/code`` where rules or subscriptions are the
    /// reason.
    public let code: Int

    /// Makes an error from its parts.
    public init(
        _ writes: [CompensatingWrite], rejectedWriteIDs: [Int64] = [],
        code: Int = CompensatingWrite.code
    ) {
        self.writes = writes
        self.rejectedWriteIDs = rejectedWriteIDs
        self.code = code
    }

    /// All reasons, separated by semicolons.
    public var description: String { writes.map(\.reason).joined(separator: "; ") }
}

extension SyncError {
    /// The action that an error requires of the app, in Device Sync's terms.
    ///
    /// ```swift
    /// for await error in engine.errors where error.action == .refreshUser {
    ///     print("please sign in again: \(error.message)")
    /// }
    /// ```
    public enum Action: String, Sendable, Hashable, CaseIterable {
        /// No action: the error is a report, and sync continues.
        case warning = "Warning"
        /// No action: the error is temporary, or the engine tries again.
        case transient = "Transient"
        /// The user has to sign in.
        case refreshUser = "RefreshUser"
        /// The app uses the library incorrectly.
        case applicationBug = "ApplicationBug"
    }

    /// The refused writes, each with collection, `_id`, reason and cause; empty for other errors.
    public var compensatingWrites: [CompensatingWrite] {
        if let error = underlying as? CompensatingWriteError { return error.writes }
        return (underlying as? RemoteError)?.compensatingWrite.map { [$0] } ?? []
    }

    /// The first of ``compensatingWrites``.
    public var compensatingWrite: CompensatingWrite? { compensatingWrites.first }

    /// Whether the sync of all collections stops; an error about one document never stops it.
    public var isFatal: Bool {
        switch code {
        case .storeFailed, .storeInUse: documentID == nil
        case .handlerFailed, .handlerTimeout, .handlerChangedID, .documentTooLarge, .rejected,
            .compensatingWrite, .writeRefused, .retriesExhausted, .foreignVersion, .decodingFailed,
            .remoteUnavailable, .authRequired, .notAuthorized, .offline, .timedOut, .notConfigured,
            .passUnderWay,
            .subscriptionFailed, .unusableDocument, .collectionDropped, .remoteChanged,
            .unexplainedAbsence, .localDocumentMissing, .wrongSecret, .storeRecovered,
            .fileMissing, .fileFailed, .fileUnreadable, .fileUnwritable:
            false
        }
    }

    /// The action that the error requires of the app.
    public var action: Action {
        switch code {
        case .remoteUnavailable, .offline, .timedOut, .storeRecovered, .fileMissing: .transient
        case .authRequired, .wrongSecret: .refreshUser
        case .notConfigured, .passUnderWay, .storeInUse, .storeFailed: .applicationBug
        case .handlerFailed, .handlerTimeout, .handlerChangedID, .documentTooLarge, .rejected,
            .compensatingWrite, .writeRefused, .retriesExhausted, .foreignVersion, .decodingFailed,
            .notAuthorized, .subscriptionFailed, .unusableDocument, .collectionDropped,
            .remoteChanged,
            .unexplainedAbsence, .localDocumentMissing, .fileFailed, .fileUnreadable,
            .fileUnwritable:
            .warning
        }
    }
}
