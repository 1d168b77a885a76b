/// A test of a whole document, without a path.
package enum DocumentTest: Sendable {
    /// The expression is true for the document.
    case expression(Expression)
    /// The schema accepts the document.
    case schema(JSONSchema)
    /// The indexed fields contain the searched words.
    case text(TextSearch)
    /// A place at the path is at a distance from a point: the nearest place, if there are several.
    case near(FieldPath, GeoNear)
    /// The document belongs to a random sample.
    case sample(rate: Double)
    /// The script's result for the document counts as true.
    case script(any CompiledScript)
    /// The conditions on many fields hold; only a compiled filter has this test.
    case fields(ManyFieldsTest)

    /// Whether a document passes.
    ///
    /// - Throws: the errors of the expression or the script.
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
        case .near(let path, let near): return near.nearest(in: document, at: path) != nil
        case .sample(let rate): return Double.random(in: 0..<1) < rate
        case .script(let script): return try script.accepts(document)
        case .fields(let test): return test.passes(document)
        }
    }
}
