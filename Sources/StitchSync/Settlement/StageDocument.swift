internal import BSONStore

/// The storage of a subscription set's documents until the set is activated.
struct StageDocument {
    let sync: SyncTransaction

    /// Stages a document without a record; marks a record as stale whose version differs.
    ///
    /// - Parameter isFirstQuery: whether no other query of the set can have returned the document.
    /// - Returns: whether the document counts as downloaded: newly staged, and not fetched later.
    func stage(_ document: BSONDocument, isFirstQuery: Bool) throws -> Bool {
        let id = document.documentID
        guard let known = try sync.record(id) else {
            let isNew =
                try isFirstQuery || !sync.subscriptions.isStaged(id, in: sync.collection.rowID)
            try sync.subscriptions.stage(document, in: sync.collection.rowID)
            return isNew
        }
        let version = VersionField(of: document)
        guard version != known.version || version == .absent else { return true }
        try sync.markStale(known)
        return false
    }
}
