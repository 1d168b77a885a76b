public import BSONStore

/// Decides what becomes of a document that both sides changed.
///
/// It is called at most once for a pair of states, in no transaction and under no lock: it may
/// take its time, read and write. When it throws, the document is paused and both editions stay.
public struct ConflictHandler<Document: Sendable>: Sendable {
    /// Answers a conflict.
    public typealias Resolve =
        @Sendable (Conflict<Document>) async throws -> ConflictResolution<Document>

    let resolve: Resolve

    /// Takes the app's own rule.
    public init(_ resolve: @escaping Resolve) { self.resolve = resolve }

    /// Takes the remote's edition, or its delete.
    public static var remoteWins: Self { Self { _ in .useRemote } }

    /// Keeps the local edition, or its delete.
    public static var localWins: Self { Self { _ in .useLocal } }
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
        Self { conflict in
            guard let local = conflict.local, let remote = conflict.remote else {
                return try await overlaps.resolve(conflict)
            }
            let result = merge.merge(base: conflict.base, local: local, remote: remote)
            guard result.overlaps.isEmpty else { return try await overlaps.resolve(conflict) }
            return .use(result.document)
        }
    }
}
