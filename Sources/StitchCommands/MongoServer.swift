package import BSONStore

/// A deployment that carries out MongoDB's commands, whatever carries them: libmongoc, or
/// connections of our own.
///
/// All calls end at once when their task is cancelled; what the server does then is unknown.
package protocol MongoServer: Sendable {
    /// Sends a command to the primary and returns its reply, also one that reports write errors.
    ///
    /// - Throws: ``MongoFailure`` when no reply came or when its `ok` is not 1.
    func run(
        _ command: BSONDocument, on database: String, _ kind: MongoCommandKind
    ) async throws(MongoFailure) -> BSONDocument

    /// Begins a session on the primary, for commands that belong together, such as a cursor's.
    func startSession() async throws(MongoFailure) -> any MongoSession

    /// Whether the primary knows `bulkWrite`, as MongoDB does since 8.0 (wire version 25).
    ///
    /// Source: the drivers' specification "Bulk Write".
    func takesBulkWrite() async throws(MongoFailure) -> Bool
}
