package import BSONStore

/// A change as a user sees it.
package struct VisibleChange: Sendable, Hashable {
    /// The way in which a visible change differs from the actual one.
    package enum VisibilityTransition: String, Sendable, Hashable {
        /// The document became visible to the user; it already existed.
        case entered = "enteredView"
        /// The document became hidden from the user; it still exists.
        case left = "leftView"
    }

    /// The change, with documents as the user sees them.
    package let change: StoreChange
    /// Set when an insert or a delete only reflects a change of visibility.
    package let passage: VisibilityTransition?

    /// Whether the user sees the document after a change as it is stored, and saw it before.
    package func showsAll(of change: StoreChange) -> Bool {
        passage == nil && self.change.after == change.after
    }
}

extension RuleAccessPolicy {
    /// Returns a change as the user sees it, if the document before or after is visible.
    ///
    /// - Returns: `nil` for a change that the user does not see.
    package func seen(_ change: StoreChange) -> VisibleChange? {
        let access = access(change.namespace)
        guard change.kind.isOfDocument else {
            return change.kind == .dropDatabase || !access.isNever
                ? VisibleChange(change: change, passage: nil) : nil
        }
        let before = change.before.flatMap { access.visible($0) }
        let after = change.after.flatMap { access.visible($0) }
        switch (before, after) {
        case (nil, nil): return nil
        case (let before?, nil):
            return VisibleChange(
                change: change.showing(.delete, before, nil),
                passage: change.kind == .delete ? nil : .left)
        case (nil, let after?):
            let entered = change.kind != .insert && change.before != nil
            let kind = change.before == nil ? change.kind : .insert
            return VisibleChange(
                change: change.showing(kind, nil, after), passage: entered ? .entered : nil)
        case (let before?, let after?):
            guard before != after else { return nil }
            return VisibleChange(change: change.showing(change.kind, before, after), passage: nil)
        }
    }
}

/// The effect of a change on a replica that keeps only the newest documents.
package enum ReplicaChange: Sendable, Hashable {
    /// The document now has this visible content.
    case now(BSONDocument)
    /// The document was deleted, or it is no longer visible but still exists.
    case gone(leftView: Bool)
}

extension RuleAccessPolicy {
    /// Returns a filter of a collection's changes that decides as ``seen(_:)`` does, for replicas
    /// that need no earlier documents.
    package func follower(_ namespace: Namespace) -> ReplicaChangeFilter {
        ReplicaChangeFilter(access: access(namespace))
    }
}

/// A filter of changes that rarely needs the document before a change.
///
/// A class, because it is used for every change and an access is large to copy.
package final class ReplicaChangeFilter: Sendable {
    private let access: RuleAccess
    private let seesAll: Bool
    /// The filter of visible documents; `nil` for none and for all.
    private let filter: Filter?
    private let hidesFields: Bool
    /// The readable fields of every document; `nil` when they depend on the document.
    private let mask: FieldMask?

    init(access: RuleAccess) {
        self.access = access
        hidesFields = access.hidesFields
        mask = access.write == nil ? access.mask : nil
        switch access.visibility {
        case .never: (seesAll, filter) = (false, nil)
        case .always: (seesAll, filter) = (true, nil)
        case .filter(let only): (seesAll, filter) = (false, only)
        }
    }

    /// The knowledge about a change before the earlier document is read.
    package enum PreliminaryAnswer: Sendable {
        /// The document after the change, if any, is hidden.
        case unseen
        /// The document is visible with this content and is news, whatever it was before.
        case news(BSONDocument)
        /// The document is visible with this content, which may be unchanged.
        case perhaps(BSONDocument)

        /// Whether the document before the change is needed.
        package var needsBefore: Bool {
            switch self {
            case .unseen: true
            case .perhaps: true
            case .news: false
            }
        }
    }

    /// Examines the document after a change.
    ///
    /// - Parameter sharedCount: the number of leading bytes, without lengths, that it shares with
    ///   the document before.
    package func glance(at after: BSONDocument?, sharing sharedCount: Int) -> PreliminaryAnswer {
        guard let after, sees(after) else { return .unseen }
        guard hidesFields else { return .news(after) }
        guard let mask else { return .perhaps(access.shown(after)) }
        let (shown, isNews) = mask.shown(after, behind: sharedCount)
        return isNews ? .news(shown) : .perhaps(shown)
    }

    /// Returns the effect of a change; `nil` when the user must not learn of it.
    ///
    /// - Parameter change: has the document before if the glance needs it.
    package func followed(_ change: StoreChange, _ glance: PreliminaryAnswer) -> ReplicaChange? {
        switch glance {
        case .unseen:
            guard change.before.map(sees) == true else { return nil }
            return .gone(leftView: change.after != nil)
        case .news(let document): return .now(document)
        case .perhaps(let document):
            // A change of hidden fields only must stay unnoticed.
            if let before = change.before, let after = change.after, isAlike(before, after),
                sees(before)
            {
                return nil
            }
            return .now(document)
        }
    }

    private func sees(_ document: BSONDocument) -> Bool {
        guard let filter else { return seesAll }
        return filter.matches(document)
    }

    private func isAlike(_ one: BSONDocument, _ other: BSONDocument) -> Bool {
        mask?.isAlike(one, other) ?? (access.shown(one) == access.shown(other))
    }
}
