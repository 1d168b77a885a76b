internal import BSONStore

/// Whether the server is the primary of the set whose only member it is.
///
/// It steps down when it is told to, and is elected again when that time is over, since nobody else
/// can be.
///
/// Source: MongoDB's `topology_coordinator.cpp`.
final class MemberState: Sendable {
    /// What `hello` tells of the member.
    struct Standing: Sendable {
        /// Counts the elections.
        var term: Int64 = 1
        /// The last election.
        var electionID = BSONObjectID()
        /// Counts what drivers are to be told of.
        var changes: Int64 = 6
        /// Until when the member is no primary; `nil` while it is.
        var awayUntil: ContinuousClock.Instant?

        /// Whether it takes writes.
        var isPrimary: Bool { awayUntil == nil }

        fileprivate mutating func elect(at now: ContinuousClock.Instant) {
            guard let until = awayUntil, until <= now else { return }
            awayUntil = nil
            term += 1
            changes += 1
            electionID = BSONObjectID()
        }
    }

    private struct State: Sendable {
        var standing = Standing()
        /// Those who wait for a change, by a number of their own.
        var waiters: [UInt64: @Sendable () -> Void] = [:]
        var lastNumber: UInt64 = 0
    }

    private let state = Locked(State())

    /// How the member stands now.
    var standing: Standing {
        state.withLock { state in
            state.standing.elect(at: .now)
            return state.standing
        }
    }

    /// Is no primary for so many seconds.
    ///
    /// - Throws: 10107 (NotWritablePrimary).
    func stepDown(seconds: Int) throws(CommandFailure) {
        let isDown = change { standing in
            guard standing.isPrimary else { return false }
            standing.awayUntil = .now + .seconds(seconds)
            standing.changes += 1
            return true
        }
        guard isDown else { throw CommandFailure(10107, "not primary so can't step down") }
    }

    /// Is not elected for so many seconds; with 0 it is at once.
    ///
    /// - Throws: 95 (NotSecondary).
    func freeze(seconds: Int) throws(CommandFailure) {
        let isFrozen = change { standing in
            guard let until = standing.awayUntil else { return false }
            let now = ContinuousClock.now
            standing.awayUntil = seconds == 0 ? now : max(until, now + .seconds(seconds))
            standing.elect(at: now)
            return true
        }
        guard isFrozen else {
            throw CommandFailure(
                95,
                "Cannot freeze node when primary or running for election, state: Primary")
        }
    }

    /// Calls back once when the standing is another one than after so many changes; gives what
    /// takes the wish back.
    func wait(
        after changes: Int64, _ wake: @escaping @Sendable () -> Void
    ) -> @Sendable () -> Void {
        let number: UInt64? = state.withLock { state in
            guard state.standing.changes <= changes else { return nil }
            state.lastNumber += 1
            state.waiters[state.lastNumber] = wake
            return state.lastNumber
        }
        guard let number else {
            wake()
            return {}
        }
        return { [weak self] in self?.state.withLock { $0.waiters[number] = nil } }
    }

    private func change(_ body: (inout Standing) -> Bool) -> Bool {
        let (isDone, woken) = state.withLock { state in
            state.standing.elect(at: .now)
            guard body(&state.standing) else { return (false, [@Sendable () -> Void]()) }
            defer { state.waiters = [:] }
            return (true, Array(state.waiters.values))
        }
        for wake in woken { wake() }
        return isDone
    }
}

extension MemberState {
    private static let readsElsewhere: Set<String> = [
        "listCollections", "listDatabases", "listIndexes", "collStats", "dbStats",
    ]

    /// Refuses what only a primary does, while the server is none.
    ///
    /// - Throws: 10107 (NotWritablePrimary), 13435 (NotPrimaryNoSecondaryOk).
    ///
    /// Source: the server's `service_entry_point_common.cpp`.
    func check(_ rule: CommandDefinition, _ call: CommandCall) throws(CommandFailure) {
        // An aggregation takes a write concern for the stages that write.
        let writes =
            CommandCall.mayWrite.contains(rule.name)
            ? call.writesResults
            : !rule.traits.isDisjoint(with: [.writes, .endsTransaction, .takesWriteConcern])
        let reads =
            rule.traits.contains(.takesReadConcern) || Self.readsElsewhere.contains(rule.name)
        guard writes || reads, !standing.isPrimary else { return }
        guard !writes, call.transaction?.isTransaction != true else {
            throw CommandFailure(
                10107, "not primary", labels: ErrorLabels.labels(10107, call.body))
        }
        let mode = call.document("$readPreference")?["mode"]?.stringValue ?? "primary"
        guard mode != "primary" else {
            throw CommandFailure(13435, "not primary and secondaryOk=false")
        }
    }
}
