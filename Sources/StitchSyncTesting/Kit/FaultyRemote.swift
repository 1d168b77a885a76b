public import BSONStore
public import StitchSync

/// Loses, fails and interrupts requests to the remote behind it, as a test says.
///
/// What is said is for the next request of a kind, in the order in which it was said.
public final class FaultyRemote: Remote {
    /// The kinds of requests that the engine makes.
    public enum Request: String, Sendable, Hashable, CaseIterable {
        /// Looks for documents.
        case find
        /// Lists of versions.
        case versions
        /// Conditional writes.
        case write
        /// The place after all that is in the history.
        case currentToken
        /// Parts of the history.
        case changes
    }

    /// What happens to a request.
    public enum Fault: Sendable {
        /// It never arrives; the engine sees a lost connection.
        case loseRequest
        /// It is carried out, but nobody hears of it; the engine sees a lost connection.
        case loseAnswer
        /// It is answered with this error, and for writes each of them is; nothing is carried out.
        case fail(RemoteError)
        /// Something happens before it arrives.
        case interrupt(@Sendable () async throws -> Void)
    }

    struct State: Sendable {
        var faults: [Request: [Fault]] = [:]
        var requests: [Request] = []
        /// Places in the history that were told of, and those of them that are forgotten.
        var known: Set<ResumeToken> = []
        var forgotten: Set<ResumeToken> = []
    }

    let base: any Remote
    let state = Locked(State())

    /// Takes the remote that requests go to.
    public init(_ base: any Remote) { self.base = base }

    /// The collection of a namespace.
    public func collection(_ namespace: Namespace) -> any RemoteCollection {
        FaultyCollection(base: base.collection(namespace), owner: self)
    }

    /// What the remote behind tells.
    public var reachability: AsyncStream<Bool>? { base.reachability }

    /// Says what happens to the next request of a kind for which nothing was said yet.
    public func next(_ request: Request, _ fault: Fault) {
        state.withLock { $0.faults[request, default: []].append(fault) }
    }

    /// Has the remote forget its history: who reads on from a place that it told of before is told
    /// that the place is lost.
    public func loseHistory() { state.withLock { $0.forgotten = $0.known } }

    /// All requests so far.
    public var requests: [Request] { state.withLock { $0.requests } }

    /// Faults that were said and have not happened.
    public var waitingFaults: Int { waitingRequests.count }

    /// The kinds of requests for which faults wait, each as often as it has one.
    package var waitingRequests: [Request] {
        let faults = state.withLock { $0.faults }
        return Request.allCases.flatMap { kind in (faults[kind] ?? []).map { _ in kind } }
    }

    /// Notes a request, and takes what is to happen to it.
    fileprivate func fault(of request: Request) -> Fault? {
        state.withLock { state in
            state.requests.append(request)
            guard state.faults[request]?.isEmpty == false else { return nil }
            return state.faults[request]?.removeFirst()
        }
    }
}

private struct FaultyCollection: RemoteCollection {
    let base: any RemoteCollection
    let owner: FaultyRemote

    private func run<R>(
        _ request: FaultyRemote.Request, _ body: () async throws(RemoteError) -> R
    ) async throws(RemoteError) -> R {
        switch owner.fault(of: request) {
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
        if owner.state.withLock({ $0.forgotten.contains(token) }) {
            throw RemoteError(.historyLost, code: 286, "the remote forgot its history")
        }
        let batch = try await run(.changes) { () async throws(RemoteError) in
            try await base.changes(after: token, limit: limit, waitingUpTo: wait)
        }
        note(batch.token)
        return batch
    }

    private func note(_ token: ResumeToken) {
        owner.state.withLock { _ = $0.known.insert(token) }
    }
}
