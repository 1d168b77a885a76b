internal import BSONStore

/// The documents of one collection that the subscription sets match.
struct Membership {
    /// The queries whose documents are on the device; `nil` where there is none.
    private let active: QueryIndex?
    /// The queries of the set that is being downloaded; `nil` where there is none.
    private let coming: QueryIndex?
    /// The queries of the sets that the remote has not answered yet.
    private let unanswered: [QueryIndex]
    /// Whether any set, answered or not, has a subscription on the collection.
    let isAsked: Bool

    /// Makes a membership without any document.
    init() {
        active = nil
        coming = nil
        unanswered = []
        isAsked = false
    }

    init(_ history: SubscriptionHistory, of namespace: Namespace) {
        active = history.held.queries.index(of: namespace)
        coming = history.coming?.queries.index(of: namespace)
        unanswered = history.unanswered.compactMap { $0.queries.index(of: namespace) }
        isAsked = history.sets.contains { $0.asks(of: namespace) }
    }

    /// Whether documents of a set are being downloaded, so that all changes meanwhile matter.
    var isStaging: Bool { coming != nil }

    /// Returns whether a query whose documents are on the device matches a document.
    func asks(for document: BSONDocument) -> Bool { active?.matches(document) ?? false }

    /// Returns whether the set that is being downloaded matches a document.
    func expects(_ document: BSONDocument) -> Bool { coming?.matches(document) ?? false }

    /// Returns whether a local document stays on the device.
    func keeps(_ document: BSONDocument) -> Bool { asks(for: document) || expects(document) }

    /// Returns whether a local document stays, now or once all sets are answered: downloaded
    /// documents stay when their set is downloaded again.
    func mayKeep(_ document: BSONDocument) -> Bool {
        keeps(document) || unanswered.contains { $0.matches(document) }
    }

    /// Returns whether a changed document without a record has to be fetched.
    func isConcerned(by change: RemoteChange) -> Bool {
        if isStaging { return true }
        guard !change.isDelete, active != nil else { return false }
        return change.content.map { asks(for: $0.withoutVersion) } ?? true
    }
}
