internal import BSONStore

/// The documents of one collection that the subscription sets match.
struct Membership {
    /// The queries whose documents are on the device; `nil` where there is none.
    private let active: QueryIndex?
    /// The queries of the set that is being downloaded; `nil` where there is none.
    private let coming: QueryIndex?
    /// The queries of that set whose documents the app sees while they arrive; `nil` where there is
    /// none.
    private let arriving: QueryIndex?
    /// Such queries of each set that the remote has not answered yet.
    private let arrived: [QueryIndex]
    /// Whether the remote has not answered a set yet.
    private let isWaiting: Bool
    /// Whether any set, answered or not, has a subscription on the collection.
    let isAsked: Bool

    /// Makes a membership without any document.
    init() {
        active = nil
        coming = nil
        arriving = nil
        arrived = []
        isWaiting = false
        isAsked = false
    }

    init(_ history: SubscriptionHistory, of namespace: Namespace) {
        active = history.held.queries.index(of: namespace)
        coming = history.coming?.queries.index(of: namespace)
        arriving = history.coming?.arriving.index(of: namespace)
        arrived = history.waiting.compactMap { $0.arriving.index(of: namespace) }
        isWaiting = !history.waiting.isEmpty
        isAsked = history.sets.contains { $0.asks(of: namespace) }
    }

    /// Whether documents of a set are being downloaded, so that all changes meanwhile matter.
    var isStaging: Bool { coming != nil }

    /// Whether the app sees documents of that set while they arrive.
    var isShowing: Bool { arriving != nil }

    /// Returns whether a query whose documents are on the device matches a document.
    func asks(for document: BSONDocument) -> Bool { active?.matches(document) ?? false }

    /// Returns whether the set that is being downloaded matches a document.
    func expects(_ document: BSONDocument) -> Bool { coming?.matches(document) ?? false }

    /// Returns whether the app sees a document now that the set which is being downloaded matches.
    func shows(_ document: BSONDocument) -> Bool { arriving?.matches(document) ?? false }

    /// Returns whether the app sees a document now, and only because of the set that is being downloaded.
    func isShownOnly(_ document: BSONDocument) -> Bool {
        shows(document) && !asks(for: document)
    }

    /// Returns whether a local document stays on the device.
    func keeps(_ document: BSONDocument) -> Bool { asks(for: document) || expects(document) }

    /// Returns whether a local document stays on the device until the next set is active.
    ///
    /// A set whose download begins again keeps the documents that the app has seen.
    func mayStay(_ document: BSONDocument) -> Bool {
        keeps(document) || arrived.contains { $0.matches(document) }
    }

    /// Returns whether a local document is rightly on the device.
    ///
    /// It stays, or a set waits, whose activation looks at each document: what only a superseded set
    /// kept is there until then.
    func mayKeep(_ document: BSONDocument) -> Bool { isWaiting || keeps(document) }

    /// Returns whether a changed document without a record has to be fetched.
    func isConcerned(by change: RemoteChange) -> Bool {
        if isStaging { return true }
        guard !change.isDelete, active != nil else { return false }
        return change.content.map { asks(for: $0.withoutVersion) } ?? true
    }
}
