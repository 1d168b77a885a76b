import BSONStore

@testable import StitchSync

/// Answers as the remote behind it, but for what a test twists.
struct TwistedRemote: Remote {
    let base: any Remote
    /// Changes the answer of a look; says the ids with it.
    var finds: @Sendable ([BSONValue], [RemoteLookup]) -> [RemoteLookup] = { $1 }
    /// Changes a page of a query's documents.
    var pages: @Sendable (RemotePage) -> RemotePage = { $0 }
    /// Changes a list of versions.
    var versions: @Sendable ([RemoteVersionLookup]) -> [RemoteVersionLookup] = { $0 }
    /// The fault of a single write, which then is not carried out.
    var writeFault: @Sendable (RemoteWrite) -> RemoteError? = { _ in nil }
    /// The fault of waiting for a collection's changes.
    var watchFault: @Sendable (Namespace) -> RemoteError? = { _ in nil }

    /// What is answered to a single write instead of carrying it out.
    var writeOutcome: @Sendable (RemoteWrite) -> RemoteWriteOutcome? = { _ in nil }
    /// Changes the identity of each collection.
    var identity: @Sendable (RemoteIdentity) -> RemoteIdentity = { $0 }
    /// Changes an answer about the history, which is not waited for then.
    var changes: (@Sendable (ResumeToken) -> RemoteChangeBatch)?

    func collection(_ namespace: Namespace) -> any RemoteCollection {
        TwistedCollection(base: base.collection(namespace), twist: self, namespace: namespace)
    }
}

private struct TwistedCollection: RemoteCollection {
    let base: any RemoteCollection
    let twist: TwistedRemote
    let namespace: Namespace

    func find(ids: [BSONValue]) async throws(RemoteError) -> [RemoteLookup] {
        try await find(ids: ids, bytesMax: .max).compactMap { $0 }
    }

    func find(
        ids: [BSONValue], bytesMax: Int
    ) async throws(RemoteError) -> [RemoteLookup?] {
        let found = try await base.find(ids: ids, bytesMax: bytesMax)
        let known = found.compactMap { $0 }
        return known.count == found.count ? twist.finds(ids, known) : found
    }

    func find(
        matching filter: BSONDocument, after last: BSONValue?, limit: Int
    ) async throws(RemoteError) -> RemotePage {
        twist.pages(try await base.find(matching: filter, after: last, limit: limit))
    }

    func versions(
        matching filter: BSONDocument, after last: BSONValue?, limit: Int
    ) async throws(RemoteError) -> RemoteVersionPage {
        try await base.versions(matching: filter, after: last, limit: limit)
    }

    func versions(ids: [BSONValue]) async throws(RemoteError) -> [RemoteVersionLookup] {
        twist.versions(try await base.versions(ids: ids))
    }

    func write(_ writes: [RemoteWrite]) async throws(RemoteError) -> [RemoteWriteOutcome] {
        var outcomes: [RemoteWriteOutcome] = []
        for write in writes {
            if let fault = twist.writeFault(write) {
                outcomes.append(.failed(fault))
            } else if let outcome = twist.writeOutcome(write) {
                outcomes.append(outcome)
            } else {
                outcomes += try await base.write([write])
            }
        }
        return outcomes
    }

    func write(
        _ writes: [RemoteWrite], exchanging paths: [String]
    ) async throws(RemoteError) -> [RemoteWriteOutcome]? {
        let isFree = writes.allSatisfy {
            twist.writeFault($0) == nil && twist.writeOutcome($0) == nil
        }
        return isFree ? try await base.write(writes, exchanging: paths) : nil
    }

    func identity() async throws(RemoteError) -> RemoteIdentity {
        twist.identity(try await base.identity())
    }

    func tombstones(
        ids: [BSONValue], since place: ResumeToken?
    ) async throws(RemoteError) -> [RemoteTombstone?] {
        try await base.tombstones(ids: ids, since: place)
    }

    func currentToken() async throws(RemoteError) -> ResumeToken { try await base.currentToken() }

    func changes(
        after token: ResumeToken, limit: Int, waitingUpTo wait: Duration
    ) async throws(RemoteError) -> RemoteChangeBatch {
        if let changes = twist.changes { return changes(token) }
        if wait > .zero, let fault = twist.watchFault(namespace) { throw fault }
        return try await base.changes(after: token, limit: limit, waitingUpTo: wait)
    }
}
