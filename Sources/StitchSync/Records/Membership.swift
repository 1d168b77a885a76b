internal import BSONStore

/// Says which documents of one collection the sets of subscriptions ask for.
struct Membership {
    /// The queries of the set whose documents are here.
    private let active: [SubscriptionQuery]
    /// The queries of the set whose documents are coming in; `nil` where none are.
    private let coming: [SubscriptionQuery]?
    /// The queries of the sets that the remote has yet to answer.
    private let unanswered: [SubscriptionQuery]
    /// Some set asks for documents of the collection, be it answered or not.
    let isAsked: Bool

    /// Asks for nothing.
    init() {
        active = []
        coming = nil
        unanswered = []
        isAsked = false
    }

    init(_ history: SubscriptionHistory, of namespace: Namespace) {
        active = history.active.queries(of: namespace)
        coming = history.coming?.queries(of: namespace)
        unanswered = history.unanswered.flatMap { $0.queries(of: namespace) }
        isAsked = history.sets.contains { $0.asks(of: namespace) }
    }

    /// Documents of a set are coming in, so that what changes meanwhile has to be seen.
    var isStaging: Bool { coming?.isEmpty == false }

    /// A query asks for a document that is not here.
    func asks(for document: BSONDocument) -> Bool { active.contains { $0.matches(document) } }

    /// A document that is not here is among those that are coming in.
    func expects(_ document: BSONDocument) -> Bool {
        coming?.contains { $0.matches(document) } ?? false
    }

    /// A query asks for a document that is here.
    func keeps(_ document: BSONDocument) -> Bool { asks(for: document) || expects(document) }

    /// A query asks for a document that is here, or will once its set is answered: documents that came
    /// for a set stay when it has to be asked for anew.
    func mayKeep(_ document: BSONDocument) -> Bool {
        keeps(document) || unanswered.contains { $0.matches(document) }
    }

    /// A change of a document that has no record is to be looked at.
    func isConcerned(by change: RemoteChange) -> Bool {
        #if ENGINE_VARIANTS
            if EngineVariant.changesPassedWhileStaging.isOn, isStaging { return false }
        #endif
        if isStaging { return true }
        if change.isDelete || active.isEmpty { return false }
        return change.content.map { asks(for: $0.withoutVersion) } ?? true
    }
}
