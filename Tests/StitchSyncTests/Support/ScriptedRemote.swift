import BSONStore

@testable import StitchSync

/// A request of the engine to a remote.
struct RemoteCall: Sendable {
    enum Kind: String, Sendable { case find, query, versions, write, token, changes }

    let index: Int
    let namespace: Namespace
    let kind: Kind
    let documentIDs: [BSONValue]
    var writes: [RemoteWrite] = []
    /// The time that the remote may wait for a change.
    var wait = Duration.zero
}

/// Runs a script before and after each call to the remote behind it.
///
/// A script that throws before a call loses the request; after a call, the answer.
final class ScriptedRemote: Remote {
    typealias Script = @Sendable (RemoteCall) async throws -> Void

    struct State: Sendable {
        var calls = 0
        var before: Script?
        var after: Script?
        var outcomes: (@Sendable (RemoteCall, [RemoteWriteOutcome]) -> [RemoteWriteOutcome])?
        var found: (@Sendable (RemoteChangeBatch) -> Void)?
        /// The requests for identities, counts and tombstones, which no script sees.
        var otherCalls = 0
        /// The waits for changes that ended at their time limit, without one.
        var endedWaits = 0
        /// Whether the history tells documents, as servers do.
        var tells = false
    }

    /// Those that a test has made.
    @TaskLocal static var made: Locked<[ScriptedRemote]>?

    let base: any Remote
    let state = Locked(State())

    init(_ base: any Remote) {
        self.base = base
        Self.made?.withLock { $0.append(self) }
    }

    /// Runs a test, after which no script keeps what it spoke of: the engine that has this remote.
    static func forgettingScripts(_ body: () async throws -> Void) async throws {
        let made = Locked<[ScriptedRemote]>([])
        defer {
            for remote in made.withLock({ $0 }) {
                let scripts = remote.state.withLock { state in
                    defer { state = State(calls: state.calls) }
                    return state
                }
                // Not under the lock: what goes with them may ask the remote.
                withExtendedLifetime(scripts) {}
            }
        }
        try await $made.withValue(made, operation: body)
    }

    func collection(_ namespace: Namespace) -> any RemoteCollection {
        ScriptedCollection(base: base.collection(namespace), owner: self, namespace: namespace)
    }

    var reachability: AsyncStream<Bool>? { base.reachability }

    func before(_ script: Script?) { state.withLock { $0.before = script } }
    func after(_ script: Script?) { state.withLock { $0.after = script } }

    /// Has one request of a kind get lost, or the answer to it; counts those that come from now on.
    ///
    /// - Parameter number: which of them gets lost, from 1 on.
    @discardableResult
    func lose(
        _ kind: RemoteCall.Kind, number lost: Int, isAnswer: Bool = false
    ) -> Locked<Int> {
        let counted = Locked(0)
        let script: Script = { call in
            guard call.kind == kind else { return }
            let number = counted.withLock { count in
                count += 1
                return count
            }
            if number == lost { throw RemoteError(.retryable, "lost") }
        }
        if isAnswer { after(script) } else { before(script) }
        return counted
    }

    /// Receives what readings of the history find.
    func found(_ note: (@Sendable (RemoteChangeBatch) -> Void)?) {
        state.withLock { $0.found = note }
    }

    /// Changes what the remote says of writes.
    func outcomes(
        _ change: (@Sendable (RemoteCall, [RemoteWriteOutcome]) -> [RemoteWriteOutcome])?
    ) {
        state.withLock { $0.outcomes = change }
    }

    var calls: Int { state.withLock { $0.calls } }
    var otherCalls: Int { state.withLock { $0.otherCalls } }
    var endedWaits: Int { state.withLock { $0.endedWaits } }
}

struct ScriptedCollection: RemoteCollection {
    let base: any RemoteCollection
    let owner: ScriptedRemote
    let namespace: Namespace

    private func run<R>(
        _ kind: RemoteCall.Kind, _ ids: [BSONValue], _ writes: [RemoteWrite] = [],
        wait: Duration = .zero,
        _ body: () async throws(RemoteError) -> R
    ) async throws(RemoteError) -> R {
        let (call, before) = owner.state.withLock { state in
            state.calls += 1
            return (
                RemoteCall(
                    index: state.calls, namespace: namespace, kind: kind, documentIDs: ids,
                    writes: writes, wait: wait),
                state.before
            )
        }
        try await script(before, call)
        let result = try await body()
        try await script(owner.state.withLock { $0.after }, call)
        return result
    }

    private func script(
        _ script: ScriptedRemote.Script?, _ call: RemoteCall
    ) async throws(RemoteError) {
        do {
            try await script?(call)
        } catch let error as RemoteError {
            throw error
        } catch {
            throw RemoteError(.retryable, "the script failed: \(error)")
        }
    }

    func find(ids: [BSONValue]) async throws(RemoteError) -> [RemoteLookup] {
        try await find(ids: ids, bytesMax: .max).compactMap { $0 }
    }

    func find(
        ids: [BSONValue], bytesMax: Int
    ) async throws(RemoteError) -> [RemoteLookup?] {
        try await run(.find, ids) { () async throws(RemoteError) in
            try await base.find(ids: ids, bytesMax: bytesMax)
        }
    }

    func find(
        matching filter: BSONDocument, after last: BSONValue?, limit: Int
    ) async throws(RemoteError) -> RemotePage {
        try await run(.query, last.map { [$0] } ?? []) { () async throws(RemoteError) in
            try await base.find(matching: filter, after: last, limit: limit)
        }
    }

    func versions(
        matching filter: BSONDocument, after last: BSONValue?, limit: Int
    ) async throws(RemoteError) -> RemoteVersionPage {
        try await run(.query, last.map { [$0] } ?? []) { () async throws(RemoteError) in
            try await base.versions(matching: filter, after: last, limit: limit)
        }
    }

    func versions(ids: [BSONValue]) async throws(RemoteError) -> [RemoteVersionLookup] {
        try await run(.versions, ids) { () async throws(RemoteError) in
            try await base.versions(ids: ids)
        }
    }

    func write(_ writes: [RemoteWrite]) async throws(RemoteError) -> [RemoteWriteOutcome] {
        let ids = writes.map(\.documentID)
        let outcomes = try await run(.write, ids, writes) { () async throws(RemoteError) in
            try await base.write(writes)
        }
        let (change, index) = owner.state.withLock { ($0.outcomes, $0.calls) }
        let call = RemoteCall(index: index, namespace: namespace, kind: .write, documentIDs: ids)
        return change?(call, outcomes) ?? outcomes
    }

    func write(
        _ writes: [RemoteWrite], exchanging paths: [String]
    ) async throws(RemoteError) -> [RemoteWriteOutcome]? {
        try await run(.write, writes.map(\.documentID), writes) { () async throws(RemoteError) in
            try await base.write(writes, exchanging: paths)
        }
    }

    func count(matching filter: BSONDocument) async throws(RemoteError) -> Int? {
        owner.state.withLock { $0.otherCalls += 1 }
        return try await base.count(matching: filter)
    }

    func identity() async throws(RemoteError) -> RemoteIdentity {
        owner.state.withLock { $0.otherCalls += 1 }
        return try await base.identity()
    }

    var connectionNumber: UInt64? { base.connectionNumber }

    func tombstones(
        ids: [BSONValue], since place: ResumeToken?
    ) async throws(RemoteError) -> [RemoteTombstone?] {
        owner.state.withLock { $0.otherCalls += 1 }
        return try await base.tombstones(ids: ids, since: place)
    }

    func currentToken() async throws(RemoteError) -> ResumeToken {
        try await run(.token, []) { () async throws(RemoteError) in try await base.currentToken() }
    }

    func changes(
        after token: ResumeToken, limit: Int, waitingUpTo wait: Duration
    ) async throws(RemoteError) -> RemoteChangeBatch {
        try await history(wait) { () async throws(RemoteError) in
            try await base.changes(after: token, limit: limit, waitingUpTo: wait)
        }
    }

    func changes(
        after token: ResumeToken, limit: Int, waitingUpTo wait: Duration,
        leavingOut own: OwnOperations
    ) async throws(RemoteError) -> RemoteChangeBatch {
        try await history(wait) { () async throws(RemoteError) in
            try await base.changes(
                after: token, limit: limit, waitingUpTo: wait, leavingOut: own)
        }
    }

    private func history(
        _ wait: Duration, _ read: () async throws(RemoteError) -> RemoteChangeBatch
    ) async throws(RemoteError) -> RemoteChangeBatch {
        let start = ContinuousClock.now
        let batch = try await run(.changes, [], wait: wait, read)
        if wait > .zero, batch.changes.isEmpty, .now - start >= wait {
            owner.state.withLock { $0.endedWaits += 1 }
        }
        owner.state.withLock { $0.found }?(batch)
        guard !owner.state.withLock({ $0.tells }) else {
            return RemoteChangeBatch(
                changes: batch.changes.map { $0.told() }, token: batch.token,
                hasMore: batch.hasMore)
        }
        return batch
    }
}
