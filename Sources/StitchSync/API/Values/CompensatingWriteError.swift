internal import BSONStore

/// Lists the writes that an error is about, with what the remote and the store say of them.
public struct CompensatingWriteError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The writes that were not allowed.
    public let writes: [CompensatingWrite]
    /// Their places in the rejected-writes store, in the same order; empty for writes that were
    /// never stored.
    ///
    /// An error that is told again after a crash has the same ones.
    public let rejectedWriteIDs: [Int64]
    /// The remote's code: ``CompensatingWrite/code`` where rules or subscriptions are the reason.
    public let code: Int

    /// Makes an error of its parts.
    public init(
        _ writes: [CompensatingWrite], rejectedWriteIDs: [Int64] = [],
        code: Int = CompensatingWrite.code
    ) {
        self.writes = writes
        self.rejectedWriteIDs = rejectedWriteIDs
        self.code = code
    }

    /// The reasons, one after another.
    public var description: String { writes.map(\.reason).joined(separator: "; ") }
}

extension SyncError {
    /// What an error asks of the app, in Device Sync's words.
    public enum Action: String, Sendable, Hashable, CaseIterable {
        /// Nothing: the app is told, and sync goes on.
        case warning = "Warning"
        /// Nothing: it passes, or is tried again.
        case transient = "Transient"
        /// Somebody has to sign in.
        case refreshUser = "RefreshUser"
        /// The app uses the library in a way that cannot work.
        case applicationBug = "ApplicationBug"
    }

    /// The writes that were not allowed, each with collection, `_id`, reason and cause; empty for
    /// errors about something else.
    public var compensatingWrites: [CompensatingWrite] {
        if let told = underlying as? CompensatingWriteError { return told.writes }
        return (underlying as? RemoteError)?.compensatingWrite.map { [$0] } ?? []
    }

    /// The first of ``compensatingWrites``.
    public var compensatingWrite: CompensatingWrite? { compensatingWrites.first }

    /// Whether sync as a whole stops; what concerns single documents never does that.
    public var isFatal: Bool {
        switch code {
        case .storeFailed, .storeInUse: documentID == nil
        case .handlerFailed, .handlerTimeout, .handlerChangedID, .documentTooLarge, .rejected,
            .compensatingWrite, .writeRefused, .retriesExhausted, .foreignVersion, .decodingFailed,
            .remoteUnavailable, .authRequired, .offline, .timedOut, .notConfigured, .passUnderWay,
            .subscriptionFailed, .unusableDocument, .collectionDropped, .remoteChanged,
            .unexplainedAbsence, .localDocumentMissing:
            false
        }
    }

    /// What the error asks of the app.
    public var action: Action {
        switch code {
        case .remoteUnavailable, .offline, .timedOut: .transient
        case .authRequired: .refreshUser
        case .notConfigured, .passUnderWay, .storeInUse, .storeFailed: .applicationBug
        case .handlerFailed, .handlerTimeout, .handlerChangedID, .documentTooLarge, .rejected,
            .compensatingWrite, .writeRefused, .retriesExhausted, .foreignVersion, .decodingFailed,
            .subscriptionFailed, .unusableDocument, .collectionDropped, .remoteChanged,
            .unexplainedAbsence, .localDocumentMissing:
            .warning
        }
    }
}
