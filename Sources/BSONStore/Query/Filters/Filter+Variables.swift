extension Filter {
    /// Parses the filter of a command with its variables, its collation and its time.
    ///
    /// - Parameters:
    ///   - variables: the values of `let` for `$expr`, by name.
    ///   - collation: the collation of texts; `nil` compares their bytes.
    ///   - now: the value of `$$NOW`.
    ///   - inheritsCollation: whether the collection's own collation applies if none is given;
    ///     false if a command specifies `{locale: "simple"}`.
    /// - Throws: as ``init(_:)``; `failedToParse` (9) and others for invalid variables.
    public init(
        _ document: BSONDocument, variables: BSONDocument?, collation: Collation? = nil,
        now: BSONDatetime, inheritsCollation: Bool = true
    ) throws(StoreError) {
        let variables = try CommandVariables(variables)
        var options = FilterOptions(variables: variables.scope, collation: collation)
        options.defersText = true
        options.inheritsCollation = inheritsCollation
        let filter = try Filter(document, options: options)
        self = filter.bound(to: try variables.frame(now: now))
    }
}
