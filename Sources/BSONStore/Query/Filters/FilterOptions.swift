/// The context of a filter: variables, collation, text index and the operators that it allows.
struct FilterOptions: Sendable {
    /// The variables that `$expr` may name.
    var variables = ExpressionScope()
    /// The collation of texts; `nil` compares their bytes.
    var collation: Collation?
    /// The text index of the collection, which `$text` needs.
    var textIndex: TextIndexFields?
    /// Whether the filter belongs to a query or a write and thus allows `$where`, and `$near` and
    /// `$nearSphere`, which need an order.
    var isOfQuery = true
    /// Whether the filter allows `$text`.
    var allowsText = true
    /// Whether `$text` without an index is resolved later, with a collection.
    var defersText = false
    /// Whether a collection's own collation applies if the filter has none.
    var inheritsCollation = true

    /// Options without variables, collation and index.
    static let none = FilterOptions()
    /// The options of a command's filter, which is bound to its collection later.
    static let ofCollection = FilterOptions(defersText: true)
}
