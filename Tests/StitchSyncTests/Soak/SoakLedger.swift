import BSONStore

@testable import StitchSync

/// What the devices of a soak wrote, kept outside of every store, and the counts of what happened.
final class SoakLedger: Sendable {
    private struct State {
        /// The content that each document has after the last acknowledged write; `nil` if deleted.
        var own: [String: BSONDocument?] = [:]
        /// The number that each device wrote last into each shared document.
        var shared: [String: [String: Int32]] = [:]
        var tally = SoakTally()
    }

    private let state = Locked(State())

    /// The counts so far.
    var tally: SoakTally { state.withLock { $0.tally } }

    /// The documents that only one device writes, as they were written last.
    var own: [String: BSONDocument?] { state.withLock { $0.own } }

    /// The numbers of each shared document by device.
    var shared: [String: [String: Int32]] { state.withLock { $0.shared } }

    /// Changes the counts.
    func count(_ change: (inout SoakTally) -> Void) { state.withLock { change(&$0.tally) } }

    /// Notes an acknowledged write of a document that only its device writes.
    func note(_ id: String, _ document: BSONDocument?) {
        state.withLock { $0.own[id] = .some(document) }
    }

    /// Notes an acknowledged write of a device's field in a shared document.
    func note(_ id: String, _ number: Int32, by device: String) {
        state.withLock { $0.shared[id, default: [:]][device] = number }
    }

    /// Notes something that must not happen.
    func surprise(_ text: String) {
        count { tally in if tally.surprises.count < 20 { tally.surprises.append(text) } }
    }
}

/// The counts of a soak.
struct SoakTally: Sendable, CustomStringConvertible {
    var inserts = 0
    var updates = 0
    var deletes = 0
    /// Writes that the rules refuse.
    var forbidden = 0
    /// Refused writes that the listener was told of.
    var reverted = 0
    /// Conflicts that a handler was asked about, each with a change by another device.
    var conflicts = 0
    var cuts = 0
    var kills = 0
    /// Reports that the server cannot be reached.
    var unreachable = 0
    /// What must not happen.
    var surprises: [String] = []

    /// Whether each kind of event happened at least once, or something that must not happen did.
    var isComplete: Bool {
        !surprises.isEmpty
            || [inserts, updates, deletes, forbidden, cuts, kills].allSatisfy { $0 > 0 }
    }

    var description: String {
        """
        \(inserts) inserts, \(updates) updates, \(deletes) deletes; \(forbidden) forbidden writes, \
        \(reverted) of them reported as reverted; \(conflicts) conflicts; \(cuts) cut connections, \
        \(kills) killed servers, \(unreachable) reports that the server cannot be reached; \
        surprises: \(surprises)
        """
    }
}
