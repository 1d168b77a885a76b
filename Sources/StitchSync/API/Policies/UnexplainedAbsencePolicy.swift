public import BSONStore

/// Documents of one collection that are missing at the remote without evidence that somebody deleted
/// them.
public struct UnexplainedAbsence: Sendable, Hashable {
    /// The collection.
    public let namespace: Namespace
    /// The `_id`s of all its unexplained documents.
    public let documentIDs: [BSONValue]

    /// Makes an absence of its parts.
    public init(namespace: Namespace, documentIDs: [BSONValue]) {
        self.namespace = namespace
        self.documentIDs = documentIDs
    }
}

/// What becomes of unexplained documents.
public enum UnexplainedAnswer: String, Sendable, Hashable, CaseIterable {
    /// They stay here and are not sent.
    case keep
    /// They are removed here too, as if the remote had deleted them.
    case remove
    /// They are sent to the remote as new documents.
    case upload
}

/// Says what becomes of documents that are missing at the remote without evidence of a delete.
///
/// A document that a look does not find may have been deleted, or the remote may have lost it: a backup
/// was restored, an index is damaged. The history and the tombstones of `stitchsync serve` and of
/// `InProcessRemote` tell which; MongoDB itself keeps no tombstones.
///
/// ```swift
/// await todos.configure(unexplainedAbsence: .ask { absence in
///     absence.documentIDs.count < 10 ? .remove : .keep
/// })
/// ```
///
/// Source: Docs/SYNC.md, "Missing documents".
public struct UnexplainedAbsencePolicy: Sendable {
    /// Answers for all unexplained documents of a collection.
    public typealias Ask = @Sendable (UnexplainedAbsence) async throws -> UnexplainedAnswer

    let removesAll: Bool
    let ask: Ask?

    /// Keeps the documents; the error listener is told once, with their number.
    public static var keep: Self { Self(removesAll: false, ask: nil) }

    /// Takes the absence for a delete: the documents are removed here.
    public static var remove: Self { Self(removesAll: true, ask: nil) }

    /// Keeps the documents and asks the app, once a pass that finds more of them.
    ///
    /// The closure is called outside of any transaction, for as long as a conflict handler may take;
    /// when it throws or takes too long, the documents stay.
    public static func ask(_ ask: @escaping Ask) -> Self { Self(removesAll: false, ask: ask) }
}
