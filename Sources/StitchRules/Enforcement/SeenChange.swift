package import BSONStore

/// Is a change as a user sees it.
package struct SeenChange: Sendable, Hashable {
    /// Says of a change that the user sees whether its kind is what was done.
    package enum Passage: String, Sendable, Hashable {
        /// The document came into the user's view; it was there before.
        case entered = "enteredView"
        /// The document left the user's view; it is still there.
        case left = "leftView"
    }

    /// The change, with documents as the user sees them.
    package let change: StoreChange
    /// Set where an insert or a delete stands for something else.
    package let passage: Passage?
}

extension RuleGuard {
    /// A change as the user sees it: of documents that are seen before, after or both.
    ///
    /// - Returns: `nil` for a change that the user does not see at all.
    package func seen(_ change: StoreChange) -> SeenChange? {
        let access = access(change.namespace)
        guard change.kind.isOfDocument else {
            return change.kind == .dropDatabase || !access.isNever
                ? SeenChange(change: change, passage: nil) : nil
        }
        let before = change.before.flatMap { access.visible($0) }
        let after = change.after.flatMap { access.visible($0) }
        switch (before, after) {
        case (nil, nil): return nil
        case (let before?, nil):
            return SeenChange(
                change: change.showing(.delete, before, nil),
                passage: change.kind == .delete ? nil : .left)
        case (nil, let after?):
            let entered = change.kind != .insert && change.before != nil
            let kind = change.before == nil ? change.kind : .insert
            return SeenChange(
                change: change.showing(kind, nil, after), passage: entered ? .entered : nil)
        case (let before?, let after?):
            guard before != after else { return nil }
            return SeenChange(change: change.showing(change.kind, before, after), passage: nil)
        }
    }
}

/// Is what a change of a document means to who keeps the document's newest state.
package enum FollowedChange: Sendable, Hashable {
    /// The document is as the user sees it here.
    case now(BSONDocument)
    /// The document was deleted, or it left what the user sees and is still there.
    case gone(leftView: Bool)
}

extension RuleGuard {
    /// Tells of each change of a collection's documents what ``seen(_:)`` tells, for who needs no
    /// documents of before.
    package func follower(_ namespace: Namespace) -> ChangeFollower {
        ChangeFollower(access: access(namespace))
    }
}

/// Decides about changes with as little of the documents before them as it can.
///
/// A class, since it is asked for every change and an access is large to copy.
package final class ChangeFollower: Sendable {
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

    /// Whether the user sees the document after a change, if there is one.
    package func sees(_ document: BSONDocument?) -> Bool {
        guard let document else { return false }
        guard let filter else { return seesAll }
        return filter.matches(document)
    }

    /// Whether the document before a change must be known.
    ///
    /// Not for one that is seen afterwards and shows something new: it is news however it was before.
    ///
    /// - Parameter sharedCount: how many bytes both begin with, lengths apart.
    package func needsBefore(
        _ after: BSONDocument?, sharing sharedCount: Int, isSeen: Bool
    ) -> Bool {
        guard isSeen, let after else { return true }
        return hidesFields && !(mask?.surelyDiffers(after, behind: sharedCount) ?? false)
    }

    /// What a change means; `nil` where the user must not learn of it.
    ///
    /// - Parameters:
    ///   - change: has the document before it where ``needsBefore(_:sharing:isSeen:)`` says
    ///     so.
    ///   - isSeen: what ``sees(_:)`` says of the document after it.
    package func followed(_ change: StoreChange, isSeen: Bool) -> FollowedChange? {
        guard isSeen, let after = change.after else {
            guard sees(change.before) else { return nil }
            return .gone(leftView: change.after != nil)
        }
        guard hidesFields else { return .now(after) }
        // What changed in hidden fields only nobody may notice.
        if let before = change.before, isAlike(before, after), sees(before) { return nil }
        return .now(mask?.shown(after) ?? access.shown(after))
    }

    private func isAlike(_ one: BSONDocument, _ other: BSONDocument) -> Bool {
        mask?.isAlike(one, other) ?? (access.shown(one) == access.shown(other))
    }
}
