/// Chooses the fields of documents: those that are named, or all but those, and computes others.
///
/// The language is that of `find`: 1 and 0, nested documents and dotted paths, `$slice`,
/// `$elemMatch`, the positional `$` and aggregation expressions. Parsed once, applied over the bytes.
/// Source: MongoDB manual, "Projection"; the server's `projection_parser`.
public struct Projection: Sendable {
    /// The projection as it was written.
    public let document: BSONDocument
    let kind: Kind
    let root: ProjectionNode
    /// What happens to the result, in order.
    let operators: [ProjectionOperator]
    /// The values of the variables that the expressions may name.
    private let variables: [BSONValue?]

    /// What happens to the fields that are not named.
    enum Kind: Sendable {
        /// They are left out.
        case inclusion
        /// They stay; those that are named are left out.
        case exclusion
    }

    /// Reads a projection such as `["name": 1, "address.city": 1, "_id": 0]`.
    ///
    /// - Throws: 31253 and 31254 when inclusion and exclusion are mixed, 31249 and 31250 when paths
    ///   collide, and others with MongoDB's text.
    public init(_ document: BSONDocument) throws(StoreError) {
        try self.init(document, variables: [:], collation: nil)
    }

    /// Reads a projection whose expressions may name variables and whose `$elemMatch` compares texts
    /// by a collation.
    ///
    /// - Parameter variables: the `let` of a command: constant expressions by name.
    /// - Throws: as ``init(_:)``.
    public init(
        _ document: BSONDocument, variables: BSONDocument, collation: Collation?
    ) throws(StoreError) {
        var options = EvaluationOptions(
            variables: ExpressionScope(collation: collation), collation: collation)
        var values: [BSONValue?] = []
        let frame = ExpressionFrame(now: WallClock.now)
        for (name, value) in variables {
            values.append(try Expression(value).evaluate(BSONDocument(), frame))
            try options.variables.define(name)
        }
        self.document = document
        self.variables = values
        (kind, root, operators) = try ProjectionParser.parse(document, options)
    }

    /// Whether applying it takes the filter that found the document.
    var isPositional: Bool { operators.contains { $0.isPositional } }

    /// The document with the chosen fields in the document's order, computed ones behind them.
    ///
    /// - Parameter filter: the filter that found the document; says what a positional `$` shows.
    /// - Throws: 51246 when it does not say that, and what the expressions throw.
    public func apply(
        to document: BSONDocument, matching filter: Filter = .all
    ) throws(StoreError) -> BSONDocument {
        guard root.computes else { return try apply(to: document, matching: filter, .init()) }
        var frame = ExpressionFrame(now: WallClock.now, values: variables)
        frame.metadata = filter.metadata(of: document)
        return try apply(to: document, matching: filter, frame)
    }

    /// As ``apply(to:matching:)``, with what the expressions see: variables, time, `$meta`.
    func apply(
        to document: BSONDocument, matching filter: Filter, _ frame: ExpressionFrame
    ) throws(StoreError) -> BSONDocument {
        var result = choose(from: document)
        if root.computes {
            var frame = frame
            frame.root = document
            let computing = ProjectionEvaluator(document: document, frame: frame)
            result = try computing.compute(root, in: result)
        }
        for projection in operators {
            result = try projection.apply(to: result, of: document, filter)
        }
        return result
    }

    private func choose(from document: BSONDocument) -> BSONDocument {
        var builder = BSONDocumentBuilder(reservingBytes: document.byteCount + 16)
        document.withUnsafeBytes { bytes in
            ProjectionCopier(kind: kind).choose(root, from: bytes, into: &builder)
        }
        return builder.finish()
    }
}
