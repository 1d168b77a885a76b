internal import BSONStore

/// Keeps the sets of subscriptions that count: the active one, and all that came later.
struct SubscriptionHistory: Sendable, Hashable {
    /// The sets that are not superseded, in the order of their versions; never empty.
    private(set) var sets: [SubscriptionSet]

    /// Begins with the empty set.
    init() { sets = [.first] }

    /// Takes sets as they were kept, in the order of their versions.
    init(kept: [SubscriptionSet]) { sets = kept.isEmpty ? [.first] : kept }

    /// The set that was committed last, whatever became of it.
    var latest: SubscriptionSet { sets[sets.count - 1] }

    /// The set whose documents are here: the last complete one, or the first of all.
    var active: SubscriptionSet { sets.last { $0.state == .complete } ?? sets[0] }

    /// The sets that the remote has yet to answer, in their order.
    var unanswered: [SubscriptionSet] {
        sets.filter { $0.state == .pending || $0.state == .bootstrapping }
    }

    /// Those that somebody made.
    var waiting: [SubscriptionSet] { unanswered.filter { $0.version > 0 } }

    /// The set whose documents are coming in.
    var coming: SubscriptionSet? { sets.first { $0.state == .bootstrapping } }

    /// What a set asks for that is not here already.
    func newQueries(of set: SubscriptionSet) -> [SubscriptionQuery] {
        var seen = Set(active.subscriptions.map(\.query))
        return set.subscriptions.map(\.query).filter { seen.insert($0).inserted }
    }

    /// The set of a version; one that is no longer kept was superseded.
    func state(of version: Int64) -> SubscriptionState? {
        if let kept = sets.first(where: { $0.version == version }) { return kept.state }
        return version >= 0 && version < latest.version ? .superseded : nil
    }

    /// Commits a changed set: every update makes a version, also one that changed nothing.
    @discardableResult
    mutating func commit(_ changes: SubscriptionChanges) -> SubscriptionSet {
        let made = SubscriptionSet(
            version: latest.version + 1, state: .pending,
            subscriptions: changes.subscriptions)
        sets.append(made)
        return made
    }

    /// Carries out what happened to a version.
    ///
    /// - Returns: whether it could happen to it; nothing is changed where not.
    mutating func apply(_ event: SubscriptionEvent, to version: Int64) -> Bool {
        guard let state = state(of: version) else { return false }
        switch SubscriptionDecision.decide(state, event) {
        case .stay: return true
        case .violation: return false
        case .become(let next):
            guard let index = sets.firstIndex(where: { $0.version == version }) else {
                return false
            }
            sets[index].state = next
            // The documents of sets before it are no longer asked for.
            if next == .complete { sets.removeSubrange(..<index) }
            return true
        }
    }
}
