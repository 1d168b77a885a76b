public import BSONStore

/// A source of the remote collections that an engine syncs with.
///
/// ```swift
/// let remote: any Remote = try InProcessRemote(at: .file("remote.db"))
/// let engine = try SyncEngine(store: store, remote: remote)
/// ```
public protocol Remote: Sendable {
    /// Returns the collection of a namespace, without I/O.
    func collection(_ namespace: Namespace) -> any RemoteCollection

    /// Whether the remote can be reached, now and after each change; `nil` where this is unknown.
    ///
    /// A running engine runs a pass at once when the remote becomes reachable.
    var reachability: AsyncStream<Bool>? { get }

    /// The files beside documents; `nil` where the remote keeps none.
    var attachments: (any RemoteAttachments)? { get }
}

extension Remote {
    /// The default, `nil`: files stay on the device.
    public var attachments: (any RemoteAttachments)? { nil }

    /// The default, `nil`: the engine repeats failed passes with growing pauses.
    public var reachability: AsyncStream<Bool>? { nil }
}

/// One remote collection, which the sync engine reads and writes.
///
/// Reads return data of the primary that a majority holds, which a failover cannot take back. All
/// methods throw `RemoteError` with class `.retryable` for temporary errors, and may throw it after
/// the remote applied a write.
///
/// ```swift
/// let collection = remote.collection(Namespace("app", "todos"))
/// if case .found(let document) = try await collection.find(ids: [1])[0] {
///     print(document)
/// }
/// ```
public protocol RemoteCollection: Sendable {
    /// Fetches documents; returns one answer per id, in order.
    func find(ids: [BSONValue]) async throws(RemoteError) -> [RemoteLookup]

    /// Fetches documents up to a size limit; returns one answer per id, in order.
    ///
    /// - Parameter bytesMax: the number of bytes after which the remote may skip the remaining ids.
    /// - Returns: one answer per id, `nil` for a skipped one; at least one id has an answer.
    func find(
        ids: [BSONValue], bytesMax: Int
    ) async throws(RemoteError) -> [RemoteLookup?]

    /// Lists the versions of documents; returns one answer per id, in order.
    func versions(ids: [BSONValue]) async throws(RemoteError) -> [RemoteVersionLookup]

    /// Returns a page of the documents that match a filter, sorted by `_id`.
    ///
    /// A page may hold fewer documents than the limit where they are large.
    ///
    /// - Parameters:
    ///   - last: the last `_id` of the previous page; `nil` for the first page.
    ///   - limit: the maximum number of documents.
    /// - Throws: `RemoteError` of class `.rejected` for an unsupported filter. The default
    ///   implementation supports none.
    func find(
        matching filter: BSONDocument, after last: BSONValue?, limit: Int
    ) async throws(RemoteError) -> RemotePage

    /// Returns the ids and versions of a page of the documents that match a filter, sorted by
    /// `_id`.
    ///
    /// The engine asks for them before it fetches the documents of a query, if the device has
    /// documents of the collection already. The default reads whole documents.
    ///
    /// - Parameters:
    ///   - last: the last `_id` of the previous page; `nil` for the first page.
    ///   - limit: the maximum number of documents.
    /// - Throws: as ``find(matching:after:limit:)`` does.
    func versions(
        matching filter: BSONDocument, after last: BSONValue?, limit: Int
    ) async throws(RemoteError) -> RemoteVersionPage

    /// Returns the number of documents that match a filter, for progress displays.
    ///
    /// The default returns `nil` for an unknown number; nothing else depends on it.
    func count(matching filter: BSONDocument) async throws(RemoteError) -> Int?

    /// Applies conditional writes, each on its own; returns one outcome per write, in order.
    func write(_ writes: [RemoteWrite]) async throws(RemoteError) -> [RemoteWriteOutcome]

    /// Applies conditional writes that exchange values of unique indexes: all of them in one
    /// transaction, or none.
    ///
    /// The engine calls it for documents that each want a value which another one of them has.
    ///
    /// - Parameter paths: the dotted paths of the unique indexes' fields.
    /// - Returns: one outcome per write, in order, where none but `.applied` for all means that
    ///   none was applied; `nil` where the remote cannot apply them together, as the default.
    func write(
        _ writes: [RemoteWrite], exchanging paths: [String]
    ) async throws(RemoteError) -> [RemoteWriteOutcome]?

    /// Returns the position in the history after all changes that are visible now.
    func currentToken() async throws(RemoteError) -> ResumeToken

    /// Returns the changes after a position in the history, in commit order.
    ///
    /// - Parameters:
    ///   - limit: the maximum number of changes; the remote may return fewer where they are large.
    ///   - wait: the longest wait for the first change; zero does not wait.
    /// - Throws: `RemoteError` of class `.historyLost` when the remote no longer keeps the
    ///   position.
    func changes(
        after token: ResumeToken, limit: Int, waitingUpTo wait: Duration
    ) async throws(RemoteError) -> RemoteChangeBatch

    /// Returns the changes after a position, as ``changes(after:limit:waitingUpTo:)``; those of the
    /// device's own operations may be left out.
    ///
    /// The engine calls it, but where it looks for an operation. The default leaves out nothing.
    func changes(
        after token: ResumeToken, limit: Int, waitingUpTo wait: Duration,
        leavingOut own: OwnOperations
    ) async throws(RemoteError) -> RemoteChangeBatch

    /// Returns the collection's identity, which the engine requests at the start of a pass.
    ///
    /// The default returns ``RemoteIdentity/unknown``.
    func identity() async throws(RemoteError) -> RemoteIdentity

    /// A number that changes when another server may answer: with each new connection.
    ///
    /// As long as it stays, and a wait for changes is under way, the engine does not request the
    /// identity again. The default, `nil`, has it requested in each pass.
    var connectionNumber: UInt64? { get }

    /// Returns the tombstones of deleted documents, one answer per id, in order.
    ///
    /// The default returns `nil` for each id: the remote keeps no tombstones.
    ///
    /// - Parameter token: a position in the history, with which each tombstone is compared.
    func tombstones(
        ids: [BSONValue], since token: ResumeToken?
    ) async throws(RemoteError) -> [RemoteTombstone?]
}

extension RemoteCollection {
    /// Returns all changes.
    public func changes(
        after token: ResumeToken, limit: Int, waitingUpTo wait: Duration,
        leavingOut own: OwnOperations
    ) async throws(RemoteError) -> RemoteChangeBatch {
        try await changes(after: token, limit: limit, waitingUpTo: wait)
    }

    /// Returns ``RemoteIdentity/unknown``.
    public func identity() async throws(RemoteError) -> RemoteIdentity { .unknown }

    /// Returns `nil`: connections are not counted.
    public var connectionNumber: UInt64? { nil }

    /// Returns no tombstones.
    public func tombstones(
        ids: [BSONValue], since place: ResumeToken?
    ) async throws(RemoteError) -> [RemoteTombstone?] {
        ids.map { _ in nil }
    }

    /// Returns `nil`: the remote has no transactions.
    public func write(
        _ writes: [RemoteWrite], exchanging paths: [String]
    ) async throws(RemoteError) -> [RemoteWriteOutcome]? { nil }

    /// Reads the documents and returns their ids and versions.
    public func versions(
        matching filter: BSONDocument, after last: BSONValue?, limit: Int
    ) async throws(RemoteError) -> RemoteVersionPage {
        RemoteVersionPage(of: try await find(matching: filter, after: last, limit: limit))
    }

    /// Returns `nil`: the number is unknown.
    public func count(matching filter: BSONDocument) async throws(RemoteError) -> Int? { nil }

    /// Fetches all documents, without a size limit.
    public func find(
        ids: [BSONValue], bytesMax: Int
    ) async throws(RemoteError) -> [RemoteLookup?] {
        try await find(ids: ids)
    }

    /// Refuses every filter, so that documents can only be synced by their ids.
    public func find(
        matching filter: BSONDocument, after last: BSONValue?, limit: Int
    ) async throws(RemoteError) -> RemotePage {
        throw RemoteError(.rejected, code: 115, "This remote does not find documents by a filter")
    }
}
