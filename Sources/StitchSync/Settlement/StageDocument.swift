internal import BSONStore

/// The storage of a subscription set's documents until the set is activated.
///
/// A document that the app sees while it arrives is inserted at once.
struct StageDocument {
    let sync: SyncTransaction
    /// Whether each document that the app sees now gets a savepoint of its own: one that cannot be
    /// stored is staged, since the set's activation may evict the document that has its unique value.
    var individually = false

    /// The outcome for a document.
    enum Outcome {
        /// The document is staged, and was not before.
        case staged
        /// The document is staged again: another query of the set returned it before.
        case stagedAgain
        /// The document is on the device now, where the app sees it; with the error of a foreign
        /// version field.
        case arrived(SyncError?)
        /// The document arrived with another query of the set.
        case arrivedAgain
        /// The device has the document already.
        case known
        /// The device has another edition, which is fetched later.
        case stale

        /// Whether the device had an edition of the document before.
        var wasKnown: Bool {
            switch self {
            case .staged, .arrived: false
            case .stagedAgain, .arrivedAgain, .known, .stale: true
            }
        }

        /// Whether the progress counts the document as downloaded now.
        var isCounted: Bool {
            switch self {
            case .staged, .arrived, .known: true
            case .stagedAgain, .arrivedAgain, .stale: false
            }
        }
    }

    /// Stages or inserts documents without a record; marks a record as stale whose version differs.
    ///
    /// - Throws: the error of a document that cannot be stored, unless ``individually`` is set.
    func stage(_ documents: [BSONDocument]) throws -> [Outcome] {
        guard !individually else { return try documents.map(stage) }
        return try sync.withBulkInsert { try documents.map(stage) }
    }

    private func stage(_ document: BSONDocument) throws -> Outcome {
        guard let known = try sync.record(document.documentID) else {
            return try stageNew(document)
        }
        let version = VersionField(of: document)
        guard version != known.version || version == .absent else {
            return try hasArrived(known, document) ? .arrivedAgain : .known
        }
        try MarkStale(sync: sync).mark(known)
        return .stale
    }

    private func stageNew(_ document: BSONDocument) throws -> Outcome {
        let id = document.documentID
        let isStaged = try sync.subscriptions.isStaged(id, in: sync.collection.rowID)
        // The activation finds the conflict with a document that the app wrote to the store directly.
        if try !isStaged && isShown(document)
            && VersionField(of: document) != .absent && sync.local(id) == nil
        {
            return try insert(document)
        }
        try sync.subscriptions.stage(document, in: sync.collection.rowID)
        return isStaged ? .stagedAgain : .staged
    }

    /// Returns whether the app sees a document now, and only because of the set's queries.
    private func isShown(_ document: BSONDocument) throws -> Bool {
        let membership = try sync.membership
        // In most sets the app sees none, and nothing is copied.
        guard membership.isShowing else { return false }
        return membership.isShownOnly(document.withoutVersion)
    }

    /// Inserts a document where the app sees it.
    private func insert(_ document: BSONDocument) throws -> Outcome {
        let fetched = FetchedDocument(
            SyncRecord(documentID: document.documentID, byID: false), .found(document), [:])
        func insert() throws -> Outcome {
            let outcome = try SettleFetchedBatch(sync: sync, FetchTerms()).settle(
                fetched, local: .absent)
            guard case .foreign = outcome else { return .arrived(nil) }
            return .arrived(fetched.foreignVersion(in: sync.namespace))
        }
        guard individually else { return try insert() }
        let mark = sync.storyMark
        do {
            return try sync.transaction.savepoint { try insert() }
        } catch let cause where SyncTransaction.concernsDocument(cause) {
            sync.noteRollback(to: mark)
            try sync.subscriptions.stage(document, in: sync.collection.rowID)
            return .staged
        }
    }

    /// Returns whether a document on the device arrived with the set that is being downloaded.
    private func hasArrived(_ record: SyncRecord, _ document: BSONDocument) throws -> Bool {
        try !record.isKeptByID && isShown(document)
    }
}

// MARK: - Pages of versions

extension StageDocument {
    /// The device's knowledge of a document of which the remote reported the version.
    enum Knowledge {
        /// The document has to be fetched now.
        case missing
        /// The device has an edition, or will fetch it with the stale ones.
        case known
        /// The document arrived with another query of the set, which counted it.
        case arrivedAgain
    }

    /// Compares the device's edition of a document with the remote's version.
    func compare(_ entry: RemoteVersionPage.Entry) throws -> Knowledge {
        if let record = try sync.record(entry.documentID) {
            try MarkStale(sync: sync).compare(
                record, with: .found(entry.version, content: entry.content), isDeleted: false)
            guard try sync.membership.isShowing, let local = try sync.local(entry.documentID) else {
                return .known
            }
            return try hasArrived(record, local) ? .arrivedAgain : .known
        }
        let staged = try sync.subscriptions.staged(
            entry.documentID, in: sync.collection.rowID)
        guard let staged, entry.version != .absent, VersionField(of: staged) == entry.version else {
            return .missing
        }
        return entry.content?.isOf(staged.withoutVersion) ?? true ? .known : .missing
    }
}
