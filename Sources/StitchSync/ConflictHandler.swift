public import BSONStore

/// Decides what becomes of a document that both sides changed.
///
/// It is called at most once for a pair of states, in no transaction and under no lock: it may
/// take its time, read and write. When it throws, the document is paused and both editions stay.
public struct ConflictHandler<Document: Sendable>: Sendable {
    /// Answers a conflict.
    public typealias Resolve =
        @Sendable (Conflict<Document>) async throws -> ConflictResolution<Document>

    /// Answers at once: no time limit is needed.
    package typealias ResolveAtOnce =
        @Sendable (Conflict<Document>) throws -> ConflictResolution<Document>

    let resolve: Resolve
    /// The same rule where it answers at once.
    let immediate: ResolveAtOnce?

    /// Takes the app's own rule.
    public init(_ resolve: @escaping Resolve) {
        self.resolve = resolve
        immediate = nil
    }

    /// Takes a rule of our own, which neither waits nor hangs.
    package init(immediate: @escaping ResolveAtOnce) {
        resolve = { try immediate($0) }
        self.immediate = immediate
    }

    /// Takes the remote's edition, or its delete.
    public static var remoteWins: Self { Self(immediate: { _ in .useRemote }) }

    /// Keeps the local edition, or its delete.
    public static var localWins: Self { Self(immediate: { _ in .useLocal }) }
}

extension ConflictHandler where Document == BSONDocument {
    /// Merges by field path from the base; asks `overlaps` only where both sides set one field to
    /// different values, or one side deleted the document.
    ///
    /// - Parameters:
    ///   - merge: which fields merge by difference.
    ///   - overlaps: answers what cannot be merged; the remote wins unless told.
    public static func mergeFields(
        _ merge: ThreeWayMerge = ThreeWayMerge(), overlaps: Self = .remoteWins
    ) -> Self {
        if let immediate = overlaps.immediate {
            return Self(immediate: { try merge.answer($0) ?? immediate($0) })
        }
        return Self { conflict in
            if let answer = merge.answer(conflict) { return answer }
            return try await overlaps.resolve(conflict)
        }
    }
}

extension ThreeWayMerge {
    /// The merged document, `nil` where the sides overlap.
    fileprivate func answer(
        _ conflict: Conflict<BSONDocument>
    ) -> ConflictResolution<BSONDocument>? {
        guard let local = conflict.local, let remote = conflict.remote else { return nil }
        let result = merge(base: conflict.base, local: local, remote: remote)
        return result.overlaps.isEmpty ? .use(result.document) : nil
    }
}
