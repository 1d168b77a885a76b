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

    /// Signs in as another user; later commands are that user's.
    ///
    /// - Throws: an error if the server cannot be reached, or has no users; the user stays then.
    /// - Returns: the server's reply, whose `ok` is 0 if it refused the user, who stays then.
    func signIn(_ user: String, password: String, on database: String) throws -> BSONDocument

    /// Signs the user out; later commands are without a user.
    ///
    /// - Returns: the server's reply.
    func signOut() throws -> BSONDocument

    /// Ends the connection.
    func close()
}
