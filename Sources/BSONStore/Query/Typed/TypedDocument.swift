/// A `Codable` type whose fields can be named in filters, updates, sorts, projections and indexes.
///
/// The macro `@Document` writes the conformance. By hand it is a struct of ``Field``s:
///
/// ```swift
/// struct Item: TypedDocument {
///     var id: BSONObjectID
///     var complexity: Int
///
///     enum CodingKeys: String, CodingKey { case id = "_id", complexity }
///
///     struct Fields: Sendable {
///         let id = Field<BSONObjectID>("_id")
///         let complexity = Field<Int>("complexity")
///     }
///     static var fields: Fields { Fields() }
/// }
///
/// let filter = Item.filter { $0.complexity <= 4 }
/// print(try filter.bson)  // {"complexity": {"$lte": 4}}
/// ```
///
/// A field's name is that of its coding key. Nested documents conform too, so that their fields can
/// be named: `$0.address.city`.
public protocol TypedDocument: Codable, Sendable {
    /// A struct with one ``Field`` for each stored property.
    associatedtype Fields: Sendable
    /// The fields.
    static var fields: Fields { get }
}

extension TypedDocument {
    /// Returns a condition on the type's fields.
    public static func filter(
        @TypedFilterBuilder _ body: (Fields) throws -> TypedFilter
    ) rethrows -> TypedFilter { try body(fields) }

    /// Returns an update of the type's fields.
    public static func update(
        @TypedListBuilder<TypedUpdate> _ body: (Fields) throws -> [TypedUpdate]
    ) rethrows -> TypedUpdate { TypedUpdate(try body(fields)) }

    /// Returns an order of documents by the type's fields; the first field counts most.
    public static func sort(
        @TypedListBuilder<TypedSort> _ body: (Fields) throws -> [TypedSort]
    ) rethrows -> TypedSort { TypedSort(try body(fields)) }

    /// Returns a choice of the type's fields.
    public static func projection(
        @TypedListBuilder<TypedProjection> _ body: (Fields) throws -> [TypedProjection]
    ) rethrows -> TypedProjection { TypedProjection(try body(fields)) }
}
