package import BSONStore

/// A session on one server, whose commands are never retried.
package protocol MongoSession: Sendable {
    /// Sends a command to the session's server and returns its reply.
    ///
    /// - Throws: ``MongoFailure`` when no reply came or when its `ok` is not 1.
    func run(
        _ command: BSONDocument, on database: String
    ) async throws(MongoFailure) -> BSONDocument

    /// Ends the session.
    func end() async
}
