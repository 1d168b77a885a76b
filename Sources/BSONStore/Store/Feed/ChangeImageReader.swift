/// A reader of documents as they were after a change.
///
/// A change keeps no copy of its document (``ImageLink``). The document is the row's current
/// content, or the copy in the next change that kept one, or the one that a delete removed. From
/// there the earlier documents of the changes in between lead back to it.
struct ChangeImageReader {
    /// The transaction's connection.
    let connection: SQLiteConnection

    private var tables: TableLookup { TableLookup(connection: connection) }

    /// The document after a change; `nil` after a delete.
    struct Image {
        let document: BSONDocument?
    }

    /// Returns the document after a change in the feed; `nil` when it is damaged and cannot be
    /// recovered.
    ///
    /// - Throws: `corrupt` naming the change or the document.
    func image(
        _ statement: borrowing SQLiteStatement, _ column: Int32, after position: Int64,
        _ kind: StoreChange.Kind, _ namespace: Namespace
    ) throws(StoreError) -> Image? {
        guard !statement.isNull(column) else { return Image(document: nil) }
        let stored = try statement.withBytes(column) {
            (bytes) throws(StoreError) -> StoredImage in try Self.stored(bytes, position, namespace)
        }
        switch stored {
        case .image(let document, _): return Image(document: document)
        case .link(let link):
            guard kind != .delete else { return Image(document: nil) }
            guard !link.isLost else { return nil }
            return Image(document: try document(after: position, row: link.row, namespace))
        }
    }

    /// The content of the feed's document column.
    enum StoredImage {
        case image(BSONDocument, ImageLink?)
        case link(ImageLink)

        var link: ImageLink? {
            switch self {
            case .image(_, let link): link
            case .link(let link): link
            }
        }
    }

    static func stored(
        _ bytes: UnsafeRawBufferPointer, _ position: Int64, _ namespace: Namespace
    ) throws(StoreError) -> StoredImage {
        let link = ImageLink(bytes)
        let image = link == nil ? bytes : ImageLink.image(bytes)
        if let link, image.isEmpty { return .link(link) }
        do throws(BSONError) {
            return .image(try BSONDocument(validating: image), link)
        } catch {
            throw damaged(position, namespace, error)
        }
    }

    static func damaged(
        _ position: Int64, _ namespace: Namespace, _ error: any Error
    ) -> StoreError {
        StoreError(
            .corrupt, "Change \(position) is not valid BSON", namespace: namespace,
            underlying: error)
    }

    /// Returns the document of a row after a change; O(changes up to the next whole image), about
    /// 16.
    private func document(
        after position: Int64, row: Int64, _ namespace: Namespace
    ) throws(StoreError) -> BSONDocument {
        let now = try current(row, namespace, ifWrittenBy: position)
        if let document = now?.document { return document }
        var place = try kept(row, after: position, namespace)
        if place == nil, let now, now.change > position {
            place = try current(row, namespace, ifWrittenBy: now.change).flatMap { current in
                current.document.map { Place(change: current.change, document: $0) }
            }
        }
        while let later = place, later.change > position {
            place = try before(later, row, namespace)
        }
        guard let place, place.change == position else {
            throw StoreError(
                .corrupt, "The document of change \(position) is nowhere", namespace: namespace)
        }
        return place.document
    }

    /// A document and the change that wrote it.
    private struct Place {
        let change: Int64
        let document: BSONDocument
    }

    /// Returns the change that last wrote a row, with the document if it is the change sought;
    /// `nil` without the row.
    private func current(
        _ row: Int64, _ namespace: Namespace, ifWrittenBy change: Int64
    ) throws(StoreError) -> (change: Int64, document: BSONDocument?)? {
        let found = try tables.onTable(namespace) {
            (table) throws(StoreError) -> (change: Int64, document: BSONDocument?)? in
            let statement = try connection.prepare(.getRowToWrite, table)
            statement.bind(1, row)
            guard try statement.step() else { return nil }
            let written = statement.int64(2)
            guard written == change else { return (written, nil) }
            return try statement.withBytes(1) { (bytes) throws(StoreError) in
                try StoredDocument.check(bytes, key: statement, 0, of: table)
                return (written, BSONDocument(unchecked: Array(bytes)))
            }
        }
        return found ?? nil
    }

    /// Returns the first whole image of a row after a change.
    private func kept(
        _ row: Int64, after position: Int64, _ namespace: Namespace
    ) throws(StoreError) -> Place? {
        let statement = try connection.prepare(
            """
            SELECT position, before, after FROM store_changes
            WHERE document = ?1 AND position > ?2 AND database = ?3 AND name = ?4
            ORDER BY position LIMIT 1
            """)
        statement.bind(1, row)
        statement.bind(2, position)
        statement.bind(3, namespace.database)
        statement.bind(4, namespace.collection)
        guard try statement.step() else { return nil }
        let at = statement.int64(0)
        let after = try statement.withBytes(2) { (bytes) throws(StoreError) in
            try Self.stored(bytes, at, namespace)
        }
        switch after {
        case .image(let document, _): return Place(change: at, document: document)
        case .link(let link):
            // A delete keeps the document that it removed.
            return try before(statement, 1, link, nil, at, namespace)
        }
    }

    /// Returns the document before a change, from the one after it.
    private func before(
        _ place: Place, _ row: Int64, _ namespace: Namespace
    ) throws(StoreError) -> Place? {
        let statement = try connection.prepare(
            "SELECT before, after FROM store_changes WHERE position = ?1")
        statement.bind(1, place.change)
        guard try statement.step() else { return nil }
        let link = statement.withBytes(1) { ImageLink($0) }
        guard let link, link.row == row else { return nil }
        return try before(statement, 0, link, place.document, place.change, namespace)
    }

    private func before(
        _ statement: borrowing SQLiteStatement, _ column: Int32, _ link: ImageLink,
        _ document: BSONDocument?, _ position: Int64, _ namespace: Namespace
    ) throws(StoreError) -> Place? {
        guard !statement.isNull(column), link.previous < position else { return nil }
        do throws(BSONError) {
            let image = try statement.withBytes(column) { (bytes) throws(BSONError) in
                try ImagePatch.document(bytes, beside: document)
            }
            return Place(change: link.previous, document: image)
        } catch {
            throw Self.damaged(position, namespace, error)
        }
    }
}
