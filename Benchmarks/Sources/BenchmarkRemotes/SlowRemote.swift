package import BSONStore
package import StitchSync
import Synchronization

/// Answers each request some milliseconds later, and counts what crosses.
package struct SlowRemote: Remote {
    private let base: any Remote
    private let delay: Duration
    /// What crossed.
    package let traffic = Traffic()

    /// Stands before a remote.
    package init(base: any Remote, delay: Duration) {
        self.base = base
        self.delay = delay
    }

    package var attachments: (any RemoteAttachments)? { base.attachments }

    package func collection(_ namespace: Namespace) -> any RemoteCollection {
        SlowCollection(base: base.collection(namespace), delay: delay, traffic: traffic)
    }
}

/// Counts requests and the bytes of documents, ids and versions in both directions.
package final class Traffic: Sendable {
    package struct Counts: Sendable {
        package var requests = 0
        package var sentBytes = 0
        package var receivedBytes = 0
    }

    private let counts = Mutex(Counts())

    /// Counts one request; `nil` reads without counting.
    func add(sent: Int = 0, received: Int = 0) {
        counts.withLock { counts in
            counts.requests += 1
            counts.sentBytes += sent
            counts.receivedBytes += received
        }
    }

    /// What was counted, from nothing again.
    package func take() -> Counts {
        counts.withLock { counts in
            defer { counts = Counts() }
            return counts
        }
    }
}

private struct SlowCollection: RemoteCollection {
    let base: any RemoteCollection
    let delay: Duration
    let traffic: Traffic

    private func wait() async throws(RemoteError) {
        guard delay != .zero else { return }
        do {
            try await ContinuousClock().sleep(for: delay)
        } catch {
            throw RemoteError(.retryable, "cancelled")
        }
    }

    func find(ids: [BSONValue]) async throws(RemoteError) -> [RemoteLookup] {
        try await find(ids: ids, bytesMax: .max).compactMap { $0 }
    }

    func find(
        ids: [BSONValue], bytesMax: Int
    ) async throws(RemoteError) -> [RemoteLookup?] {
        try await wait()
        let found = try await base.find(ids: ids, bytesMax: bytesMax)
        let received = found.reduce(0) { sum, lookup in
            if case .found(let document) = lookup { sum + document.byteCount } else { sum }
        }
        traffic.add(sent: ids.byteCount, received: received)
        return found
    }

    func versions(ids: [BSONValue]) async throws(RemoteError) -> [RemoteVersionLookup] {
        try await wait()
        let found = try await base.versions(ids: ids)
        let received = found.reduce(0) { sum, lookup in
            guard case .found(let version, _) = lookup, let value = version.value else {
                return sum
            }
            return sum + BSONDocument([("v", value)]).byteCount
        }
        traffic.add(sent: ids.byteCount, received: received)
        return found
    }

    func write(_ writes: [RemoteWrite]) async throws(RemoteError) -> [RemoteWriteOutcome] {
        try await wait()
        traffic.add(sent: writes.reduce(0) { $0 + $1.byteCount })
        return try await base.write(writes)
    }

    func identity() async throws(RemoteError) -> RemoteIdentity { try await base.identity() }

    func tombstones(
        ids: [BSONValue], since place: ResumeToken?
    ) async throws(RemoteError) -> [RemoteTombstone?] {
        try await base.tombstones(ids: ids, since: place)
    }

    func currentToken() async throws(RemoteError) -> ResumeToken {
        try await wait()
        traffic.add()
        return try await base.currentToken()
    }

    func changes(
        after token: ResumeToken, limit: Int, waitingUpTo wait: Duration
    ) async throws(RemoteError) -> RemoteChangeBatch {
        try await self.wait()
        let batch = try await base.changes(after: token, limit: limit, waitingUpTo: wait)
        let received = batch.changes.reduce(0) { sum, change in
            sum
                + BSONDocument([("id", change.documentID), ("v", change.version?.value ?? .null)])
                .byteCount
        }
        traffic.add(received: received)
        return batch
    }
}

extension [BSONValue] {
    fileprivate var byteCount: Int { BSONArray(self).document.byteCount }
}

extension RemoteWrite {
    fileprivate var byteCount: Int {
        let action =
            switch action {
            case .insert(let document), .replace(let document): document.byteCount
            case .update(let set, let unset):
                set.byteCount + unset.reduce(0) { $0 + $1.utf8.count }
            case .delete: 0
            }
        let version = condition.version.value.map { BSONDocument([("v", $0)]).byteCount } ?? 0
        return action + version + condition.values.byteCount + (condition.content?.byteCount ?? 0)
            + [documentID].byteCount
    }
}
