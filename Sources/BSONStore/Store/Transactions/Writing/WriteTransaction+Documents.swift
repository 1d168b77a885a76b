extension WriteTransaction {
    /// Adds a document with its `_id` as the first field; one without an `_id` gets an ObjectId.
    ///
    /// Empty timestamps stay; the inserts of ``DocumentCollection`` set them to the current time.
    ///
    /// - Returns: the document as it is stored.
    /// - Throws: `duplicateKey` (11000) when the id exists, `documentTooLarge` (10334), and for an
    ///   id that is an array, a regular expression or undefined.
    @discardableResult
    public func insert(
        _ namespace: Namespace, _ document: BSONDocument
    ) throws(StoreError) -> BSONDocument {
        try add(document, to: namespace).document
    }

    /// Adds a document and records the change.
    func add(
        _ document: BSONDocument, to namespace: Namespace
    ) throws(StoreError) -> StorableDocument {
        let stored = try StorableDocument(document, in: namespace)
        try telling(of: stored.document, namespace) { () throws(StoreError) in
            _ = try gate(namespace)?.written(from: nil, toShown: stored.document)
            try onTableForWriting(namespace) { (table) throws(StoreError) in
                try add(stored, to: table)
            }
        }
        return stored
    }

    /// Stores a document under its `_id`, replacing an existing one.
    ///
    /// - Returns: the documents before and after; equal bytes record no change.
    /// - Throws: as ``insert(_:_:)`` does, except for duplicates.
    @discardableResult
    public func put(
        _ namespace: Namespace, _ document: BSONDocument
    ) throws(StoreError) -> DocumentImages {
        if let gate = gate(namespace) { return try put(namespace, document, gate) }
        let stored = try StorableDocument(document, in: namespace)
        let before = try onTableForWriting(namespace) {
            (table) throws(StoreError) -> BSONDocument? in
            guard let found = try row(stored.key, in: table) else {
                try add(stored, to: table)
                return nil
            }
            if found.document != stored.document {
                let link = try rewrite(found, stored.document, in: table)
                try record(
                    .replace, namespace, before: found.document, after: stored.document, link: link)
            }
            return found.document
        }
        return DocumentImages(before: before, after: stored.document)
    }

    /// Replaces a document that this transaction has read and not written since.
    ///
    /// - Throws: as ``put(_:_:)`` does.
    package func replace(
        _ namespace: Namespace, _ found: StoredDocument, by document: BSONDocument
    ) throws(StoreError) {
        guard !isRestricted(namespace), let id = StorableDocument.leadingID(of: document),
            StorableDocument.leadingID(of: found.document) == id
        else {
            try put(namespace, document)
            return
        }
        guard found.document != document else { return }
        try StorableDocument.check(document, id, in: namespace)
        try onTableForWriting(namespace) { (table) throws(StoreError) in
            let link = try rewrite(found, document, in: table)
            try record(
                .replace, namespace, before: found.document, after: document, link: link)
        }
    }

    /// Removes the document with an id.
    ///
    /// - Returns: whether it existed.
    @discardableResult
    public func remove(_ namespace: Namespace, id: BSONValue) throws(StoreError) -> Bool {
        try take(namespace, id: id) != nil
    }

    /// Removes the document with an id and returns it, or `nil`.
    @discardableResult
    public func take(
        _ namespace: Namespace, id: BSONValue
    ) throws(StoreError) -> BSONDocument? {
        if let gate = gate(namespace) {
            guard let found = try stored(namespace, id: id),
                let shown = visible(found.document, gate)
            else { return nil }
            try remove(found, from: namespace)
            return shown
        }
        let key = BSONKey.encode(id)
        let taken = try onTable(namespace) { (table) throws(StoreError) -> BSONDocument? in
            guard let found = try row(key, in: table) else { return nil }
            try delete(found, in: table)
            return found.document
        }
        return taken ?? nil
    }

    /// Returns the row and the document with an id key.
    func row(
        _ key: [UInt8], in table: CollectionTable
    ) throws(StoreError) -> StoredDocument? {
        try key.withLentBytes { (lent) throws(StoreError) -> StoredDocument? in
            try row(lent: lent, table)
        }
    }

    /// Writes a new row and its index keys, and records the change.
    func add(_ stored: StorableDocument, to table: CollectionTable) throws(StoreError) {
        try checkMayWrite(table)
        try check(stored.document, replacing: nil, in: table)
        let change: IndexChange
        do throws(StoreError) {
            change = try indexChange(in: table, row: nil, from: nil, to: stored.document)
        } catch {
            // As in MongoDB, a duplicate _id is reported before other unique keys.
            if error.code == .duplicateKey, try row(stored.key, in: table) != nil {
                throw StoreError.duplicateID(stored.id, in: table.namespace, error)
            }
            throw error
        }
        let statement = try connection.prepare(.insert, table)
        do throws(StoreError) {
            try stored.key.withLentBytes { (key) throws(StoreError) in
                try stored.document.withUnsafeBytes { (bytes) throws(StoreError) in
                    statement.bind(1, lending: key)
                    statement.bind(2, lending: bytes)
                    statement.bind(3, feed.next)
                    statement.bind(4, DocumentChecksum.stored(bytes))
                    try statement.run()
                }
            }
        } catch {
            guard error.code == .duplicateKey else { throw error }
            throw StoreError.duplicateID(stored.id, in: table.namespace, error)
        }
        let row = connection.lastInsertedRowID
        try removeTombstone(stored, in: table)
        if !change.isEmpty { try apply(change, row: row, in: table) }
        try record(
            .insert, table.namespace, before: nil, after: stored.document,
            link: ImageLink(row: row, previous: 0))
        // Synced documents are not removed automatically.
        if !isEngineWrite, !table.isPlain, let capped = table.options.capped {
            try trim(table, capped, added: stored.document.byteCount)
        }
    }

    /// Writes new bytes into an existing row and updates its index keys; the caller records the
    /// change.
    ///
    /// - Returns: where the change finds the document.
    /// - Throws: `corrupt` when the row's checksum does not match: another change would hide the
    ///   damage.
    func rewrite(
        _ found: StoredDocument, _ document: BSONDocument, in table: CollectionTable
    ) throws(StoreError) -> ImageLink {
        try checkMayWrite(table)
        try check(document, replacing: found.document, in: table)
        if !table.isPlain { cappedUsage[table.id] = nil }
        let change = try indexChange(
            in: table, row: found.row, from: found.document, to: document)
        let link = try link(from: found, in: table)
        let statement = try connection.prepare(.updateRow, table)
        try document.withUnsafeBytes { (bytes) throws(StoreError) in
            statement.bind(1, found.row)
            statement.bind(2, lending: bytes)
            statement.bind(3, feed.next)
            statement.bind(4, DocumentChecksum.stored(bytes))
            statement.bind(5, DocumentChecksum.stored(found.document))
            try statement.run()
        }
        guard connection.changedRowCount == 1 else {
            throw StoredDocument.altered(id: found.document["_id"], of: table, connection)
        }
        try apply(change, row: found.row, in: table)
        return link
    }

    /// Returns the link from the next change of a row to the one before it.
    private func link(
        from found: StoredDocument, in table: CollectionTable
    ) throws(StoreError) -> ImageLink {
        guard feed.changesMax > 0 else { return ImageLink(row: found.row, previous: 0) }
        if let change = found.change { return ImageLink(row: found.row, previous: change) }
        let statement = try connection.prepare(.getRowToWrite, table)
        statement.bind(1, found.row)
        defer { statement.reset() }
        return ImageLink(
            row: found.row, previous: try statement.step() ? statement.int64(2) : 0)
    }

    /// Removes a row and its index keys, and records the change.
    func delete(_ found: StoredDocument, in table: CollectionTable) throws(StoreError) {
        try checkMayWrite(table)
        let change = try indexChange(
            in: table, row: found.row, from: found.document, to: nil)
        if !table.isPlain { cappedUsage[table.id] = nil }
        let link = try link(from: found, in: table)
        let statement = try connection.prepare(.deleteRow, table)
        statement.bind(1, found.row)
        try statement.run()
        try apply(change, row: found.row, in: table)
        try record(.delete, table.namespace, before: found.document, after: nil, link: link)
        try recordTombstone(found.document, of: table)
    }
}
