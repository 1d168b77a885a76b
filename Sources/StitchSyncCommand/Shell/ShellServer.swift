import BSONStore

/// A server, or a store file in its place, that runs the commands of a shell.
///
/// A shell calls it from its own thread only.
protocol ShellServer: AnyObject {
    /// What the shell is connected to, without passwords.
    var place: String { get }

    /// Runs a command and returns the reply, also one whose `ok` is 0.
    ///
    /// - Throws: an error if no reply arrives.
    func run(_ command: BSONDocument, on database: String) throws -> BSONDocument

    /// Whether the collection is one of a file and is synced, so that writes are pending changes.
    func isSynced(_ namespace: Namespace) throws -> Bool

    /// Ends the connection.
    func close()
}
