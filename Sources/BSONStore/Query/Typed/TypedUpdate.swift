public import BSONCore

/// A change of a document's fields.
///
/// Calls of ``Field``s make updates, and a closure lists them:
///
/// ```swift
/// let update = Todo.update { $0.done.set(true); $0.edits.increment() }
/// print(try update.bson)  // {"$set": {"done": true}, "$inc": {"edits": 1}}
/// ```
public struct TypedUpdate: Sendable {
    /// One operator on one field, or operators in MongoDB's language.
    enum Operation: Sendable {
        case field(TypedFieldPath, FieldChange)
        case bson(BSONDocument)
    }

    let operations: [Operation]

    init(_ path: TypedFieldPath, _ change: FieldChange) { operations = [.field(path, change)] }

    init(_ updates: [TypedUpdate]) { operations = updates.flatMap(\.operations) }

    private init(bson: BSONDocument) { operations = [.bson(bson)] }

    /// Returns an update in MongoDB's language, to be combined with typed ones.
    ///
    /// ```swift
    /// todos.updateOne({ $0.id == 1 }) {
    ///     $0.done.set(true)
    ///     TypedUpdate.bson(["$rename": ["name": "title"]])
    /// }
    /// ```
    public static func bson(_ update: BSONDocument) -> TypedUpdate { TypedUpdate(bson: update) }

    /// The update as MongoDB's operators.
    ///
    /// - Throws: as ``bson(with:)`` does.
    public var bson: BSONDocument { get throws { try bson(with: BSONEncoder()) } }

    /// Returns the update as MongoDB's operators, with values and names as an encoder writes them.
    ///
    /// - Throws: the encoder's error for a value that BSON cannot hold; `failedToParse` (9) for an
    ///   update without any change; `badValue` (2) for a dictionary's key that a path cannot name
    ///   and for a condition of `pull` that MongoDB's language cannot express.
    public func bson(with encoder: BSONEncoder) throws -> BSONDocument {
        try TypedUpdateWriter(encoder: encoder).document(operations)
    }
}
