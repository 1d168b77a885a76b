extension Filter {
    /// Parses the filter of a command with its variables, its collation and its time.
    ///
    /// - Parameters:
    ///   - variables: the values of `let` for `$expr`, by name.
    ///   - collation: the collation of texts; `nil` for the collection's own.
    ///   - now: the value of `$$NOW`; `nil` for a command without it.
    /// - Throws: as ``init(_:)``; `failedToParse` (9) and others for invalid variables.
    public init(
        _ document: BSONDocument, variables: BSONDocument?, collation: Collation? = nil,
        now: BSONDatetime?
    ) throws(StoreError) {
        let variables = try CommandVariables(variables, collation: collation?.unlessSimple)
        var options = FilterOptions(variables: variables.scope, collation: collation)
        options.defersText = true
        let filter = try Filter(document, options: options)
        self = filter.bound(to: try variables.frame(now: now))
    }
}

extension Filter {
    /// The predicate, together with the equalities that follow from `$expr` and the variables' values:
    /// what a document that passes the filter fulfils, for choosing the rows to read.
    package var plannedPredicate: Predicate {
        let parts: [Predicate]
        if case .all(let all) = predicate { parts = all } else { parts = [predicate] }
        var implied: [Predicate] = []
        for case .special(.expression(let expression)) in parts {
            for (field, value) in expression.equalities(frame)
            where !Collation.concerns(value) || expression.comparesTexts(by: collation, frame) {
                implied.append(.field(FieldPath(parts: [field]), .compare(.equal, value)))
            }
        }
        return implied.isEmpty ? predicate : .all(parts + implied)
    }
}
