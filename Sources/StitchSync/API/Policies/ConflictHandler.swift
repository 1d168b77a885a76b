internal import BSONStore

/// Decides what becomes of a document that both sides changed.
///
/// It is called at most once for a pair of states, in no transaction and under no lock: it may
/// take its time, read and write. When it throws, the document is paused and both editions stay.
public struct ConflictHandler<Document: Sendable>: Sendable {
    /// Answers a conflict.
    public typealias Resolve =
        @Sendable (Conflict<Document>) async throws -> ConflictResolution<Document>

    /// Answers at once: no time limit is needed.
    package typealias SynchronousResolve =
        @Sendable (Conflict<Document>) throws -> ConflictResolution<Document>

    /// A rule over raw documents, whatever the collection's type, which knows all fields; `nil` is no
    /// answer.
    typealias Raw = @Sendable (Conflict<BSONDocument>) -> ConflictResolution<BSONDocument>?

    /// What becomes of an answer, whoever gave it.
    typealias Refine =
        @Sendable (Conflict<BSONDocument>, ConflictResolution<BSONDocument>)
        -> ConflictResolution<BSONDocument>

    /// Is asked first.
    private(set) var raw: Raw?
    /// Is asked last, with the answer.
    private(set) var refine: Refine?
    /// Answers what ``raw`` does not.
    let rule: Resolve
    /// The same rule where it answers at once.
    let ruleAtOnce: SynchronousResolve?
    /// What the rule answers to everything, where it does.
    private(set) var sameAnswer: FixedResolution?
    /// The rule that adds up what both sides counted, where there is one: equal documents are a
    /// conflict then.
    private(set) var counting: ThreeWayMerge?

    /// An answer that does not depend on the conflict.
    enum FixedResolution: Sendable {
        case remote
        case local
    }

    /// Takes the app's own rule.
    public init(_ resolve: @escaping Resolve) {
        rule = resolve
        ruleAtOnce = nil
    }

    /// Takes a rule of our own, which neither waits nor hangs.
    package init(immediate: @escaping SynchronousResolve) {
        rule = { try immediate($0) }
        ruleAtOnce = immediate
    }

    /// Asks a rule over raw documents before this one.
    func after(_ first: @escaping Raw) -> Self {
        var handler = self
        let second = raw
        handler.raw = { first($0) ?? second?($0) }
        return handler
    }

    /// Changes the answers of this handler.
    func refined(by outer: @escaping Refine) -> Self {
        var handler = self
        let inner = refine
        handler.refine = { outer($0, inner?($0, $1) ?? $1) }
        return handler
    }

    /// Takes the remote's edition, or its delete.
    public static var remoteWins: Self {
        var handler = Self(immediate: { _ in .useRemote })
        handler.sameAnswer = .remote
        return handler
    }

    /// Keeps the local edition, or its delete.
    public static var localWins: Self {
        var handler = Self(immediate: { _ in .useLocal })
        handler.sameAnswer = .local
        return handler
    }

    /// Merges by field path from the base; asks `overlaps` only where both sides set one field to
    /// different values, or one side deleted the document.
    ///
    /// The handler that is asked is shown both editions as they are. When it answers `useLocal` or
    /// `useRemote`, that side's values are taken where the sides overlap, and all else is merged; a
    /// document that it answers is taken as it is.
    ///
    /// Fields are merged as they are stored, those that a `Codable` type does not know among them.
    ///
    /// - Parameters:
    ///   - merge: which fields merge by difference.
    ///   - overlaps: decides where something cannot be merged; the remote wins unless told.
    public static func mergeFields(
        _ merge: ThreeWayMerge = ThreeWayMerge(), overlaps: Self = .remoteWins
    ) -> Self {
        var handler = overlaps.after { merge.answer($0) }.refined { merge.refine($1, of: $0) }
        handler.counting = merge.counters.isEmpty ? overlaps.counting : merge
        return handler
    }

    /// The same handler, beside which equal documents are conflicts by a rule that counts.
    func counting(by merge: ThreeWayMerge?) -> Self {
        var handler = self
        handler.counting = merge
        return handler
    }
}

extension ConflictHandler where Document == BSONDocument {
    /// Answers a conflict.
    func resolve(
        _ conflict: Conflict<BSONDocument>
    ) async throws -> ConflictResolution<BSONDocument> {
        if let answer = answerAtOnce(conflict) { return answer }
        return refined(try await rule(conflict), of: conflict)
    }

    /// What needs no document of the app's type.
    private func answerAtOnce(
        _ conflict: Conflict<BSONDocument>
    ) -> ConflictResolution<BSONDocument>? {
        if let answer = raw?(conflict) { return refined(answer, of: conflict) }
        return switch sameAnswer {
        case .remote: refined(.useRemote, of: conflict)
        case .local: refined(.useLocal, of: conflict)
        case nil: nil
        }
    }

    private func refined(
        _ answer: ConflictResolution<BSONDocument>, of conflict: Conflict<BSONDocument>
    ) -> ConflictResolution<BSONDocument> {
        refine?(conflict, answer) ?? answer
    }

    /// What the handler answers to every conflict, where it does.
    var always: FixedResolution? { raw == nil ? sameAnswer : nil }

    /// The same handler, which answers so always.
    func answering(_ always: FixedResolution?) -> Self {
        var handler = self
        handler.sameAnswer = always
        return handler
    }

    /// Answers a conflict at once, where the rule can.
    var immediate: SynchronousResolve? {
        guard let ruleAtOnce else { return nil }
        return { conflict in
            try answerAtOnce(conflict) ?? refined(ruleAtOnce(conflict), of: conflict)
        }
    }
}

extension ThreeWayMerge {
    /// The merged document, `nil` where the sides overlap.
    fileprivate func answer(
        _ conflict: Conflict<BSONDocument>
    ) -> ConflictResolution<BSONDocument>? {
        guard let result = merge(conflict), result.overlaps.isEmpty else { return nil }
        return .use(result.document)
    }

    /// A side's answer is about what overlaps; what else both sides did is kept.
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
