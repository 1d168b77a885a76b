internal import BSONStore

/// The snapshots that clients read outside of transactions, by their times.
///
/// Source: the drivers' specification "Snapshot Reads".
final class SnapshotTable: Sendable {
    /// The maximum number of snapshots; a new one replaces the least recently read one.
    static let countMax = 32
    /// The maximum number of one user's snapshots; a new one replaces the user's own.
    static let ofOneMax = 16
    /// The lifetime of an unused snapshot.
    static let idleMax: Duration = .seconds(60)
    /// The lifetime of a used snapshot, since the store's log keeps everything overwritten since.
    ///
    /// Source: the server's parameter `minSnapshotHistoryWindowInSeconds`.
    static let lifetime: Duration = .seconds(300)

    private struct Entry: Sendable {
        let snapshot: OpenTransaction<ReadTransaction>
        /// The key of the owner.
        let owner: [UInt8]
        let startedAt = ContinuousClock.now
        var lastUsed: ContinuousClock.Instant
    }

    private let entries = Locked<[BSONTimestamp: Entry]>([:])

    /// Reads the snapshot of a time; a new one is the current state.
    ///
    /// - Throws: 239 (SnapshotTooOld) when the snapshot is gone.
    func read<R>(
        _ request: SnapshotRequest, of owner: [UInt8], _ store: DocumentStore,
        _ body: (ReadTransaction) throws -> R
    ) throws -> R {
        // An in-memory store has one connection, which a snapshot would hold.
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

    /// Reads a snapshot, which may end before or during the read.
    private func use<R>(
        _ snapshot: OpenTransaction<ReadTransaction>, _ time: BSONTimestamp,
        _ body: (ReadTransaction) throws -> R
    ) throws -> R {
        do {
            return try snapshot.use(body)
        } catch {
            let code = CommandFailure(error).code
            let isEnded = entries.withLock { $0[time] == nil }
            // Ending a snapshot interrupts its reader.
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
            // When too many exist in total, the user with the most snapshots gives one up.
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
        ended?.giveUp()
    }

    /// Ends the snapshots that are too old, or that no command has read for a while.
    ///
    /// Commands that read them are interrupted, and not waited for.
    func endIdle(_ idle: Duration = idleMax, olderThan age: Duration = lifetime) {
        let birth = ContinuousClock.now - age
        let ended = entries.withLock { entries in
            let ended = entries.filter {
                $0.value.startedAt <= birth || $0.value.snapshot.hasBeenIdle(for: idle)
            }
            for time in ended.keys { entries[time] = nil }
            return ended.values.map(\.snapshot)
        }
        for snapshot in ended { snapshot.giveUp() }
    }

    /// Ends all snapshots, interrupts their readers and waits for them.
    func endAll() {
        let all = entries.withLock { entries in
            defer { entries = [:] }
            return entries.values.map(\.snapshot)
        }
        for snapshot in all { snapshot.giveUp() }
        for snapshot in all { snapshot.abort() }
    }
}
