internal import BSONStore

/// The state of the only member of the replica set: primary, or stepped down.
///
/// The server steps down on request, and is elected again when that time is over, since the set has
/// no other member.
///
/// Source: MongoDB's `topology_coordinator.cpp`.
final class MemberState: Sendable {
    /// The member's state as `hello` reports it.
    struct Standing: Sendable {
        /// The number of elections.
        var term: Int64 = 1
        /// The id of the last election.
        var electionID = BSONObjectID()
        /// The number of changes that drivers must learn about (`topologyVersion`).
        var changes: Int64 = 6
        /// The end of the time as a secondary; `nil` for a primary.
        var awayUntil: ContinuousClock.Instant?

        /// Whether the member accepts writes.
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
        /// The callbacks to run at the next change, by number.
        var waiters: [UInt64: @Sendable () -> Void] = [:]
        var lastNumber: UInt64 = 0
    }

    private let state = Locked(State())

    /// The current state.
    var standing: Standing {
        state.withLock { state in
            state.standing.elect(at: .now)
            return state.standing
        }
    }

    /// Makes the member a secondary for some seconds.
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

    /// Keeps a secondary from being elected for some seconds; with 0 it is elected at once.
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

    /// Calls back once when the number of changes exceeds a count; returns a closure that
    /// unsubscribes.
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
    /// Refuses a command that needs a primary while the member is a secondary.
    ///
    /// - Throws: 10107 (NotWritablePrimary), 13435 (NotPrimaryNoSecondaryOk).
    ///
    /// Source: the server's `service_entry_point_common.cpp`.
    func check(_ call: CommandCall) throws(CommandFailure) {
        let traits = call.signature.traits
        // An aggregation accepts a write concern for the stages that write.
        let writes =
            traits.contains(.writesResults)
            ? call.writesResults
            : !traits.isDisjoint(with: [.writes, .endsTransaction, .takesWriteConcern])
        let reads = !traits.isDisjoint(with: [.takesReadConcern, .checksReadPreference])
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
