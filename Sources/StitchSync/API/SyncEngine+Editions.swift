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
    /// Whether a write was sent and its response did not arrive.
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

/// Sync data that tools read, in addition to the documents.
extension SyncEngine {
    /// Returns the editions of a document; `nil` when its id is not synced.
    package func editions(of id: BSONValue, in namespace: Namespace) throws -> DocumentEditions? {
        try collection(namespace).read { sync in
            try sync.record(id).map { try sync.editions($0) }
        }
    }

    /// Returns the editions of a collection's synced documents, in the order in which their sync
    /// began.
    ///
    /// - Parameter limit: the maximum number of documents.
    package func editions(in namespace: Namespace, limit: Int) throws -> [DocumentEditions] {
        try collection(namespace).read { sync in
            try sync.records.records(.all, in: sync.collection.rowID, limit: limit)
                .map { try sync.editions($0) }
        } ?? []
    }

    /// Returns the newest journaled conflict of each document, the oldest first.
    package func journaledConflicts() throws -> [JournaledConflict] {
        try store.read { try JournalTable(connection: $0.connection).conflicts() }
    }

    /// Returns the newest journaled passes, the oldest first; passes without any effect are left
    /// out.
    package func journaledPasses() throws -> [JournaledPass] {
        try store.read { try JournalTable(connection: $0.connection).passes() }
    }

    /// Returns the collections that are synced now or were synced before.
    package func syncedCollections() throws -> [Namespace] {
        try store.read { transaction in
            try SyncStateTable(connection: transaction.connection).collections().map(\.namespace)
        }
    }
}

extension SyncSnapshot {
    fileprivate func editions(_ record: SyncRecord) throws -> DocumentEditions {
        let local = try transaction.get(collection.namespace, id: record.documentID)
        return DocumentEditions(
            documentID: record.documentID, base: record.base.document(local: local), local: local,
            version: record.version, status: record.status,
            hasOpenAttempt: record.attempt != nil)
    }
}
