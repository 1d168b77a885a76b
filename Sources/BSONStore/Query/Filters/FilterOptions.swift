/// Says what a filter may use beside the document.
struct FilterOptions: Sendable {
    /// The variables that `$expr` may name.
    var variables = ExpressionScope()
    /// How texts compare; `nil` compares their bytes.
    var collation: Collation?
    /// The text index of the collection, which `$text` needs.
    var textIndex: TextIndexFields?
    /// Whether the filter is one of a query or a write, where `$near`, `$nearSphere`, which need an
    /// order, and `$where` may stand.
    var isOfQuery = true
    /// Whether `$text` may stand in the filter.
    var allowsText = true
    /// Whether `$text` without an index waits until the filter meets a collection.
    var defersText = false
    /// Whether a collection's own collation holds where the filter has none.
    var inheritsCollation = true

    /// Nothing but the document.
    static let none = FilterOptions()
    /// What a filter of a command has, which meets its collection later.
    static let ofCollection = FilterOptions(defersText: true)
}
