public import BSONStore

/// The documents of one collection that are missing at the remote without evidence of a delete.
///
/// ```swift
/// await todos.configure(unexplainedAbsence: .ask { absence in
///     print("\(absence.documentIDs.count) documents of \(absence.namespace) are missing")
///     return .keep
/// })
/// ```
public struct UnexplainedAbsence: Sendable, Hashable {
    /// The collection.
    public let namespace: Namespace
    /// The `_id`s of all its unexplained documents.
    public let documentIDs: [BSONValue]

    /// Makes an absence from its parts.
    public init(namespace: Namespace, documentIDs: [BSONValue]) {
        self.namespace = namespace
        self.documentIDs = documentIDs
    }
}

/// The app's decision about documents that are missing without evidence of a delete.
///
/// ```swift
/// let count = try await todos.resolveUnexplained(.upload)
/// ```
public enum UnexplainedAnswer: String, Sendable, Hashable, CaseIterable {
    /// The documents stay local and are not uploaded.
    case keep
    /// The documents are removed locally, as if the remote had deleted them.
    case remove
    /// The documents are uploaded as new ones.
    case upload
}

/// The treatment of documents that are missing at the remote without evidence of a delete.
///
/// When a fetch does not find a document, another client may have deleted it, or the remote may
/// have lost it: a backup was restored, an index is damaged. The history and the tombstones of
/// `stitchsync serve` and of `InProcessRemote` show which; MongoDB itself keeps no tombstones.
///
/// ```swift
/// await todos.configure(unexplainedAbsence: .ask { absence in
///     absence.documentIDs.count < 10 ? .remove : .keep
/// })
/// ```
///
/// Source: Docs/SYNC.md, "Missing documents".
public struct UnexplainedAbsencePolicy: Sendable {
    /// A closure that decides about all unexplained documents of a collection.
    ///
    /// ```swift
    /// let ask: UnexplainedAbsencePolicy.Ask = { absence in
    ///     absence.documentIDs.count < 10 ? .remove : .keep
    /// }
    /// ```
    public typealias Ask = @Sendable (UnexplainedAbsence) async throws -> UnexplainedAnswer

    let removesAll: Bool
    let ask: Ask?

    /// Keeps the documents; the error listener receives their number once.
    public static var keep: Self { Self(removesAll: false, ask: nil) }

    /// Treats the absence as a delete and removes the local documents.
    public static var remove: Self { Self(removesAll: true, ask: nil) }

    /// Keeps the documents and calls a closure, once in each pass that finds more of them.
    ///
    /// The engine calls the closure outside any transaction, with the time limit of a conflict
    /// handler. When it throws or takes too long, the documents stay.
    public static func ask(_ ask: @escaping Ask) -> Self { Self(removesAll: false, ask: ask) }
}
