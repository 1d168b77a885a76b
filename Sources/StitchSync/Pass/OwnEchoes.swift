internal import BSONStore

/// Which changes a remote may leave out when an engine reads its history (rule R3).
///
/// An operation whose answer was lost is looked for in the remote's history. It may arrive after that,
/// and then only its event shows it. So each lost answer and each search begins a new era, and what a
/// wait of an earlier one found does not count.
final class OwnEchoes: Sendable {
    private let number = Locked(0)

    /// The number of lost answers and of searches so far.
    var era: Int { number.withLock { $0 } }

    /// Notes that an answer was lost, or that an operation without one is looked for.
    func beginEra() { number.withLock { $0 += 1 } }

    /// Returns what a remote may leave out from now on.
    func operations(of store: DocumentStore) throws -> OwnOperations {
        // Read before the last operation: an era that begins meanwhile makes the value outdated, as a
        // wait finds out.
        let era = era
        return OwnOperations(
            last: try store.read { try SyncInstanceTable(connection: $0.connection).last() },
            era: era)
    }
}
