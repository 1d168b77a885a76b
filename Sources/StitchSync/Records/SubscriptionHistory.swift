internal import BSONStore

/// The relevant subscription sets: the active one and all later ones.
struct SubscriptionHistory: Sendable, Hashable {
    /// The sets that are not superseded, in the order of their versions; never empty.
    private(set) var sets: [SubscriptionSet]

    /// Makes a history of the empty set.
    init() { sets = [.first] }

    /// Makes a history of stored sets, in the order of their versions.
    init(kept: [SubscriptionSet]) { sets = kept.isEmpty ? [.first] : kept }

    /// The set that was committed last, in any state.
    var latest: SubscriptionSet { sets[sets.count - 1] }

    /// The set whose documents are on the device: the last complete one, or the first of all.
    var active: SubscriptionSet { sets.last { $0.state == .complete } ?? sets[0] }

    /// The sets that the remote has not answered yet, in order.
    var unanswered: [SubscriptionSet] {
        sets.filter { $0.state == .pending || $0.state == .bootstrapping }
    }

    /// The unanswered sets without the empty first one.
    var waiting: [SubscriptionSet] { unanswered.filter { $0.version > 0 } }

    /// The set that is being downloaded.
    var coming: SubscriptionSet? { sets.first { $0.state == .bootstrapping } }

    /// The subscriptions whose documents are on the device.
    var held: HeldSubscriptions {
        if let held = sets.last(where: { $0.held != nil })?.held { return held }
        let active = active
        return HeldSubscriptions(active.subscriptions, active.queries)
    }

    /// Returns whether the remote refused every query on a collection that still counts.
    func hasRefusedAll(of namespace: Namespace) -> Bool {
        let isRefused = sets.contains { set in
            if case .error = set.state { set.asks(of: namespace) } else { false }
        }
        return isRefused && !held.queries.asks(of: namespace)
            && !waiting.contains { $0.asks(of: namespace) }
    }

    /// Returns the queries of a set whose documents are not on the device, in the order in which they
    /// are asked for.
    ///
    /// - Parameter isOrdered: whether queries that can be asked for together follow each other; `false`
    ///   for the order of the subscriptions.
    func newQueries(of set: SubscriptionSet, isOrdered: Bool) -> [SubscriptionQuery] {
        var seen = held.queries.all
        let queries = set.subscriptions.map(\.query).filter { seen.insert($0).inserted }
        return isOrdered ? QueryGroup.order(queries) : queries
    }

    /// Returns the state of a version; a version without a stored set was superseded, or waits
    /// for the later set that is asked for in its place.
    func state(of version: Int64) -> SubscriptionState? {
        guard version >= 0, let next = sets.first(where: { $0.version >= version }) else {
            return nil
        }
        if next.version == version { return next.state }
        return switch next.state {
        case .pending, .bootstrapping: .pending
        case .complete, .error, .superseded: .superseded
        }
    }

    /// Stores which subscriptions keep documents on the device after the remote refused queries of
    /// a set.
    mutating func hold(_ held: HeldSubscriptions, of version: Int64) {
        guard let index = sets.firstIndex(where: { $0.version == version }) else { return }
        sets[index].held = held
    }

    /// Commits a changed set; every update makes a version, even one without a change.
    @discardableResult
    mutating func commit(_ changes: SubscriptionChanges) -> SubscriptionSet {
        let made = SubscriptionSet(
            version: latest.version + 1, state: .pending,
            subscriptions: changes.subscriptions)
        sets.append(made)
        return made
    }

    /// Applies an event to a version.
    ///
    /// - Returns: whether the event is legal; an illegal one changes nothing.
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
            switch next {
            case .complete: sets.removeSubrange(..<index)
            case .error:
                // The active set stays; those between it and this one are superseded.
                let first = (sets.firstIndex { $0.version == active.version } ?? -1) + 1
                if first < index { sets.removeSubrange(first..<index) }
            case .pending, .bootstrapping, .superseded: break
            }
            return true
        }
    }
}
