public import BSONCore

/// A condition on the fields of a document.
///
/// Comparisons of ``Field``s make conditions; `&&`, `||` and `!` combine them:
///
/// ```swift
/// let filter = Item.filter { $0.complexity <= 4 && $0.tags.contains("home") }
/// print(try filter.bson)  // {"complexity": {"$lte": 4}, "tags": "home"}
/// ```
///
/// A condition means what its BSON means in MongoDB:
///
/// - A comparison with `<`, `<=`, `>` or `>=` holds only if the document has the field. `== nil`
///   holds for null and for a missing field. `!= value` holds for a missing field.
/// - `!` is the exact opposite: `!($0.complexity > 4)` holds for documents without the field, which
///   `$0.complexity <= 4` does not.
/// - If the field is an array, a comparison holds if it holds for one of the elements.
public struct TypedFilter: Sendable {
    /// The structure of a condition.
    indirect enum Node: Sendable {
        case field(TypedFieldPath, FieldTest)
        case bson(BSONDocument)
        case all([Node])
        case any([Node])
        case not(Node)
    }

    let node: Node

    init(_ node: Node) { self.node = node }

    /// The condition that every document fulfils.
    public static let all = TypedFilter(.all([]))

    /// The condition that no document fulfils.
    public static let none = TypedFilter(.any([]))

    /// Returns a condition in MongoDB's language, to be combined with typed ones.
    ///
    /// ```swift
    /// places.find { $0.isOpen && TypedFilter.bson(["at": ["$near": [10, 59]]]) }
    /// ```
    public static func bson(_ filter: BSONDocument) -> TypedFilter { TypedFilter(.bson(filter)) }

    /// The condition as MongoDB's filter.
    ///
    /// - Throws: as ``bson(with:)`` does.
    public var bson: BSONDocument { get throws { try bson(with: BSONEncoder()) } }

    /// Returns the condition as MongoDB's filter, with values and names as an encoder writes them.
    ///
    /// - Throws: the encoder's error for a value that BSON cannot hold; `badValue` (2) for a
    ///   dictionary's key that a path cannot name and for a condition on an element that also names
    ///   fields outside of the element.
    public func bson(with encoder: BSONEncoder) throws -> BSONDocument {
        try TypedFilterWriter(encoder: encoder).document(node)
    }
}

extension TypedFilter: FilterConvertible {
    /// The condition itself.
    public var filter: TypedFilter { self }
}
