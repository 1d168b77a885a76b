public import BSONStore

/// Gives the collections that documents are kept in step with.
public protocol Remote: Sendable {
    /// The collection of a namespace; no I/O happens here.
    func collection(_ namespace: Namespace) -> any RemoteCollection

    /// Whether the remote can be reached, now and after each change; `nil` where it does not tell.
    ///
    /// A running engine passes at once when the remote is back. Nothing is asked of it for this.
    var reachability: AsyncStream<Bool>? { get }
}

extension Remote {
    /// Tells nothing: failed passes are repeated with growing pauses.
    public var reachability: AsyncStream<Bool>? { nil }
}

/// Reads and writes one remote collection, for the sync engine.
///
/// Reads answer from the primary with what a majority holds (rule R14). All methods throw
/// `RemoteError` with class `.retryable` for anything that may pass, and may throw it after the
/// remote carried a write out.
public protocol RemoteCollection: Sendable {
    /// Looks documents up; one answer per id, in order.
    func find(ids: [BSONValue]) async throws(RemoteError) -> [RemoteLookup]

    /// Looks up as many documents as an answer may hold; one answer per id, in order.
    ///
    /// - Parameter bytesMax: another document need not be read once those that were are so many bytes.
    /// - Returns: `nil` for an id that is to be asked for anew, which is never so for all of them.
    func find(
        ids: [BSONValue], bytesMax: Int
    ) async throws(RemoteError) -> [RemoteLookup?]

    /// Lists versions; one answer per id, in order.
    func versions(ids: [BSONValue]) async throws(RemoteError) -> [RemoteVersionLookup]

    /// Finds documents that pass a filter, in the order of their `_id`s.
    ///
    /// A page may have fewer than are wanted where they are many bytes.
    ///
    /// - Parameters:
    ///   - last: the `_id` behind which to begin; `nil` for the first page.
    ///   - limit: how many documents at most.
    /// - Throws: `RemoteError` of class `.rejected` for a filter that is never answered; a remote that
    ///   says nothing else answers none.
    func find(
        matching filter: BSONDocument, after last: BSONValue?, limit: Int
    ) async throws(RemoteError) -> RemotePage

    /// How many documents pass a filter, for who shows the progress.
    ///
    /// A remote that does not say (the default) answers `nil`; nothing else depends on it.
    func count(matching filter: BSONDocument) async throws(RemoteError) -> Int?

    /// Carries conditional writes out, each by itself; one outcome per write, in order.
    func write(_ writes: [RemoteWrite]) async throws(RemoteError) -> [RemoteWriteOutcome]

    /// The place in the history that comes after everything which is visible now.
    func currentToken() async throws(RemoteError) -> ResumeToken

    /// Changes after a place in the history, in commit order.
    ///
    /// - Parameters:
    ///   - limit: how many at most, fewer where they are many bytes; the batch says whether there are
    ///     more.
    ///   - wait: how long to wait for the first one; zero asks for what is there.
    /// - Throws: `RemoteError` of class `.historyLost` when the place is no longer kept.
    func changes(
        after token: ResumeToken, limit: Int, waitingUpTo wait: Duration
    ) async throws(RemoteError) -> RemoteChangeBatch

    /// Tells which collection this is; asked at the start of each pass.
    ///
    /// A remote that does not tell (the default) is ``RemoteIdentity/unknown``.
    func identity() async throws(RemoteError) -> RemoteIdentity

    /// Looks up what the remote remembers of deleted documents; one answer per id, in order.
    ///
    /// A remote that remembers nothing (the default) answers `nil` for each.
    ///
    /// - Parameter place: a place in the history; each tombstone tells whether it is later by proof.
    func tombstones(
        ids: [BSONValue], since place: ResumeToken?
    ) async throws(RemoteError) -> [RemoteTombstone?]
}

extension RemoteCollection {
    /// Does not tell: see ``RemoteIdentity/unknown``.
    public func identity() async throws(RemoteError) -> RemoteIdentity { .unknown }

    /// Remembers nothing of deleted documents.
    public func tombstones(
        ids: [BSONValue], since place: ResumeToken?
    ) async throws(RemoteError) -> [RemoteTombstone?] {
        ids.map { _ in nil }
    }

    /// Does not say how many documents pass a filter.
    public func count(matching filter: BSONDocument) async throws(RemoteError) -> Int? { nil }

    /// Reads all documents, however many bytes they are.
    public func find(
        ids: [BSONValue], bytesMax: Int
    ) async throws(RemoteError) -> [RemoteLookup?] {
        try await find(ids: ids)
    }

    /// Answers no filter: documents are kept in step by their ids only.
    public func find(
        matching filter: BSONDocument, after last: BSONValue?, limit: Int
    ) async throws(RemoteError) -> RemotePage {
        throw RemoteError(.rejected, code: 115, "This remote does not find documents by a filter")
    }
}
