extension RowLookup {
    /// Returns the documents of ids, in the order of the ids, until they reach a number of bytes.
    ///
    /// - Parameter isChecked: whether to verify checksums, so that damage does not spread to
    ///   another store.
    /// - Throws: `corrupt` naming the first document whose bytes are not valid BSON or do not match
    ///   their checksum.
    func documents(
        _ namespace: Namespace, ids: [BSONValue], bytesMax: Int, isChecked: Bool = false
    ) throws(StoreError) -> [BSONDocument?] {
        let found = try tables.onTable(namespace) { (table) throws(StoreError) in
            try documents(ids, bytesMax: bytesMax, in: table, isChecked: isChecked)
        }
        return found ?? ids.map { _ in nil }
    }

    private func documents(
        _ ids: [BSONValue], bytesMax: Int, in table: CollectionTable, isChecked: Bool
    ) throws(StoreError) -> [BSONDocument?] {
        var found = KeyLookup(bytesMax: bytesMax, rowsWanted: false)
        if let keys = AscendingKeys(ids) {
            if isChecked { found.check(column: 3, connection) }
            let kind = isChecked ? CollectionTable.Statement.getFromChecked : .getFrom
            try found.walk(keys, try connection.prepare(kind, table), table)
        } else {
            if isChecked { found.check(column: 2, connection) }
            let kind = isChecked ? CollectionTable.Statement.getChecked : .get
            try found.lookUp(ids, try connection.prepare(kind, table), table)
        }
        return found.documents()
    }

    /// Returns the documents of ids in key order with their rows; `nil` when the ids must be looked
    /// up one by one.
    ///
    /// - Parameter bytesMax: the size after which to stop; the document that reaches it is
    ///   included.
    /// - Throws: as ``documents(_:ids:bytesMax:isChecked:)`` does.
    func findInKeyOrder(
        _ namespace: Namespace, ids: [BSONValue], bytesMax: Int
    ) throws(StoreError) -> [StoredDocument?]? {
        guard let keys = AscendingKeys(ids) else { return nil }
        let found = try tables.onTable(namespace) {
            (table) throws(StoreError) -> [StoredDocument?]? in
            guard table.isPlain else { return nil }
            var found = KeyLookup(bytesMax: bytesMax, rowsWanted: true)
            try found.walk(keys, try connection.prepare(.getFromToWrite, table), table)
            return found.stored()
        }
        return found ?? nil
    }
}
