/// Says how a collection is kept and what its documents must be, as `create` takes it and
/// `listCollections` shows it.
public struct CollectionOptions: Sendable, Hashable {
    /// Which documents the validator is asked about.
    public enum ValidationLevel: String, Sendable, Hashable, CaseIterable {
        /// None.
        case off
        /// All but documents that did not pass before they were changed.
        case moderate
        /// All that are written.
        case strict
    }

    /// What happens to a document that does not pass.
    public enum ValidationAction: String, Sendable, Hashable, CaseIterable {
        /// It is written all the same.
        case warn
        /// It is refused with error 121.
        case error
    }

    /// Bounds of a collection that lets its oldest documents go.
    public struct Capped: Sendable, Hashable {
        /// The documents have at most so many bytes together.
        public let bytesMax: Int64
        /// There are at most so many documents; `nil` without a bound.
        public let documentsMax: Int64?
    }

    /// What a view shows: another collection or view through a pipeline.
    public struct View: Sendable, Hashable {
        /// The collection's name in the same database.
        public let on: String
        /// The stages.
        public let pipeline: BSONArray
    }

    /// The options as `listCollections` shows them.
    public let document: BSONDocument
    /// The filter that documents must pass.
    public let validator: BSONDocument?
    /// Which documents the validator is asked about.
    public let validationLevel: ValidationLevel
    /// What happens to a document that does not pass the validator.
    public let validationAction: ValidationAction
    /// The bounds, when the collection is capped.
    public let capped: Capped?
    /// How texts compare where a query does not say.
    public let collation: BSONDocument?
    /// Whether change streams may ask for documents before and after a change.
    public let keepsImages: Bool
    /// What the view shows, when it is one.
    public let view: View?

    /// A collection without options.
    public static let none = CollectionOptions(CollectionOptionsParser.Parts())

    /// Reads the options of a `create` command; the command's name and general arguments are
    /// passed over.
    ///
    /// - Throws: 2, 14, 72, 40415, 51024 and what a filter or collation throws, with MongoDB's
    ///   messages.
    ///
    /// Source: the server's `create.idl` and `create_command.cpp`.
    public init(_ command: BSONDocument) throws(StoreError) {
        self.init(try CollectionOptionsParser(command, of: "create").parts())
    }

    /// The options as change streams tell them of what is new: a collection with its first index,
    /// a view as it is kept.
    var description: BSONDocument {
        if view == nil {
            return BSONDocument(
                document.map { $0 } + [("idIndex", .document(IndexDefinition.id.document))])
        }
        let order = ["viewOn", "pipeline", "collation"]
        return BSONDocument(order.compactMap { name in document[name].map { (name, $0) } })
    }

    /// Whether the documents are kept by their ids, so that no index of them is listed.
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
