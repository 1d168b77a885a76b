/// The context of a filter: variables, collation, text index and the operators that it allows.
package struct FilterOptions: Sendable {
    /// The variables that `$expr` may name.
    var variables: ExpressionScope
    /// The collation of texts; `nil` compares their bytes.
    package var collation: Collation? { didSet { takeSimple() } }
    /// The text index of the collection, which `$text` needs.
    var textIndex: TextIndexFields?
    /// Whether the filter belongs to a query or a write and thus allows `$where`, and `$near` and
    /// `$nearSphere`, which need an order.
    package var isOfQuery: Bool
    /// Whether the filter allows `$text`.
    package var allowsText: Bool
    /// Whether the filter allows `$expr` and `$jsonSchema`.
    var allowsExpressions: Bool
    /// Whether `$text` without an index is resolved later, with a collection.
    var defersText: Bool
    /// Whether a collection's own collation applies if the filter has none.
    package var inheritsCollation: Bool

    /// Creates options.
    package init(
        variables: ExpressionScope = ExpressionScope(), collation: Collation? = nil,
        textIndex: TextIndexFields? = nil, isOfQuery: Bool = true, allowsText: Bool = true,
        allowsExpressions: Bool = true, defersText: Bool = false,
        inheritsCollation: Bool = true
    ) {
        self.variables = variables
        self.collation = collation
        self.textIndex = textIndex
        self.isOfQuery = isOfQuery
        self.allowsText = allowsText
        self.allowsExpressions = allowsExpressions
        self.defersText = defersText
        self.inheritsCollation = inheritsCollation
        takeSimple()
    }

    /// Notes that a filter with the simple collation compares bytes in every collection.
    private mutating func takeSimple() {
        guard let collation, collation.isSimple else { return }
        self.collation = nil
        inheritsCollation = false
    }

    /// Options without variables, collation and index.
    package static let none = FilterOptions()
    /// The options of a filter of collections or databases, in which the time has no value.
    package static let ofListing = {
        var options = FilterOptions(isOfQuery: false, allowsText: false)
        options.variables.hasTime = false
        return options
    }()
    /// The options of a command's filter, which is bound to its collection later.
    static let ofCollection = FilterOptions(defersText: true)
}
