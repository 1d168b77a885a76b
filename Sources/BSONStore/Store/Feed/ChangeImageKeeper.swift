/// A writer of documents into the changes that wrote them, before the rows are lost.
struct ChangeImageKeeper {
    /// The transaction's connection.
    let connection: SQLiteConnection
    /// The feed, as the transaction has changed it.
    let feed: ChangeFeed

    /// Copies the documents of a collection into the changes that wrote them, before its name is
    /// lost; O(n).
    func keepImages(of table: CollectionTable) throws(StoreError) {
        guard feed.changesMax > 0, table.options.view == nil else { return }
        let statement = try connection.prepareOnce(
            "SELECT change, doc, id FROM \(StoreSchema.tableName(table.id)) WHERE change > ?1")
        statement.bind(1, max(feed.floor, feed.head - feed.changesMax))
        while try statement.step() {
            let (position, row) = (statement.int64(0), statement.int64(2))
            try statement.withBytes(1) { (bytes) throws(StoreError) in
                guard BSONValidator.isValid(bytes) else {
                    return try markImagesLost(of: row, in: table)
                }
                try keep(bytes, after: position)
            }
        }
    }

    /// Marks the earlier documents of a damaged, removed row as lost, except copies that later
    /// changes keep.
    func markImagesLost(of row: Int64, in table: CollectionTable) throws(StoreError) {
        let written = try connection.prepare(.getRowToWrite, table)
        written.bind(1, row)
        guard try written.step() else { return }
        var position = written.int64(2)
        written.reset()
        while let (link, isWhole) = try link(at: position), !isWhole, link.row == row {
            try put(link.asLost, nil, at: position)
            guard try !keepBefore(position, link) else { return }
            position = link.previous
        }
    }

    private func keep(
        _ image: UnsafeRawBufferPointer, after position: Int64
    ) throws(StoreError) {
        guard let (link, isWhole) = try link(at: position), !isWhole else { return }
        try put(link, image, at: position)
    }

    /// Copies the document before a change into the earlier change that wrote it, if the feed has
    /// it whole.
    private func keepBefore(_ position: Int64, _ link: ImageLink) throws(StoreError) -> Bool {
        let statement = try connection.prepare(
            "SELECT before FROM store_changes WHERE position = ?1")
        statement.bind(1, position)
        guard try statement.step(), !statement.isNull(0) else { return false }
        return try statement.withBytes(0) { (bytes) throws(StoreError) in
            guard BSONValidator.isValid(bytes) else { return false }
            try keep(bytes, after: link.previous)
            return true
        }
    }

    /// Returns a change's link to its document and whether the change keeps a copy; `nil` for a
    /// change that is not kept.
    private func link(
        at position: Int64
    ) throws(StoreError) -> (link: ImageLink, isWhole: Bool)? {
        let statement = try connection.prepare(
            "SELECT after FROM store_changes WHERE position = ?1")
        statement.bind(1, position)
        guard try statement.step(), !statement.isNull(0) else { return nil }
        return statement.withBytes(0) { bytes in
            ImageLink(bytes).map { ($0, !ImageLink.image(bytes).isEmpty) }
        }
    }

    private func put(
        _ link: ImageLink, _ image: UnsafeRawBufferPointer?, at position: Int64
    ) throws(StoreError) {
        let statement = try connection.prepare(
            "UPDATE store_changes SET after = ?2, document = ?3 WHERE position = ?1")
        statement.bind(1, position)
        if image != nil { statement.bind(3, link.row) }
        try link.lend(with: image) { (bytes) throws(StoreError) in
            statement.bind(2, lending: bytes)
            try statement.run()
        }
    }
}
