internal import BSONStoreCSQLite

extension SQLiteConnection {
    /// The file's path for messages.
    var fileDescription: String {
        let path = sqlite3_db_filename(handle, "main").map { String(cString: $0) } ?? ""
        return path.isEmpty ? "The store in memory" : "The file \(path)"
    }

    /// Whether the documents are in memory, where no file can be damaged.
    var isInMemory: Bool { sqlite3_db_filename(handle, "main").map { $0.pointee == 0 } ?? true }
}
