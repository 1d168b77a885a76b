package import BSONStore

/// What the store holds of one synced document's editions.
package struct DocumentEditions: Sendable {
    /// The document's `_id`.
    package let documentID: BSONValue
    /// What the remote last confirmed; `nil` where that is no document.
    package let base: BSONDocument?
    /// The local document; `nil` where there is none.
    package let local: BSONDocument?
    /// The version field that the base was taken with.
    package let version: VersionField
    /// How it stands.
    package let status: DocumentSyncStatus
    /// A write was sent whose answer did not come.
    package let hasOpenAttempt: Bool

    /// A document that is not kept in step.
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

/// What tools see of a store beside its documents.
extension SyncEngine {
    /// The editions of a document; `nil` when its id is not synced.
    package func editions(of id: BSONValue, in namespace: Namespace) throws -> DocumentEditions? {
        try collection(namespace).read { sync in
            try sync.record(id).map { try sync.editions($0) }
        }
    }

    /// The editions of a collection's synced documents in the order in which they came to be synced.
    ///
    /// - Parameter limit: how many at most.
    package func editions(in namespace: Namespace, limit: Int) throws -> [DocumentEditions] {
        try collection(namespace).read { sync in
            try sync.records.records(.all, in: sync.collection.rowID, limit: limit)
                .map { try sync.editions($0) }
        } ?? []
    }

    /// The newest conflict of each document that had one lately, the oldest first.
    package func journaledConflicts() throws -> [JournaledConflict] {
        try store.read { try JournalTable(connection: $0.connection).conflicts() }
    }

    /// The newest passes that did something, the oldest first.
    package func journaledPasses() throws -> [JournaledPass] {
        try store.read { try JournalTable(connection: $0.connection).passes() }
    }

    /// The collections that are kept in step, or were.
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
            version: record.version, status: DocumentSyncStatus(record),
            hasOpenAttempt: record.attempt != nil)
    }
}
