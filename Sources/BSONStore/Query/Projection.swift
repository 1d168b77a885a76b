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
        try self.init(document, options: .none)
    }

    /// Reads a projection whose expressions may name variables and whose `$elemMatch` compares texts
    /// by a collation.
    ///
    /// - Throws: as ``init(_:)``.
    init(_ document: BSONDocument, options: LanguageOptions) throws(StoreError) {
        self.document = document
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
        try apply(to: document, matching: filter, ExpressionFrame(now: UpdateClock.now))
    }

    /// As ``apply(to:matching:)``, with what the expressions see: variables, time, `$meta`.
    func apply(
        to document: BSONDocument, matching filter: Filter, _ frame: ExpressionFrame
    ) throws(StoreError) -> BSONDocument {
        var result = choose(from: document)
        if root.computes {
            var frame = frame
            frame.root = document
            let computing = ProjectionComputing(document: document, frame: frame)
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
            ProjectionChoosing(kind: kind).choose(root, from: bytes, into: &builder)
        }
        return builder.finish()
    }
}
