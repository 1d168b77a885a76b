import BSONStore

@testable import StitchSync

/// Answers as a remote of an app's own does, or as MongoDB: it keeps no tombstones, and may not tell its
/// identity.
struct PlainRemote: Remote {
    let base: any Remote
    let tellsIdentity: Bool

    func collection(_ namespace: Namespace) -> any RemoteCollection {
        PlainCollection(base: base.collection(namespace), tellsIdentity: tellsIdentity)
    }
}

private struct PlainCollection: RemoteCollection {
    let base: any RemoteCollection
    let tellsIdentity: Bool

    func find(ids: [BSONValue]) async throws(RemoteError) -> [RemoteLookup] {
        try await base.find(ids: ids)
    }

    func versions(ids: [BSONValue]) async throws(RemoteError) -> [RemoteVersionLookup] {
        try await base.versions(ids: ids)
    }

    func write(_ writes: [RemoteWrite]) async throws(RemoteError) -> [RemoteWriteOutcome] {
        try await base.write(writes)
    }

    func write(
        _ writes: [RemoteWrite], exchanging paths: [String]
    ) async throws(RemoteError) -> [RemoteWriteOutcome]? {
        try await base.write(writes, exchanging: paths)
    }

    func identity() async throws(RemoteError) -> RemoteIdentity {
        tellsIdentity ? try await base.identity() : .unknown
    }

    func currentToken() async throws(RemoteError) -> ResumeToken { try await base.currentToken() }

    func changes(
        after token: ResumeToken, limit: Int, waitingUpTo wait: Duration
    ) async throws(RemoteError) -> RemoteChangeBatch {
        try await base.changes(after: token, limit: limit, waitingUpTo: wait)
    }
}
