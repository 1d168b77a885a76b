internal import BSONStore

/// One transaction of the store as the engine uses it: documents, records and events of one
/// collection change together or not at all (rule R2).
struct SyncTransaction {
    let transaction: WriteTransaction
    let collection: SyncState.Collection

    var records: SyncRecords { SyncRecords(connection: transaction.connection) }
    var state: SyncState { SyncState(connection: transaction.connection) }
    var namespace: Namespace { collection.namespace }

    /// The bytes of a document that are left for the version field.
    static let versionReserve = 16 * 1024

    /// The local document.
    func local(_ id: BSONValue) throws -> BSONDocument? {
        try transaction.get(namespace, id: id)
    }

    /// The record of a document.
    func record(_ id: BSONValue) throws -> SyncedDocument? {
        try records.record(collection.rowID, id: id)
    }

    /// Stores a record under its next revision and returns it as stored.
    @discardableResult
    func save(_ record: SyncedDocument) throws -> SyncedDocument {
        try records.save(record, in: collection.rowID)
    }

    /// Makes the local document what is given, or removes it.
    func setLocal(_ id: BSONValue, to document: BSONDocument?) throws {
        if let document {
            try transaction.put(namespace, document)
        } else {
            _ = try transaction.remove(namespace, id: id)
        }
    }

    /// Keeps an event for the collection's listeners.
    func emit(
        _ operationType: OperationType,
        _ reason: ChangeReason, _ id: BSONValue,
        document: BSONDocument? = nil, update: UpdateDescription? = nil, uncommitted: Bool
    ) throws {
        guard collection.listens else { return }
        let event = ChangeEvent<BSONDocument>(
            sequence: 0, operationType: operationType, reason: reason, namespace: namespace,
            documentID: id, fullDocument: document, updateDescription: update,
            hasUncommittedWrites: uncommitted)
        try EventOutbox.append(event, collection: collection.rowID, in: transaction.connection)
    }

    /// Keeps the event of a document that went from one edition to another.
    func emitChange(
        _ reason: ChangeReason, _ id: BSONValue, from before: BSONDocument?,
        to after: BSONDocument?, uncommitted: Bool
    ) throws {
        guard collection.listens else { return }
        switch (before, after) {
        case (_, nil):
            try emit(.delete, reason, id, uncommitted: uncommitted)
        case (nil, let after?):
            try emit(.insert, reason, id, document: after, uncommitted: uncommitted)
        case (let before?, let after?):
            let update = UpdateDescription.difference(from: before, to: after)
            try emit(
                update == nil ? .replace : .update, reason, id, document: after, update: update,
                uncommitted: uncommitted)
        }
    }
}

extension BSONDocument {
    /// The document without its version field; itself when it has none.
    var withoutVersion: BSONDocument {
        guard self[DocumentVersion.fieldName] != nil else { return self }
        var document = self
        while document.removeValue(forKey: DocumentVersion.fieldName) != nil {}
        return document
    }

    /// The document's `_id`, null when it has none.
    var documentID: BSONValue { self["_id"] ?? .null }
}
