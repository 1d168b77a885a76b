package import BSONStore

/// A session on one server, whose commands are never retried.
///
/// A session that is released without ``end(killing:)`` ends, too; the server times its cursors
/// out.
package protocol MongoSession: Sendable {
    /// Sends a command to the session's server and returns its reply.
    ///
    /// - Parameter waits: whether the server may wait for changes before it answers, so that the
    ///   call must not delay requests.
    /// - Throws: ``MongoFailure`` when no reply came or when its `ok` is not 1.
    func run(
        _ command: BSONDocument, on database: String, waits: Bool
    ) async throws(MongoFailure) -> BSONDocument

    /// Runs the next commands in one transaction.
    func startTransaction() async throws(MongoFailure)

    /// Commits the transaction by a majority.
    ///
    /// - Throws: ``MongoFailure``; of kind `.network` or with a label of unknown results, the
    ///   server may have committed.
    func commitTransaction() async throws(MongoFailure)

    /// Reverts the transaction, as the server does by itself after a while; does nothing without
    /// one.
    func abortTransaction() async

    /// Ends the session, also during an abandoned call, and has the server close a cursor.
    ///
    /// Does not wait for the server; its failure is ignored, since it times cursors out.
    func end(killing cursor: MongoCursorID?)
}
