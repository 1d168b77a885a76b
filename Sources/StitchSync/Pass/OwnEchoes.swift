internal import BSONStore

/// Which changes a remote may leave out when an engine reads its history (rule R3).
///
/// An operation whose answer was lost is looked for in the remote's history. It may arrive after that,
/// and then only its event shows it. So each lost answer and each search begins a new era, and what a
/// wait of an earlier one found does not count.
final class OwnEchoes: Sendable {
    private struct State {
        /// The number of lost answers and of searches so far.
        var era = 0
        /// The position up to which the history of a collection was read last in this era, and the
        /// operations at that time: the events of all later ones are behind the position.
        var places: [Namespace: (token: ResumeToken, own: OwnOperations)] = [:]
    }

    private let state = Locked(State())

    /// The number of lost answers and of searches so far.
    var era: Int { state.withLock { $0.era } }

    /// Notes that an answer was lost, or that an operation without one is looked for.
    func beginEra() {
        state.withLock { state in
            state.era += 1
            state.places = [:]
        }
    }

    /// Notes that the history of a collection was just read up to a position.
    func noteReading(
        of namespace: Namespace, to token: ResumeToken, in store: DocumentStore
    ) throws {
        let own = try current(in: store)
        state.withLock { state in
            if state.era == own.era { state.places[namespace] = (token, own) }
        }
    }

    /// Returns what a remote may leave out after a position: all that came into being since the
    /// position was read, so that a reading that begins anew does not tell an engine of its uploads.
    func operations(
        of namespace: Namespace, after token: ResumeToken, in store: DocumentStore
    ) throws -> OwnOperations {
        if let place = state.withLock({ $0.places[namespace] }), place.token == token {
            return place.own
        }
        return try current(in: store)
    }

    /// Returns the era and the last operation of now.
    private func current(in store: DocumentStore) throws -> OwnOperations {
        // Read before the last operation: an era that begins meanwhile makes the value outdated, as a
        // wait finds out.
        let era = era
        return OwnOperations(
            last: try store.read { try SyncInstanceTable(connection: $0.connection).last() },
            era: era)
    }
}
