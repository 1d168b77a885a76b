/// Asks something of a whole document that no path leads to.
enum DocumentTest: Sendable {
    /// The expression is true for it.
    case expression(Expression)
    /// It is as the schema says.
    case schema(JSONSchema)
    /// Its indexed fields hold what is searched.
    case text(TextSearch)
    /// It belongs to a random part.
    case sample(rate: Double)
    /// The script's value for it counts as true.
    case script(Script)

    /// Whether a document passes.
    ///
    /// - Throws: what computing the expression throws, or the script.
    func passes(
        _ document: BSONDocument, _ frame: ExpressionFrame, collation: Collation? = nil
    ) throws(StoreError) -> Bool {
        switch self {
        case .expression(let expression):
            var frame = frame
            frame.root = document
            frame.collation = frame.collation ?? collation
            return Expression.isTrue(try expression.evaluate(document, frame))
        case .schema(let schema): return schema.accepts(.document(document))
        case .text(let search): return search.score(of: document) != nil
        case .sample(let rate): return Double.random(in: 0..<1) < rate
        case .script(let script): return try script.accepts(document)
        }
    }
}
