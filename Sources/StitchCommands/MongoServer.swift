package import BSONStore

/// A deployment that carries out MongoDB's commands, whatever carries them: libmongoc, or
/// connections of our own.
///
/// All calls end at once when their task is cancelled; what the server does then is unknown. A
/// closed server throws ``MongoFailure/Kind/network``.
package protocol MongoServer: Sendable {
    /// Sends a command to the primary and returns its reply, also one that reports write errors.
    ///
    /// - Throws: ``MongoFailure`` when no reply came or when its `ok` is not 1.
    func run(
        _ request: MongoRequest, on database: String, _ kind: MongoCommandKind
    ) async throws(MongoFailure) -> BSONDocument

    /// Begins a session on the primary, for commands that belong together, such as a cursor's.
    ///
    /// - Throws: ``MongoFailure``, unless the session's first command reports it.
    func startSession() async throws(MongoFailure) -> any MongoSession

    /// Whether each batch goes in one `bulkWrite` command, by the remote's options; `nil` lets the
    /// server's version and the batch decide.
    var usesBulkWrite: Bool? { get }

    /// Whether the server knows `bulkWrite`, as MongoDB does since 8.0 (wire version 25).
    ///
    /// Source: the drivers' specification "Bulk Write".
    func takesBulkWrite() async throws(MongoFailure) -> Bool

    /// Whether the server has a part that MongoDB does not have.
    ///
    /// Source: Docs/SERVER.md.
    func knows(_ part: ServerExtension) async throws(MongoFailure) -> Bool

    /// The longest time that the server should now wait for changes in one command.
    ///
    /// A command that waits is not interrupted when its caller leaves.
    var waitMax: Duration { get }

    /// The number of connections so far, where the carrier counts them.
    var connectionCount: UInt64? { get }

    /// The number of the current sign-in; it grows with each renewal.
    var signIn: Int { get }

    /// Makes later calls use new connections, because the server reported one as not authenticated.
    ///
    /// A connection authenticates only once, and loses it when its user is dropped, even if the
    /// user is created again. The call changes nothing where the sign-in is newer already.
    ///
    /// - Parameter signIn: the sign-in before the call that failed.
    /// - Returns: whether a repeated call uses another sign-in; `false` without credentials.
    func renew(after signIn: Int) async -> Bool
}

extension MongoServer {
    /// Returns `nil`: connections are not counted.
    package var connectionCount: UInt64? { nil }
}
