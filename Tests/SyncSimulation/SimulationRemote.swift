import BSONStore
import StitchSync

/// The way from one client to the remote, on which requests and answers get lost.
struct SimulationRemote: Remote {
    let world: SimulationWorld
    let client: Int
    let life: SimulationLife
    let base: any Remote

    func collection(_ namespace: Namespace) -> any RemoteCollection {
        SimulationCollection(
            remote: self, namespace: namespace, base: base.collection(namespace))
    }
}

/// One collection as one client sees it.
struct SimulationCollection: RemoteCollection {
    /// The kinds of requests.
    enum Request: String {
        case find, page, versions, write, token, changes, identity, tombstones
    }

    let remote: SimulationRemote
    let namespace: Namespace
    let base: any RemoteCollection

    private var world: SimulationWorld { remote.world }
    private var dice: SimulationDice { remote.world.dice }

    /// The collection that the pass under way meets.
    private func target() async -> any RemoteCollection {
        await world.target(remote.client, namespace, base)
    }

    private func carry<R>(
        _ request: Request, _ body: () async throws(RemoteError) -> R
    ) async throws(RemoteError) -> R {
        try await leave(request)
        let result = try await body()
        try await arrive(request)
        return result
    }

    private func leave(_ request: Request) async throws(RemoteError) {
        dice.note("    c\(remote.client) \(request)")
        await world.willRequest(remote.client)
        guard !remote.life.isOver, await world.isReachable(remote.client),
            !dice.strikes(.lostRequest)
        else { throw RemoteError(.retryable, "the request is lost") }
        if namespace == SimulationWorld.unreadable {
            throw RemoteError(.rejected, code: 13, "not authorized")
        }
    }

    private func arrive(_ request: Request) async throws(RemoteError) {
        if dice.strikes(.lostAnswer) { throw RemoteError(.retryable, "the answer is lost") }
        await world.didRequest(remote.client)
        if remote.life.isOver { throw RemoteError(.retryable, "nobody waits for the answer") }
    }

    func find(ids: [BSONValue]) async throws(RemoteError) -> [RemoteLookup] {
        try await find(ids: ids, bytesMax: .max).compactMap { $0 }
    }

    func find(
        ids: [BSONValue], bytesMax: Int
    ) async throws(RemoteError) -> [RemoteLookup?] {
        let lookups = try await carry(.find) { () async throws(RemoteError) in
            let found = try await target().find(ids: ids, bytesMax: bytesMax)
            await world.didLook(
                remote.client, namespace, zip(ids, found).compactMap { $1 == nil ? nil : $0 })
            return found
        }
        let read = zip(ids, lookups).compactMap { id, lookup in lookup.map { (id, $0) } }
        await world.didArrive(remote.client, namespace, read.map(\.0), read.map(\.1))
        return lookups
    }

    func find(
        matching filter: BSONDocument, after last: BSONValue?, limit: Int
    ) async throws(RemoteError) -> RemotePage {
        try await carry(.page) { () async throws(RemoteError) in
            try check(filter)
            let page = try await target().find(matching: filter, after: last, limit: limit)
            await world.didPage(remote.client, namespace, page.documents.compactMap { $0["_id"] })
            return page
        }
    }

    private func check(_ filter: BSONDocument) throws(RemoteError) {
        guard filter[SimulationWorld.refusedField] != nil else { return }
        throw RemoteError(.rejected, code: 226, "not a queryable field")
    }

    func versions(
        matching filter: BSONDocument, after last: BSONValue?, limit: Int
    ) async throws(RemoteError) -> RemoteVersionPage {
        try await carry(.page) { () async throws(RemoteError) in
            try check(filter)
            return try await target().versions(matching: filter, after: last, limit: limit)
        }
    }

    func versions(ids: [BSONValue]) async throws(RemoteError) -> [RemoteVersionLookup] {
        try await carry(.versions) { () async throws(RemoteError) in
            try await target().versions(ids: ids)
        }
    }

    func identity() async throws(RemoteError) -> RemoteIdentity {
        try await carry(.identity) { () async throws(RemoteError) in
            guard world.plan.tellsIdentity else { return .unknown }
            return try await world.teller(remote.client, namespace, base).identity()
        }
    }

    func tombstones(
        ids: [BSONValue], since place: ResumeToken?
    ) async throws(RemoteError) -> [RemoteTombstone?] {
        try await carry(.tombstones) { () async throws(RemoteError) in
            try await target().tombstones(ids: ids, since: place)
        }
    }

    func currentToken() async throws(RemoteError) -> ResumeToken {
        try await carry(.token) { () async throws(RemoteError) in try await target().currentToken()
        }
    }

    func changes(
        after token: ResumeToken, limit: Int, waitingUpTo wait: Duration
    ) async throws(RemoteError) -> RemoteChangeBatch {
        let (batch, untold) = try await carry(.changes) {
            () async throws(RemoteError) -> (RemoteChangeBatch, Set<OperationID>) in
            guard await world.isKept(token), !dice.strikes(.historyLost) else {
                world.ledger.withLock { $0.noteHistoryLost(remote.client) }
                throw RemoteError(.historyLost, "the history is lost")
            }
            // Hints may be late or come twice (rule R4). What is read as evidence, after a look, is
            // the complete history or an error, which the remote promises (rules R3 and R14).
            if await !world.hasLooked(remote.client) {
                if dice.strikes(.delayedEvents) {
                    return (RemoteChangeBatch(changes: [], token: token, hasMore: false), [])
                }
                if dice.strikes(.repeatedEvents) {
                    let earlier = await world.earlier(token)
                    return try await (
                        target().changes(after: earlier, limit: limit, waitingUpTo: .zero), []
                    )
                }
            }
            let batch = try await target().changes(after: token, limit: limit, waitingUpTo: .zero)
            guard await world.hasLooked(remote.client), !batch.hasMore else { return (batch, []) }
            return await (batch, world.notLanded(remote.client, namespace))
        }
        world.ledger.withLock { $0.noteUntold(untold, remote.client) }
        // As servers do; the others only name what changed.
        guard world.plan.seed.isMultiple(of: 2) else { return batch }
        await world.didTell(remote.client, namespace, batch.changes)
        return RemoteChangeBatch(
            changes: batch.changes.map { $0.told() }, token: batch.token, hasMore: batch.hasMore)
    }

    func changes(
        after token: ResumeToken, limit: Int, waitingUpTo wait: Duration,
        leavingOut own: OwnOperations
    ) async throws(RemoteError) -> RemoteChangeBatch {
        let batch = try await changes(after: token, limit: limit, waitingUpTo: wait)
        return remote.life.streams.withLock { streams in
            let known = streams[namespace].flatMap { $0.goesOn(own, at: token) ? $0 : nil }
            var stream = known ?? EchoStream(own, at: token)
            defer { streams[namespace] = stream }
            return stream.leaveOut(of: batch)
        }
    }

    func write(_ writes: [RemoteWrite]) async throws(RemoteError) -> [RemoteWriteOutcome] {
        await world.willWrite(remote.client, namespace, writes)
        return try await carry(.write) { () async throws(RemoteError) in
            if dice.strikes(.lateRequest) {
                if await !world.isElsewhere(remote.client) { await world.keepLate(base, writes) }
                throw RemoteError(.retryable, "the request is late")
            }
            var outcomes: [RemoteWriteOutcome] = []
            for write in writes { outcomes.append(try await outcome(of: write)) }
            return outcomes
        }
    }

    /// A refusal of a write, for its content or by a rule.
    private func refusal(of write: RemoteWrite) -> RemoteError {
        guard SimulationPlan.hasSubscriptions(world.plan.seed), dice.draw({ $0.percent(50) })
        else { return RemoteError(.rejected, "not allowed") }
        return RemoteError(
            CompensatingWrite(
                objectName: namespace.collection, primaryKey: write.documentID,
                reason: "not allowed", cause: .notAllowed))
    }

    private func outcome(of write: RemoteWrite) async throws(RemoteError) -> RemoteWriteOutcome {
        if dice.strikes(.rejected) { return .failed(refusal(of: write)) }
        for (fault, errorClass) in [
            (SimulationFault.mayPass, RemoteError.Class.retryable), (.unknown, .unknown),
        ] where dice.strikes(fault) {
            if dice.draw({ $0.percent(50) }) { _ = try await target().write([write]) }
            return .failed(RemoteError(errorClass, "it may have landed"))
        }
        let outcome = try await target().write([write]).first
        if dice.strikes(.duplicate) { _ = try await target().write([write]) }
        return outcome ?? .notMatched
    }
}

/// A stream of a server that leaves each of a device's own operations out once.
struct EchoStream {
    private let own: OwnOperations
    private var position: ResumeToken
    private var left: Set<OperationID> = []

    init(_ own: OwnOperations, at token: ResumeToken) {
        self.own = own
        position = token
    }

    /// Whether the next read goes on where this stream is.
    func goesOn(_ other: OwnOperations, at token: ResumeToken) -> Bool {
        position == token && other.continues(own)
    }

    /// Returns a batch without the device's own operations, and moves on behind it.
    mutating func leaveOut(of batch: RemoteChangeBatch) -> RemoteChangeBatch {
        position = batch.token
        let told = batch.changes.filter { change in
            guard !change.isDelete, let operation = change.operation,
                operation.instance == own.last.instance, operation.sequence > own.last.sequence
            else { return true }
            return !left.insert(operation).inserted
        }
        return RemoteChangeBatch(changes: told, token: batch.token, hasMore: batch.hasMore)
    }
}
