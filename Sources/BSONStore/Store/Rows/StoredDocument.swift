/// A document with its row.
package struct StoredDocument: Sendable {
    let row: Int64
    /// The document.
    package let document: BSONDocument
    /// The position of the change that wrote it, 0 without one; `nil` if not read.
    var change: Int64?

    /// Checks a document whose key is known.
    ///
    /// - Throws: `corrupt` naming the document.
    static func check(
        _ bytes: UnsafeRawBufferPointer, key: [UInt8], of table: CollectionTable
    ) throws(StoreError) {
        do throws(BSONError) {
            try BSONValidator.validate(bytes)
        } catch {
            throw corrupt(error, key: key, of: table)
        }
    }

    /// Checks the document of a row whose key is in a column.
    static func check(
        _ bytes: UnsafeRawBufferPointer, key statement: borrowing SQLiteStatement,
        _ column: Int32, of table: CollectionTable
    ) throws(StoreError) {
        do throws(BSONError) {
            try BSONValidator.validate(bytes)
        } catch {
            throw corrupt(error, key: statement.bytes(column), of: table)
        }
    }

    /// The error for a document that is not valid BSON, still without its name.
    static var damaged: StoreError {
        StoreError(.corrupt, "A stored document is not valid BSON")
    }

    /// Returns the error for a document that is not valid BSON.
    static func damaged(key: [UInt8], of table: CollectionTable) -> StoreError {
        var error = damaged
        error.namespace = table.namespace
        error.documentID = BSONKey.decode(key)
        return error
    }

    static func corrupt(
        _ error: BSONError, key: [UInt8], of table: CollectionTable
    ) -> StoreError {
        StoreError(
            .corrupt, "A stored document is not valid BSON", namespace: table.namespace,
            documentID: BSONKey.decode(key), underlying: error)
    }
}
