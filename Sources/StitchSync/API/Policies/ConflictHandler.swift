internal import BSONStore

/// A rule that resolves conflicts: changes of one document on both sides.
///
/// The engine calls it at most once for a pair of editions, outside any transaction and lock: it
/// may wait, read and write. When it throws, the document is paused and both editions stay. The
/// engine applies ``remoteWins`` and ``localWins`` itself, in the transaction that finds the conflict.
///
/// ```swift
/// let longerTask = ConflictHandler<Todo> { conflict in
///     guard let local = conflict.local, let remote = conflict.remote else { return .useRemote }
///     return local.task.count > remote.task.count ? .useLocal : .useRemote
/// }
/// await todos.configure(conflictHandler: longerTask)
/// ```
public struct ConflictHandler<Document: Sendable>: Sendable {
    /// A closure that resolves one conflict; it may wait.
    ///
    /// ```swift
    /// let resolve: ConflictHandler<Todo>.Resolve = { conflict in
    ///     conflict.mayHaveLanded ? .useRemote : .useLocal
    /// }
    /// ```
    public typealias Resolve =
        @Sendable (Conflict<Document>) async throws -> ConflictResolution<Document>

    /// A closure that decides single fields of a merged document; it may wait.
    ///
    /// ```swift
    /// let decide: ConflictHandler<Todo>.Decide = { todo, conflict in
    ///     todo.votes = max(conflict.local?.votes ?? 0, conflict.remote?.votes ?? 0)
    /// }
    /// ```
    public typealias Decide =
        @Sendable (_ merged: inout Document, _ conflict: Conflict<Document>) async throws -> Void

    /// A rule that returns at once, so that it needs no time limit.
    package typealias SynchronousResolve =
        @Sendable (Conflict<Document>) throws -> ConflictResolution<Document>

    /// The rule that resolves conflicts; it may leave some of them to another rule.
    indirect enum Rule: Sendable {
        /// By the app, which may wait.
        case app(Resolve)
        /// By a built-in rule over the app's documents.
        case immediate(SynchronousResolve)
        /// By the edition or delete of one side.
        case side(ConflictSide)
        /// By the edition with the greater value at a path of the stored documents.
        case newest(path: String)
        /// By a merge of the stored fields; another rule decides where both sides set one field, or
        /// one side deleted the document.
        case merging(ThreeWayMerge, overlaps: Rule)
        /// By a merge of the stored fields, which the app completes; another rule decides where one
        /// side deleted the document.
        case deciding(ThreeWayMerge, deleted: Rule, Decide)
    }

    let rule: Rule

    init(_ rule: Rule) { self.rule = rule }

    /// Wraps the app's rule.
    public init(_ resolve: @escaping Resolve) { rule = .app(resolve) }

    /// Wraps a built-in rule, which returns at once.
    package init(immediate: @escaping SynchronousResolve) { rule = .immediate(immediate) }

    /// A handler that takes the remote's edition or delete.
    public static var remoteWins: Self { Self(.side(.remote)) }

    /// A handler that keeps the local edition or delete.
    public static var localWins: Self { Self(.side(.local)) }

    /// Returns a handler that merges the changes of both sides field by field.
    ///
    /// It calls `overlaps` only where both sides set one field to different values, or one side
    /// deleted the document. That handler receives both editions unmerged. When it returns
    /// `useLocal` or `useRemote`, the overlapping fields take that side's values, and all others
    /// are merged. A document that it returns is used unchanged.
    ///
    /// The merge uses the stored fields, including those that a `Codable` type does not know.
    ///
    /// - Parameters:
    ///   - merge: the fields that merge by difference.
    ///   - overlaps: the handler for overlaps; by default the remote wins.
    public static func mergeFields(
        _ merge: ThreeWayMerge = ThreeWayMerge(), overlaps: Self = .remoteWins
    ) -> Self {
        Self(.merging(merge, overlaps: overlaps.rule))
    }

    /// Returns a handler that merges the changes of both sides field by field, and then lets a
    /// closure decide single fields of the merged document.
    ///
    /// A field that both sides set to different values has the remote's value in the merged
    /// document; the closure finds both in the conflict. It is called for every conflict in which
    /// neither side deleted the document. Fields that a `Codable` type does not know are merged,
    /// too.
    ///
    /// ```swift
    /// let handler = ConflictHandler<Expense>.mergeFields(ThreeWayMerge(arrays: ["tags"])) {
    ///     expense, conflict in
    ///     expense.amount = max(conflict.local?.amount ?? 0, conflict.remote?.amount ?? 0)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - merge: the fields that merge by difference.
    ///   - deleted: the handler for documents that one side deleted; by default the edit of the
    ///     other side is kept.
    ///   - decide: changes the merged document; the `_id` must stay. An error pauses the document.
    public static func mergeFields(
        _ merge: ThreeWayMerge = ThreeWayMerge(), deleted: Self = .editWins,
        decide: @escaping Decide
    ) -> Self {
        Self(.deciding(merge, deleted: deleted.rule, decide))
    }

    /// A handler that keeps an edit when the other side deleted the document, and takes the
    /// remote's edition when both sides edited it.
    public static var editWins: Self {
        Self(immediate: { conflict in conflict.remote == nil ? .useLocal : .useRemote })
    }
}

/// One of the two sides of a conflict.
enum ConflictSide: Sendable {
    case remote
    case local
}
