extension Filter {
    /// Reads the filter of a command with its variables, its collation and its time.
    ///
    /// - Parameters:
    ///   - variables: what `let` defines for `$expr`, by name.
    ///   - collation: how texts compare; `nil` compares their bytes.
    ///   - now: what `$$NOW` stands for.
    ///   - inheritsCollation: whether the collection's own collation holds where none is given; not
    ///     where a command says `{locale: "simple"}`.
    /// - Throws: as ``init(_:)``; `failedToParse` (9) and others for variables that are none.
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
