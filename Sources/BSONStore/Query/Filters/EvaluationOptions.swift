/// The variables and the collation of updates and projections, for the filters in them.
package struct EvaluationOptions: Sendable {
    /// The variables that expressions may name.
    var variables: ExpressionScope
    /// The collation of texts; `nil` for the collection's own.
    package var collation: Collation?

    /// Creates options.
    package init(variables: ExpressionScope = ExpressionScope(), collation: Collation? = nil) {
        self.variables = variables
        self.collation = collation
    }

    /// Options without variables and collation.
    static let none = EvaluationOptions()

    /// Parses a filter of the elements of an array: in `$pull`, in `arrayFilters`, or in the
    /// `$elemMatch` of a projection.
    ///
    /// - Throws: as ``Filter/init(_:)``, and 224 (QueryFeatureNotAllowed) for `$expr` and
    ///   `$jsonSchema`.
    ///
    /// Source: the server parses these with `MatchExpressionParser::kBanAllSpecialFeatures`.
    package func filter(_ document: BSONDocument) throws(StoreError) -> Filter {
        var options = FilterOptions()
        options.variables = variables
        options.collation = collation
        options.isOfQuery = false
        options.allowsText = false
        options.allowsExpressions = false
        return try Filter(document, options: options)
    }

    /// Compiles a part of a filter.
    func filter(_ predicate: Predicate) throws(StoreError) -> Filter {
        try Filter(predicate, collation: collation)
    }
}
