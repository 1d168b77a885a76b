public import BSONStore
public import StitchSync

/// A remote that loses, fails and interrupts requests to another remote, as a test demands.
///
/// Each fault applies to one request of its kind, in the order in which the test queued the faults.
///
/// ```swift
/// let network = FaultyRemote(InProcessRemote(store: remoteStore))
/// let engine = try SyncEngine(store: store, remote: network)
/// network.next(.write, .loseAnswer)
/// try await engine.syncNow()
/// ```
public final class FaultyRemote: Remote {
    /// A kind of request that the engine sends.
    ///
    /// ```swift
    /// #expect(phone.network.requests.count { $0 == .write } == 1)
    /// ```
    public enum Request: String, Sendable, Hashable, CaseIterable {
        /// Fetches documents.
        case find
        /// Lists versions.
        case versions
        /// Applies conditional writes.
        case write
        /// Returns the current position in the history.
        case currentToken
        /// Reads a part of the history.
        case changes
        /// Asks for, stores or reads a part of a file beside a document.
        case attachment
    }

    /// A failure of one request.
    ///
    /// ```swift
    /// phone.network.next(.find, .fail(RemoteError(.unauthenticated, "please sign in")))
    /// phone.network.next(.write, .loseRequest)
    /// ```
    public enum Fault: Sendable {
        /// The request never arrives; the engine sees a lost connection.
        case loseRequest
        /// The remote handles the request, but the response is lost; the engine sees a lost
        /// connection.
        case loseAnswer
        /// The remote responds with this error, to each write of a batch, and does nothing.
        case fail(RemoteError)
        /// A closure runs before the request arrives.
        case interrupt(@Sendable () async throws -> Void)
    }

    struct State: Sendable {
        var faults: [Request: [Fault]] = [:]
        var requests: [Request] = []
        /// The positions in the history that the remote reported, and those that are forgotten.
        var known: Set<ResumeToken> = []
        var forgotten: Set<ResumeToken> = []
    }

    let base: any Remote
    let state = Locked(State())

    /// Wraps the remote that receives the requests.
    public init(_ base: any Remote) { self.base = base }

    /// Returns the collection of a namespace, with faults.
    public func collection(_ namespace: Namespace) -> any RemoteCollection {
        FaultyCollection(base: base.collection(namespace), owner: self)
    }

    /// The files of the wrapped remote, with faults.
    public var attachments: (any RemoteAttachments)? {
        base.attachments.map { FaultyAttachments(base: $0, owner: self) }
    }

    /// The reachability of the wrapped remote.
    public var reachability: AsyncStream<Bool>? { base.reachability }

    /// Queues a fault for the next request of a kind that has none yet.
    public func next(_ request: Request, _ fault: Fault) {
        state.withLock { $0.faults[request, default: []].append(fault) }
    }

    /// Makes the remote forget its history: a read from an earlier position fails with
    /// `.historyLost`.
    public func loseHistory() { state.withLock { $0.forgotten = $0.known } }

    /// The kinds of all requests so far.
    public var requests: [Request] { state.withLock { $0.requests } }

    /// The number of queued faults that have not happened yet.
    public var waitingFaults: Int { waitingRequests.count }

    /// The request kinds of all queued faults, one entry for each fault.
    package var waitingRequests: [Request] {
        let faults = state.withLock { $0.faults }
        return Request.allCases.flatMap { kind in (faults[kind] ?? []).map { _ in kind } }
    }

    /// Notes a request and removes its fault from the queue.
    fileprivate func fault(of request: Request) -> Fault? {
        state.withLock { state in
            state.requests.append(request)
            guard state.faults[request]?.isEmpty == false else { return nil }
            return state.faults[request]?.removeFirst()
        }
    }
}

extension FaultyRemote {
    /// Sends a request, with the fault that is due.
    fileprivate func run<R>(
        _ request: Request, _ body: () async throws(RemoteError) -> R
    ) async throws(RemoteError) -> R {
        switch fault(of: request) {
        case nil: return try await body()
        case .loseRequest: throw RemoteError(.retryable, "the request was lost")
        case .loseAnswer:
            _ = try await body()
            throw RemoteError(.retryable, "the answer was lost")
        case .fail(let error): throw error
        case .interrupt(let act):
            do {
                try await act()
            } catch {
                throw RemoteError(.retryable, "the interruption failed: \(error)")
            }
            return try await body()
        }
    }
}

private struct FaultyAttachments: RemoteAttachments {
    let base: any RemoteAttachments
    let owner: FaultyRemote

    var putsAhead: Int { base.putsAhead }

    func state(
        of place: AttachmentPlace
    ) async throws(RemoteError) -> RemoteAttachmentState {
        try await owner.run(.attachment) { () async throws(RemoteError) in
            try await base.state(of: place)
        }
    }

    func put(
        _ bytes: [UInt8], at offset: Int64, of place: AttachmentPlace
    ) async throws(RemoteError) -> RemoteAttachmentState {
        try await owner.run(.attachment) { () async throws(RemoteError) in
            try await base.put(bytes, at: offset, of: place)
        }
    }

    func read(
        _ place: AttachmentPlace, from offset: Int64, count: Int
    ) async throws(RemoteError) -> [UInt8]? {
        try await owner.run(.attachment) { () async throws(RemoteError) in
            try await base.read(place, from: offset, count: count)
        }
    }
}

private struct FaultyCollection: RemoteCollection {
    let base: any RemoteCollection
    let owner: FaultyRemote

    private func run<R>(
        _ request: FaultyRemote.Request, _ body: () async throws(RemoteError) -> R
    ) async throws(RemoteError) -> R { try await owner.run(request, body) }

    func find(ids: [BSONValue]) async throws(RemoteError) -> [RemoteLookup] {
        try await find(ids: ids, bytesMax: .max).compactMap { $0 }
    }

    func find(
        ids: [BSONValue], bytesMax: Int
    ) async throws(RemoteError) -> [RemoteLookup?] {
        try await run(.find) { () async throws(RemoteError) in
            try await base.find(ids: ids, bytesMax: bytesMax)
        }
    }

    func find(
        matching filter: BSONDocument, after last: BSONValue?, limit: Int
    ) async throws(RemoteError) -> RemotePage {
        try await run(.find) { () async throws(RemoteError) in
            try await base.find(matching: filter, after: last, limit: limit)
        }
    }

    func versions(
        matching filter: BSONDocument, after last: BSONValue?, limit: Int
    ) async throws(RemoteError) -> RemoteVersionPage {
        try await run(.find) { () async throws(RemoteError) in
            try await base.versions(matching: filter, after: last, limit: limit)
        }
    }

    func versions(ids: [BSONValue]) async throws(RemoteError) -> [RemoteVersionLookup] {
        try await run(.versions) { () async throws(RemoteError) in
            try await base.versions(ids: ids)
        }
    }

    func write(_ writes: [RemoteWrite]) async throws(RemoteError) -> [RemoteWriteOutcome] {
        do {
            return try await run(.write) { () async throws(RemoteError) in
                try await base.write(writes)
            }
        } catch  where error.errorClass == .rejected || error.errorClass == .unknown {
            return writes.map { _ in .failed(error) }
        }
    }

    func write(
        _ writes: [RemoteWrite], exchanging paths: [String]
    ) async throws(RemoteError) -> [RemoteWriteOutcome]? {
        do {
            return try await run(.write) { () async throws(RemoteError) in
                try await base.write(writes, exchanging: paths)
            }
        } catch  where error.errorClass == .rejected || error.errorClass == .unknown {
            return writes.map { _ in .failed(error) }
        }
    }

    var connectionNumber: UInt64? { base.connectionNumber }

    func identity() async throws(RemoteError) -> RemoteIdentity { try await base.identity() }

    func tombstones(
        ids: [BSONValue], since place: ResumeToken?
    ) async throws(RemoteError) -> [RemoteTombstone?] {
        try await base.tombstones(ids: ids, since: place)
    }

    func currentToken() async throws(RemoteError) -> ResumeToken {
        let token = try await run(.currentToken) { () async throws(RemoteError) in
            try await base.currentToken()
        }
        note(token)
        return token
    }

    func changes(
        after token: ResumeToken, limit: Int, waitingUpTo wait: Duration
    ) async throws(RemoteError) -> RemoteChangeBatch {
        try await history(after: token) { () async throws(RemoteError) in
            try await base.changes(after: token, limit: limit, waitingUpTo: wait)
        }
    }

    func changes(
        after token: ResumeToken, limit: Int, waitingUpTo wait: Duration,
        leavingOut own: OwnOperations
    ) async throws(RemoteError) -> RemoteChangeBatch {
        try await history(after: token) { () async throws(RemoteError) in
            try await base.changes(
                after: token, limit: limit, waitingUpTo: wait, leavingOut: own)
        }
    }

    private func history(
        after token: ResumeToken, _ read: () async throws(RemoteError) -> RemoteChangeBatch
    ) async throws(RemoteError) -> RemoteChangeBatch {
        if owner.state.withLock({ $0.forgotten.contains(token) }) {
            throw RemoteError(.historyLost, code: 286, "the remote forgot its history")
        }
        let batch = try await run(.changes, read)
        note(batch.token)
        return batch
    }

    private func note(_ token: ResumeToken) {
        owner.state.withLock { _ = $0.known.insert(token) }
    }
}
