import BSONStore
import StitchSync

/// Answers each request some milliseconds later.
struct SlowRemote: Remote {
    let base: any Remote
    let delay: Duration

    func collection(_ namespace: Namespace) -> any RemoteCollection {
        delay == .zero
            ? base.collection(namespace)
            : SlowCollection(base: base.collection(namespace), delay: delay)
    }
}

private struct SlowCollection: RemoteCollection {
    let base: any RemoteCollection
    let delay: Duration

    private func wait() async throws(RemoteError) {
        do {
            try await ContinuousClock().sleep(for: delay)
        } catch {
            throw RemoteError(.retryable, "cancelled")
        }
    }

    func find(ids: [BSONValue]) async throws(RemoteError) -> [RemoteLookup] {
        try await wait()
        return try await base.find(ids: ids)
    }

    func versions(ids: [BSONValue]) async throws(RemoteError) -> [RemoteVersionLookup] {
        try await wait()
        return try await base.versions(ids: ids)
    }

    func write(_ writes: [RemoteWrite]) async throws(RemoteError) -> [RemoteWriteOutcome] {
        try await wait()
        return try await base.write(writes)
    }

    func currentToken() async throws(RemoteError) -> ResumeToken {
        try await wait()
        return try await base.currentToken()
    }

    func changes(
        after token: ResumeToken, limit: Int, waitingUpTo wait: Duration
    ) async throws(RemoteError) -> RemoteChangeBatch {
        try await self.wait()
        return try await base.changes(after: token, limit: limit, waitingUpTo: wait)
    }
}
