package import BSONStore

/// Is a change as a user sees it.
package struct VisibleChange: Sendable, Hashable {
    /// Says of a change that the user sees whether its kind is what was done.
    package enum VisibilityTransition: String, Sendable, Hashable {
        /// The document came into the user's view; it was there before.
        case entered = "enteredView"
        /// The document left the user's view; it is still there.
        case left = "leftView"
    }

    /// The change, with documents as the user sees them.
    package let change: StoreChange
    /// Set where an insert or a delete stands for something else.
    package let passage: VisibilityTransition?
}

extension RuleAccessPolicy {
    /// Returns a change as the user sees it: of documents that are seen before, after or both.
    ///
    /// - Returns: `nil` for a change that the user does not see at all.
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

/// Is what a change of a document means to who keeps the document's newest state.
package enum ReplicaChange: Sendable, Hashable {
    /// The document is as the user sees it here.
    case now(BSONDocument)
    /// The document was deleted, or it left what the user sees and is still there.
    case gone(leftView: Bool)
}

extension RuleAccessPolicy {
    /// Tells of each change of a collection's documents what ``seen(_:)`` tells, for who needs no
    /// documents of before.
    package func follower(_ namespace: Namespace) -> ReplicaChangeFilter {
        ReplicaChangeFilter(access: access(namespace))
    }
}

/// Decides about changes with as little of the documents before them as it can.
///
/// A class, since it is asked for every change and an access is large to copy.
package final class ReplicaChangeFilter: Sendable {
    private let access: RuleAccess
    private let seesAll: Bool
    /// Which documents are seen; `nil` for none, and where all are.
    private let filter: Filter?
    private let hidesFields: Bool
    /// The fields that are shown of every document; `nil` where that depends on the document.
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

    /// What is known of a change before the document before it was read.
    package enum PreliminaryAnswer: Sendable {
        /// The user does not see what it left, if it left something.
        case unseen
        /// The user sees it as here, whatever it was before.
        case news(BSONDocument)
        /// The user sees what it left, perhaps as it was before.
        case perhaps(BSONDocument)

        /// Whether the document before the change must be known.
        package var needsBefore: Bool {
            switch self {
            case .unseen: true
            case .perhaps: true
            case .news: false
            }
        }
    }

    /// Looks at the document after a change.
    ///
    /// - Parameter sharedCount: how many bytes it begins with as the one before it did, lengths apart.
    package func glance(at after: BSONDocument?, sharing sharedCount: Int) -> PreliminaryAnswer {
        guard let after, sees(after) else { return .unseen }
        guard hidesFields else { return .news(after) }
        guard let mask else { return .perhaps(access.shown(after)) }
        let (shown, isNews) = mask.shown(after, behind: sharedCount)
        return isNews ? .news(shown) : .perhaps(shown)
    }

    /// What a change means; `nil` where the user must not learn of it.
    ///
    /// - Parameter change: has the document before it where the glance needs it.
    package func followed(_ change: StoreChange, _ glance: PreliminaryAnswer) -> ReplicaChange? {
        switch glance {
        case .unseen:
            guard change.before.map(sees) == true else { return nil }
            return .gone(leftView: change.after != nil)
        case .news(let document): return .now(document)
        case .perhaps(let document):
            // What changed in hidden fields only nobody may notice.
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
