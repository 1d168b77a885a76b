internal import BSONStore

/// Holds states of the store that clients read outside of transactions, by their times.
///
/// Source: the drivers' specification "Snapshot Reads".
final class SnapshotTable: Sendable {
    /// So many states are kept at most; a further one ends the one that was read least lately.
    static let countMax = 32
    /// So many of one user are kept at most; a further one ends the user's own.
    static let ofOneMax = 16
    /// How long a state is kept that nobody reads.
    static let idleMax: Duration = .seconds(60)
    /// How long a state is kept however often it is read: what was overwritten since stays in the
    /// store's log for it.
    ///
    /// Source: the server's parameter `minSnapshotHistoryWindowInSeconds`.
    static let lifetime: Duration = .seconds(300)

    private struct Entry: Sendable {
        let snapshot: OpenTransaction<ReadTransaction>
        /// Whose it is.
        let owner: [UInt8]
        let startedAt = ContinuousClock.now
        var lastUsed: ContinuousClock.Instant
    }

    private let entries = Locked<[BSONTimestamp: Entry]>([:])

    /// Reads the state of a time; a new one is the state of now.
    ///
    /// - Throws: 239 (SnapshotTooOld) when the state is not kept any more.
    func read<R>(
        _ request: SnapshotRequest, of owner: [UInt8], _ store: DocumentStore,
        _ body: (ReadTransaction) throws -> R
    ) throws -> R {
        // A store in memory has one connection: holding a state would keep everybody else out.
        guard store.location != .inMemory else { return try store.read(body) }
        if let known = touched(request.time) { return try use(known, request.time, body) }
        guard request.isNew else { throw Self.tooOld(request.time) }
        let snapshot = try OpenTransaction.reading(store, waitingAtMost: 1_000)
        add(snapshot, request.time, of: owner)
        return try use(snapshot, request.time, body)
    }

    private static func tooOld(_ time: BSONTimestamp) -> CommandFailure {
        CommandFailure(
            239, "Read timestamp \(SnapshotRequest.text(time)) is no longer available.")
    }

    /// Reads a state, which may end before or while it is read.
    private func use<R>(
        _ snapshot: OpenTransaction<ReadTransaction>, _ time: BSONTimestamp,
        _ body: (ReadTransaction) throws -> R
    ) throws -> R {
        do {
            return try snapshot.use(body)
        } catch {
            let code = CommandFailure(error).code
            let isEnded = entries.withLock { $0[time] == nil }
            // Who ended it has interrupted the reader.
            guard isEnded, code == 11601 || code == StoreError.Code.closed.rawValue else {
                throw error
            }
            throw Self.tooOld(time)
        }
    }

    private func touched(_ time: BSONTimestamp) -> OpenTransaction<ReadTransaction>? {
        entries.withLock { entries in
            entries[time]?.lastUsed = .now
            return entries[time]?.snapshot
        }
    }

    private func add(
        _ snapshot: OpenTransaction<ReadTransaction>, _ time: BSONTimestamp, of owner: [UInt8]
    ) {
        let ended = entries.withLock { entries in
            var ended: OpenTransaction<ReadTransaction>?
            let counts = entries.values.reduce(into: [[UInt8]: Int]()) {
                $0[$1.owner, default: 0] += 1
            }
            let own = counts[owner, default: 0]
            // Who has most gives one up where there are too many in all.
            let most = counts.max { $0.value < $1.value }
            let giver = own >= Self.ofOneMax || own >= (most?.value ?? 0) ? owner : most?.key
            if own >= Self.ofOneMax || entries.count >= Self.countMax,
                let oldest = entries.filter({ $0.value.owner == giver })
                    .min(by: { $0.value.lastUsed < $1.value.lastUsed })
            {
                ended = oldest.value.snapshot
                entries[oldest.key] = nil
            }
            entries[time] = Entry(snapshot: snapshot, owner: owner, lastUsed: .now)
            return ended
        }
        ended?.abort()
    }

    /// Ends the states that nobody has read for a while, and waits for it; and those that are too
    /// old, under whoever reads them.
    func endIdle(_ idle: Duration = idleMax, olderThan age: Duration = lifetime) {
        let (limit, birth) = (ContinuousClock.now - idle, ContinuousClock.now - age)
        let (idle, old) = entries.withLock { entries in
            let old = entries.filter { $0.value.startedAt <= birth }
            for time in old.keys { entries[time] = nil }
            let idle = entries.filter { $0.value.lastUsed <= limit }
            for time in idle.keys { entries[time] = nil }
            return (idle.values.map(\.snapshot), old.values.map(\.snapshot))
        }
        for snapshot in old { snapshot.giveUp() }
        for snapshot in idle { snapshot.abort() }
    }
}

/// Says which state of the store a command reads, where that is not the newest one.
struct SnapshotRequest: Sendable, Hashable {
    /// The time of the state.
    let time: BSONTimestamp
    /// Whether the state of now is meant, to be kept under that time.
    let isNew: Bool

    /// Reads the read concern of a command; `nil` without the level `snapshot`.
    ///
    /// - Throws: 72 (InvalidOptions) with MongoDB's texts.
    init?(_ body: BSONDocument, _ rule: CommandDefinition, _ clock: ClusterClock)
        throws(CommandFailure)
    {
        let concern = body["readConcern"]?.documentValue
        let time = concern?["atClusterTime"]
        guard concern?["level"]?.stringValue == "snapshot" else {
            guard time == nil else {
                throw CommandFailure(
                    .invalidOptions,
                    "readConcern.atClusterTime is only valid with readConcern level snapshot")
            }
            return nil
        }
        guard body["autocommit"] == nil else { return nil }
        // A cursor reads the state that its command began with.
        guard rule.name != "getMore", rule.name != "killCursors" else { return nil }
        guard ["find", "aggregate", "distinct"].contains(rule.name) else {
            throw CommandFailure(
                .invalidOptions,
                "Command \(rule.name) does not support { readConcern: { level: \"snapshot\", "
                    + "provenance: \"clientSupplied\" } } :: caused by :: read concern not "
                    + "supported")
        }
        guard concern?["afterClusterTime"] == nil || time == nil else {
            throw CommandFailure(
                .invalidOptions,
                "Specifying a timestamp for readConcern snapshot in a causally consistent session "
                    + "is not allowed. See documentation for more information.")
        }
        guard let time else {
            self.time = clock.advance()
            isNew = true
            return
        }
        guard case .timestamp(let given) = time else {
            throw CommandFailure(
                .typeMismatch,
                "BSON field 'readConcern.atClusterTime' is the wrong type "
                    + "'\(time.type.alias)', expected type 'timestamp'")
        }
        self.time = given
        isNew = false
    }

    static func text(_ time: BSONTimestamp) -> String {
        "Timestamp(\(time.seconds), \(time.increment))"
    }
}
