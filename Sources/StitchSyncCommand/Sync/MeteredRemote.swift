import BSONStore
import StitchSync

/// A remote that forwards to another one, and counts the transferred documents.
struct MeteredRemote: Remote {
    let base: any Remote
    let meter: Locked<ProgressMeter?>

    var attachments: (any RemoteAttachments)? { base.attachments }

    func collection(_ namespace: Namespace) -> any RemoteCollection {
        MeteredCollection(base: base.collection(namespace), meter: meter)
    }
}

extension MeteredRemote: DeviceIntroduction, DeviceReporter {
    func introduce(
        _ device: DeviceIdentity, backlog: @escaping @Sendable () -> DeviceBacklog?
    ) {
        (base as? any DeviceIntroduction)?.introduce(device, backlog: backlog)
    }

    func report(_ backlog: DeviceBacklog) async throws(RemoteError) {
        try await (base as? any DeviceReporter)?.report(backlog)
    }
}

private struct MeteredCollection: RemoteCollection {
    let base: any RemoteCollection
    let meter: Locked<ProgressMeter?>

    func find(ids: [BSONValue]) async throws(RemoteError) -> [RemoteLookup] {
        try await find(ids: ids, bytesMax: .max).compactMap { $0 }
    }

    func find(
        ids: [BSONValue], bytesMax: Int
    ) async throws(RemoteError) -> [RemoteLookup?] {
        let found = try await base.find(ids: ids, bytesMax: bytesMax)
        await advance(by: found.count { $0 != nil })
        return found
    }

    func find(
        matching filter: BSONDocument, after last: BSONValue?, limit: Int
    ) async throws(RemoteError) -> RemotePage {
        try await base.find(matching: filter, after: last, limit: limit)
    }

    func count(matching filter: BSONDocument) async throws(RemoteError) -> Int? {
        try await base.count(matching: filter)
    }

    func versions(
        matching filter: BSONDocument, after last: BSONValue?, limit: Int
    ) async throws(RemoteError) -> RemoteVersionPage {
        try await base.versions(matching: filter, after: last, limit: limit)
    }

    func versions(ids: [BSONValue]) async throws(RemoteError) -> [RemoteVersionLookup] {
        try await base.versions(ids: ids)
    }

    func write(_ writes: [RemoteWrite]) async throws(RemoteError) -> [RemoteWriteOutcome] {
        let outcomes = try await base.write(writes)
        await advance(by: writes.count)
        return outcomes
    }

    func write(
        _ writes: [RemoteWrite], exchanging paths: [String]
    ) async throws(RemoteError) -> [RemoteWriteOutcome]? {
        try await base.write(writes, exchanging: paths)
    }

    func identity() async throws(RemoteError) -> RemoteIdentity { try await base.identity() }

    func tombstones(
        ids: [BSONValue], since place: ResumeToken?
    ) async throws(RemoteError) -> [RemoteTombstone?] {
        try await base.tombstones(ids: ids, since: place)
    }

    func currentToken() async throws(RemoteError) -> ResumeToken {
        try await base.currentToken()
    }

    func changes(
        after token: ResumeToken, limit: Int, waitingUpTo wait: Duration
    ) async throws(RemoteError) -> RemoteChangeBatch {
        try await base.changes(after: token, limit: limit, waitingUpTo: wait)
    }

    func changes(
        after token: ResumeToken, limit: Int, waitingUpTo wait: Duration,
        leavingOut own: OwnOperations
    ) async throws(RemoteError) -> RemoteChangeBatch {
        try await base.changes(
            after: token, limit: limit, waitingUpTo: wait, leavingOut: own)
    }

    private func advance(by count: Int) async {
        await meter.withLock { $0 }?.advance(by: count)
    }
}
