internal import BSONStore

/// The storage of a subscription set's documents until the set is activated.
struct StageDocument {
    let sync: SyncTransaction

    /// The outcome for a document.
    enum Outcome {
        /// The document is staged, and was not before.
        case staged
        /// The document is staged again: another query of the set returned it before.
        case stagedAgain
        /// The device has the document already.
        case known
        /// The device has another edition, which is fetched later.
        case stale
    }

    /// Stages a document without a record; marks a record as stale whose version differs.
    func stage(_ document: BSONDocument) throws -> Outcome {
        let id = document.documentID
        guard let known = try sync.record(id) else {
            let isNew = try !sync.subscriptions.isStaged(id, in: sync.collection.rowID)
            try sync.subscriptions.stage(document, in: sync.collection.rowID)
            return isNew ? .staged : .stagedAgain
        }
        let version = VersionField(of: document)
        guard version != known.version || version == .absent else { return .known }
        try sync.markStale(known)
        return .stale
    }

    /// Returns whether the device has an edition of a document, or will fetch it with the stale
    /// ones; the others have to be fetched now.
    func isKnown(_ entry: RemoteVersionPage.Entry) throws -> Bool {
        if let record = try sync.record(entry.documentID) {
            try MarkStale(sync: sync).compare(
                record, with: .found(entry.version, content: entry.content), isDeleted: false)
            return true
        }
        let staged = try sync.subscriptions.staged(
            entry.documentID, in: sync.collection.rowID)
        guard let staged, entry.version != .absent, VersionField(of: staged) == entry.version else {
            return false
        }
        return entry.content?.isOf(staged.withoutVersion) ?? true
    }
}
