internal import BSONStore

/// Reads the entries of one of the tables that a server has for itself in a store's file.
///
/// An entry that cannot be read, of a damaged file or of another program, is no reason to stop a server:
/// without it the server only shows less. It is removed when the server starts.
struct ServerEntries {
    /// A table with the column `entry`, which has BSON.
    enum Table: String, CaseIterable {
        case conflicts = "server_conflicts"
        case denials = "server_denials"
        case devices = "server_devices"
    }

    let table: Table
    let connection: SQLiteConnection

    /// Returns the entries in the order of their rows, and the rows of those that cannot be read.
    ///
    /// - Throws: the errors of the store.
    func all() throws -> (readable: [BSONDocument], unreadable: [Int64]) {
        let select = try connection.prepare(
            "SELECT rowid, entry FROM \(table.rawValue) ORDER BY rowid")
        var readable: [BSONDocument] = []
        var unreadable: [Int64] = []
        while try select.step() {
            do {
                readable.append(
                    try BSONDocument(validating: select.bytes(1), limits: BSONLimits()))
            } catch {
                unreadable.append(select.int64(0))
            }
        }
        return (readable, unreadable)
    }

    /// Removes the entries that cannot be read.
    ///
    /// - Throws: the errors of the store.
    func removeUnreadable() throws {
        for row in try all().unreadable {
            let delete = try connection.prepare("DELETE FROM \(table.rawValue) WHERE rowid = ?1")
            delete.bind(1, row)
            try delete.run()
        }
    }
}
