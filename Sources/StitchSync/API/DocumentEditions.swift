package import BSONStore

/// The base and the local edition of one synced document.
package struct DocumentEditions: Sendable {
    /// The document's `_id`.
    package let documentID: BSONValue
    /// The edition that the remote last confirmed; `nil` where the remote confirmed no document.
    package let base: BSONDocument?
    /// The local document; `nil` where it does not exist.
    package let local: BSONDocument?
    /// The version field of the base.
    package let version: VersionField
    /// The document's sync state.
    package let status: DocumentSyncStatus
    /// Whether a write was sent and its answer did not arrive.
    package let hasOpenAttempt: Bool

    /// Makes the editions of a document that is not synced.
    package init(unsynced document: BSONDocument) {
        self.init(
            documentID: document.documentID, base: nil, local: document, version: .absent,
            status: .notSynced, hasOpenAttempt: false)
    }

    init(
        documentID: BSONValue, base: BSONDocument?, local: BSONDocument?, version: VersionField,
        status: DocumentSyncStatus, hasOpenAttempt: Bool
    ) {
        self.documentID = documentID
        self.base = base
        self.local = local
        self.version = version
        self.status = status
        self.hasOpenAttempt = hasOpenAttempt
    }
}
