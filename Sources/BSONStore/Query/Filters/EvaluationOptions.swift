/// Says what updates and projections may use beside the document, and reads the filters in them.
struct EvaluationOptions: Sendable {
    /// The variables that expressions may name.
    var variables = ExpressionScope()
    /// How texts compare; `nil` compares their bytes.
    var collation: Collation?

    /// Nothing but the document.
    static let none = EvaluationOptions()

    /// Reads a filter that stands in an update or a projection.
    ///
    /// - Throws: as ``Filter/init(_:)`` does.
    func filter(_ document: BSONDocument) throws(StoreError) -> Filter {
        var options = FilterOptions()
        options.variables = variables
        options.collation = collation
        options.isOfQuery = false
        options.allowsText = false
        return try Filter(document, options: options)
    }

    /// Compiles a part of a filter.
    func filter(_ predicate: Predicate) throws(StoreError) -> Filter {
        try Filter(predicate, collation: collation)
    }
}
