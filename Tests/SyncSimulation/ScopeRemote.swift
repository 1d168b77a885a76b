import BSONStore
import StitchSync

/// Calls a run before and after each request to the remote behind it.
///
/// What is thrown before a request loses the request; after it, the answer.
final class ScopeRemote: Remote {
    /// What is asked.
    struct Call: Sendable {
        var isLook = false
        var writes: [RemoteWrite] = []
    }

    typealias Hook = @Sendable (Call) async throws -> Void

    private struct Hooks {
        var before: Hook?
        var after: Hook?
    }

    private let base: any Remote
    private let hooks = Locked(Hooks())

    init(_ base: any Remote) { self.base = base }

    func hook(before: @escaping Hook, after: @escaping Hook) {
        hooks.withLock { $0 = Hooks(before: before, after: after) }
    }

    func unhook() { hooks.withLock { $0 = Hooks() } }

    func collection(_ namespace: Namespace) -> any RemoteCollection {
        ScopeCollection(remote: self, base: base.collection(namespace))
    }

    func before(_ call: Call) async throws(RemoteError) {
        try await run(hooks.withLock { $0.before }, call)
    }

    func after(_ call: Call) async throws(RemoteError) {
        try await run(hooks.withLock { $0.after }, call)
    }

    private func run(_ hook: Hook?, _ call: Call) async throws(RemoteError) {
        do {
            try await hook?(call)
        } catch let error as RemoteError {
            throw error
        } catch {
            throw RemoteError(.retryable, "the hook failed: \(error)")
        }
    }
}

/// One collection of a hooked remote.
private struct ScopeCollection: RemoteCollection {
    let remote: ScopeRemote
    let base: any RemoteCollection

    func find(ids: [BSONValue]) async throws(RemoteError) -> [RemoteLookup] {
        try await find(ids: ids, bytesMax: .max).compactMap { $0 }
    }

    func find(
        ids: [BSONValue], bytesMax: Int
    ) async throws(RemoteError) -> [RemoteLookup?] {
        let call = ScopeRemote.Call(isLook: true)
        try await remote.before(call)
        let found = try await base.find(ids: ids, bytesMax: bytesMax)
        try await remote.after(call)
        return found
    }

    func versions(ids: [BSONValue]) async throws(RemoteError) -> [RemoteVersionLookup] {
        try await remote.before(ScopeRemote.Call())
        let found = try await base.versions(ids: ids)
        try await remote.after(ScopeRemote.Call())
        return found
    }

    func write(_ writes: [RemoteWrite]) async throws(RemoteError) -> [RemoteWriteOutcome] {
        let call = ScopeRemote.Call(writes: writes)
        try await remote.before(call)
        let outcomes = try await base.write(writes)
        try await remote.after(call)
        return outcomes
    }

    func identity() async throws(RemoteError) -> RemoteIdentity { try await base.identity() }

    func tombstones(
        ids: [BSONValue], since place: ResumeToken?
    ) async throws(RemoteError) -> [RemoteTombstone?] {
        try await base.tombstones(ids: ids, since: place)
    }

    func currentToken() async throws(RemoteError) -> ResumeToken {
        try await remote.before(ScopeRemote.Call())
        let token = try await base.currentToken()
        try await remote.after(ScopeRemote.Call())
        return token
    }

    func changes(
        after token: ResumeToken, limit: Int, waitingUpTo wait: Duration
    ) async throws(RemoteError) -> RemoteChangeBatch {
        try await remote.before(ScopeRemote.Call())
        let batch = try await base.changes(after: token, limit: limit, waitingUpTo: wait)
        try await remote.after(ScopeRemote.Call())
        return batch
    }
}
