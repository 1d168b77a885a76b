internal import BSONStore

/// A rule that resolves conflicts: changes of one document on both sides.
///
/// The engine calls it at most once for a pair of editions, outside any transaction and lock: it
/// may wait, read and write. When it throws, the document is paused and both editions stay.
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

    /// A rule over raw documents, which have all fields; it returns `nil` to leave the conflict to
    /// the next rule.
    typealias Raw = @Sendable (Conflict<BSONDocument>) -> ConflictResolution<BSONDocument>?

    /// A function that adjusts the resolution of any rule.
    typealias Refine =
        @Sendable (Conflict<BSONDocument>, ConflictResolution<BSONDocument>)
        -> ConflictResolution<BSONDocument>

    /// The rule that runs first.
    private(set) var raw: Raw?
    /// The adjustment that runs last.
    private(set) var refine: Refine?
    /// The rule for conflicts that ``raw`` leaves open.
    let rule: Resolve
    /// The same rule where it returns at once.
    let ruleAtOnce: SynchronousResolve?
    /// The resolution of every conflict, where it is always the same.
    private(set) var sameAnswer: FixedResolution?
    /// The merge that adds up both sides' counters; with it, equal documents are a conflict.
    private(set) var counting: ThreeWayMerge?
    /// The merge and the app's change of the merged document; ``rule`` then resolves deletes only.
    private(set) var merging: Merging?

    /// A merge by fields, after which the app decides single fields.
    struct Merging: Sendable {
        let merge: ThreeWayMerge
        let decide: Decide
    }

    /// A resolution that does not depend on the conflict.
    enum FixedResolution: Sendable {
        case remote
        case local
    }

    /// Wraps the app's rule.
    public init(_ resolve: @escaping Resolve) {
        rule = resolve
        ruleAtOnce = nil
    }

    /// Wraps a built-in rule, which returns at once.
    package init(immediate: @escaping SynchronousResolve) {
        rule = { try immediate($0) }
        ruleAtOnce = immediate
    }

    /// Returns the handler with a rule over raw documents that runs first.
    func after(_ first: @escaping Raw) -> Self {
        var handler = self
        let second = raw
        handler.raw = { first($0) ?? second?($0) }
        return handler
    }

    /// Returns the handler with an adjustment of its resolutions.
    func refined(by outer: @escaping Refine) -> Self {
        var handler = self
        let inner = refine
        handler.refine = { outer($0, inner?($0, $1) ?? $1) }
        return handler
    }

    /// A handler that takes the remote's edition or delete.
    public static var remoteWins: Self {
        var handler = Self(immediate: { _ in .useRemote })
        handler.sameAnswer = .remote
        return handler
    }

    /// A handler that keeps the local edition or delete.
    public static var localWins: Self {
        var handler = Self(immediate: { _ in .useLocal })
        handler.sameAnswer = .local
        return handler
    }

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
        var handler = overlaps.after { merge.answer($0) }.refined { merge.refine($1, of: $0) }
        handler.counting = merge.counters.isEmpty ? overlaps.counting : merge
        return handler
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
        var handler = deleted
        handler.merging = Merging(merge: merge, decide: decide)
        handler.counting = merge.counters.isEmpty ? nil : merge
        return handler
    }

    /// A handler that keeps an edit when the other side deleted the document, and takes the
    /// remote's edition when both sides edited it.
    public static var editWins: Self {
        Self(immediate: { conflict in conflict.remote == nil ? .useLocal : .useRemote })
    }

    /// Returns the handler for the conflicts that its merge leaves open.
    var withoutMerging: Self {
        var handler = self
        handler.merging = nil
        return handler
    }

    /// Returns the handler with a merge of counters, by which equal documents can be conflicts.
    func counting(by merge: ThreeWayMerge?) -> Self {
        var handler = self
        handler.counting = merge
        return handler
    }
}

extension ConflictHandler where Document == BSONDocument {
    /// Returns the resolution where it needs no document of the app's type.
    func answerAtOnce(
        _ conflict: Conflict<BSONDocument>
    ) -> ConflictResolution<BSONDocument>? {
        if let answer = raw?(conflict) { return refined(answer, of: conflict) }
        return switch sameAnswer {
        case .remote: refined(.useRemote, of: conflict)
        case .local: refined(.useLocal, of: conflict)
        case nil: nil
        }
    }

    /// Returns a resolution with the handler's adjustment.
    func refined(
        _ answer: ConflictResolution<BSONDocument>, of conflict: Conflict<BSONDocument>
    ) -> ConflictResolution<BSONDocument> {
        refine?(conflict, answer) ?? answer
    }

    /// The resolution of every conflict, where it is always the same.
    var always: FixedResolution? { raw == nil ? sameAnswer : nil }

    /// Returns the handler with a fixed resolution.
    func answering(_ always: FixedResolution?) -> Self {
        var handler = self
        handler.sameAnswer = always
        return handler
    }

    /// The rule that resolves a conflict at once; `nil` where the handler has none.
    var immediate: SynchronousResolve? {
        guard let ruleAtOnce else { return nil }
        return { conflict in
            try answerAtOnce(conflict) ?? refined(ruleAtOnce(conflict), of: conflict)
        }
    }
}

extension ThreeWayMerge {
    /// Returns the merged document; `nil` where the sides overlap.
    fileprivate func answer(
        _ conflict: Conflict<BSONDocument>
    ) -> ConflictResolution<BSONDocument>? {
        guard let result = merge(conflict), result.overlaps.isEmpty else { return nil }
        return .use(result.document)
    }

    /// Applies a side's win to the overlapping fields only; all other changes of both sides are
    /// kept.
    fileprivate func refine(
        _ answer: ConflictResolution<BSONDocument>, of conflict: Conflict<BSONDocument>
    ) -> ConflictResolution<BSONDocument> {
        switch answer {
        case .useLocal:
            guard let result = merge(conflict, winner: .local), let local = conflict.local,
                !result.document.contentEquals(local)
            else { return answer }
            return .use(result.document)
        case .useRemote:
            guard let result = merge(conflict), let remote = conflict.remote,
                !result.document.contentEquals(remote)
            else { return answer }
            return .use(result.document)
        case .use, .delete: return answer
        }
    }
}
