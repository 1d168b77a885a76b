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
