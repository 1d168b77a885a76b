/// A choice of fields of documents, by inclusion or exclusion, with computed fields.
///
/// The language is that of `find`: 1 and 0, nested documents and dotted paths, `$slice`,
/// `$elemMatch`, the positional `$` and aggregation expressions. A projection is parsed once and
/// applied to bytes. Source: MongoDB manual, "Projection"; the server's `projection_parser`.
public struct Projection: Sendable {
    /// The document from which the projection was parsed.
    public let document: BSONDocument
    let kind: Kind
    let root: ProjectionNode
    /// The operators that change the result, in order.
    let operators: [ProjectionOperator]
    /// The `let` of the command.
    private let given: BSONDocument
    private let variables: CommandVariables
    /// The values of the variables, and the time of the query.
    private var frame: ExpressionFrame
    /// Whether the frame has the time of a query; otherwise each document has its own.
    private var isTimed = false
    private let collation: Collation?
    /// Whether a collection's own collation applies if the projection has none.
    private let inheritsCollation: Bool
    private let requested: RequestedMetadata

    /// The treatment of fields that are not named.
    enum Kind: Sendable {
        /// Other fields are omitted.
        case inclusion
        /// Other fields are kept; named ones are omitted.
        case exclusion
    }

    /// Parses a projection such as `["name": 1, "address.city": 1, "_id": 0]`.
    ///
    /// - Throws: 31253 and 31254 if inclusion and exclusion are mixed, 31249 and 31250 if paths
    ///   collide, and others with MongoDB's text.
    public init(_ document: BSONDocument) throws(StoreError) {
        try self.init(document, variables: [:], collation: nil)
    }

    /// Parses a projection whose expressions may use variables and whose `$elemMatch` compares
    /// texts by a collation.
    ///
    /// - Parameters:
    ///   - variables: the `let` of a command: constant expressions by name, each of which may use
    ///     the earlier ones.
    ///   - collation: the collation of texts; `nil` for that of the query.
    /// - Throws: as ``init(_:)``; the errors of the variables.
    public init(
        _ document: BSONDocument, variables: BSONDocument, collation: Collation?
    ) throws(StoreError) {
        given = variables
        self.collation = collation?.unlessSimple
        inheritsCollation = collation?.isSimple != true
        self.variables = try CommandVariables(variables, collation: self.collation)
        frame = try self.variables.frame(now: CommandTime.now)
        let options = EvaluationOptions(
            variables: self.variables.scope, collation: self.collation)
        self.document = document
        (kind, root, operators) = try ProjectionParser.parse(document, options)
        requested = root.computes ? RequestedMetadata(in: .document(document)) : []
    }

    /// Returns the projection for a query: texts compare as in the filter unless the projection has
    /// a collation, and `$$NOW` is the same for all documents.
    ///
    /// - Parameter filter: the filter with the collation of its collection.
    /// - Throws: the errors of parsing the projection.
    package func bound(to filter: Filter) throws(StoreError) -> Projection {
        var bound = self
        if let inherited = filter.collation, collation == nil, inheritsCollation {
            bound = try Projection(document, variables: given, collation: inherited)
        }
        guard root.computes, !isTimed else { return bound }
        bound.frame = try bound.variables.frame(now: filter.frame?.now ?? CommandTime.now)
        bound.isTimed = true
        return bound
    }

    /// Whether applying the projection requires the filter that found the document.
    package var isPositional: Bool { operators.contains { $0.isPositional } }

    /// Returns the document with the chosen fields in the document's order, then computed ones.
    ///
    /// - Parameters:
    ///   - filter: the filter that found the document; it determines the element of a positional
    ///     `$`.
    ///   - order: the order of the query, whose values `$meta` may request.
    /// - Throws: 51246 if the filter determines no element, 51247 if the array does not have it,
    ///   and the errors of the expressions.
    public func apply(
        to document: BSONDocument, matching filter: Filter = .all, sortedBy order: SortOrder? = nil
    ) throws(StoreError) -> BSONDocument {
        try apply(to: document, matching: filter, selectedAs: nil, sortedBy: order)
    }

    /// The requested metadata that depends on the stored place of a document and on the plan.
    package var placement: RequestedMetadata { requested.intersection(.placement) }

    /// Applies the projection to a document that may have changed since the filter found it.
    ///
    /// - Parameters:
    ///   - selected: the document as the filter found it, whose score `$meta` shows; `nil` if it
    ///     did not change.
    ///   - placement: the values of `$meta` that depend on the document's place.
    package func apply(
        to document: BSONDocument, matching filter: Filter, selectedAs selected: BSONDocument?,
        sortedBy order: SortOrder? = nil, at placement: [String: BSONValue] = [:]
    ) throws(StoreError) -> BSONDocument {
        guard root.computes else { return try apply(to: document, matching: filter, .init()) }
        var frame = frame
        if !isTimed {
            frame.now = CommandTime.now
            frame.clusterTime = CommandTime.current?.clusterTime
        }
        frame.userRoles = ExpressionRoles.current
        frame.metadata = filter.metadata(of: selected ?? document)
        if !placement.isEmpty { frame.metadata.merge(placement) { $1 } }
        if requested.contains(.sortKey), let order {
            let values = order.values(of: document, metadata: frame.metadata)
            frame.metadata["sortKey"] = .array(values)
        }
        return try apply(to: document, matching: filter, frame)
    }

    /// Applies the projection as ``apply(to:matching:)``, with variables, time and `$meta`.
    func apply(
        to document: BSONDocument, matching filter: Filter, _ frame: ExpressionFrame
    ) throws(StoreError) -> BSONDocument {
        var result = choose(from: document)
        if root.computes {
            var frame = frame
            frame.root = document
            let computing = ProjectionEvaluator(
                document: document, frame: frame, index: IndexedDocument(document))
            result = try computing.compute(root, in: result)
        }
        guard !operators.isEmpty else { return result }
        var edited = EditedDocument(result)
        for projection in operators {
            try WorkBudget.spend()
            try projection.apply(to: &edited, of: document, filter)
        }
        return edited.finished()
    }

    private func choose(from document: BSONDocument) -> BSONDocument {
        var builder = BSONDocumentBuilder(reservingBytes: document.byteCount + 16)
        document.withUnsafeBytes { bytes in
            ProjectionCopier(kind: kind).choose(root, from: bytes, into: &builder)
        }
        return builder.finish()
    }
}
