/// The options of a collection, as `create` takes them and `listCollections` shows them.
public struct CollectionOptions: Sendable, Hashable {
    /// The writes that the validator checks.
    public enum ValidationLevel: String, Sendable, Hashable, CaseIterable {
        /// No write.
        case off
        /// Every write except a change of a document that did not pass before.
        case moderate
        /// Every write.
        case strict
    }

    /// The treatment of a document that fails validation.
    public enum ValidationAction: String, Sendable, Hashable, CaseIterable {
        /// The document is written all the same.
        case warn
        /// The document is refused with error 121.
        case error
    }

    /// The bounds of a capped collection, which removes its oldest documents.
    public struct Capped: Sendable, Hashable {
        /// The largest total size of the documents in bytes.
        public let bytesMax: Int64
        /// The largest number of documents; `nil` for no limit.
        public let documentsMax: Int64?
    }

    /// The definition of a view: another collection or view and a pipeline.
    public struct View: Sendable, Hashable {
        /// The name of the underlying collection in the same database.
        public let on: String
        /// The stages of the pipeline.
        public let pipeline: BSONArray
    }

    /// The options as `listCollections` shows them.
    public let document: BSONDocument
    /// The filter that documents must match.
    public let validator: BSONDocument?
    /// The writes that the validator checks.
    public let validationLevel: ValidationLevel
    /// The treatment of a document that fails validation.
    public let validationAction: ValidationAction
    /// The bounds of a capped collection.
    public let capped: Capped?
    /// The collation of queries that name none.
    public let collation: BSONDocument?
    /// Whether change streams may return documents before and after a change.
    public let keepsImages: Bool
    /// The definition, if the collection is a view.
    public let view: View?

    /// A collection without options.
    public static let none = CollectionOptions(CollectionOptionsParser.Parts())

    /// Parses the options of a `create` command; ignores the command's name and generic arguments.
    ///
    /// - Throws: 2, 14, 72, 40415 and what a filter or collation throws, with MongoDB's
    ///   messages.
    ///
    /// Source: the server's `create.idl` and `create_command.cpp`.
    public init(_ command: BSONDocument) throws(StoreError) {
        self.init(try CollectionOptionsParser(command, of: "create").parts())
    }

    /// The options as change streams report a creation: a collection with its first index, a view
    /// as stored.
    var description: BSONDocument {
        if view == nil {
            return BSONDocument(
                document.map { $0 } + [
                    ("idIndex", .document(IndexDefinition.ofIDs(collatedBy: collation).document))
                ])
        }
        let order = ["viewOn", "pipeline", "collation"]
        return BSONDocument(order.compactMap { name in document[name].map { (name, $0) } })
    }

    /// Whether two collections have the same options; numbers compare by value.
    ///
    /// Source: the server's `CollectionOptions::matchesStorageOptions`.
    package func hasSameValues(as other: CollectionOptions) -> Bool {
        document.count == other.document.count
            && document.allSatisfy { name, value in
                other.document[name].map { BSONOrder.compare(value, $0) == .equal } ?? false
            }
    }

    /// Whether the collection is clustered by `_id`, so that the `_id` index is not listed.
    var isClustered: Bool { document["clusteredIndex"] != nil }

    init(_ parts: CollectionOptionsParser.Parts) {
        document = parts.document
        validator = parts.validator
        validationLevel = parts.level ?? .strict
        validationAction = parts.action ?? .error
        capped = parts.capped
        collation = parts.collation
        keepsImages = parts.keepsImages
        view = parts.view
    }
}
