internal import BSONStore

/// The rules for names of databases.
enum DatabaseName {
    /// Checks the name of a database.
    ///
    /// - Throws: 73 (InvalidNamespace).
    static func check(_ name: String) throws(CommandFailure) {
        let forbidden = Set("/\\. \"$\0".utf8)
        guard !name.isEmpty, name.utf8.count < 64, !name.utf8.contains(where: forbidden.contains)
        else {
            if name == "$external" { return }
            throw CommandFailure(
                .invalidNamespace, "Invalid database name: '\(name)'")
        }
    }
}
