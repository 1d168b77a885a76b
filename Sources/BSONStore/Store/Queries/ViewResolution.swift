/// The rules for reading views: their number, one upon the other, and their collation.
///
/// Source: MongoDB manual, "Views", "Behavior".
struct ViewResolution {
    let tables: TableLookup

    /// Checks that not too many views lie between a view and its collection.
    ///
    /// As in MongoDB, `depthMax` views upon one another can be made, but one less can be read.
    ///
    /// - Throws: 165 (ViewDepthLimitExceeded).
    func checkDepth(
        of view: CollectionOptions.View, in database: String
    ) throws(StoreError) {
        var depth = 1
        var next = view
        while let inner = try tables.view(Namespace(database, next.on)) {
            depth += 1
            guard depth < ViewDefinitionCheck.depthMax else { throw ViewDefinitionCheck.tooDeep }
            next = inner
        }
    }

    /// Checks that a collation is that of a view; does nothing for a collection.
    ///
    /// - Parameter collation: the collation that a command compares texts by; `nil` for bytes.
    /// - Throws: 167 (OptionNotSupportedOnView).
    func check(_ collation: Collation?, _ namespace: Namespace) throws(StoreError) {
        let isOther = try tables.onTable(namespace) { table in
            !table.isPlain && table.options.view != nil && table.collation != collation
        }
        guard isOther == true else { return }
        throw StoreError(
            .optionNotSupportedOnView,
            "Cannot override a view's default collation: \(namespace)")
    }

    /// Checks the collation of a pipeline against the views that it reads.
    ///
    /// - Parameters:
    ///   - collation: the default collation of the collection or view.
    ///   - isOpen: whether the reader may know that a collection is a view.
    /// - Throws: 167 (OptionNotSupportedOnView).
    func check(
        _ pipeline: Pipeline, on namespace: Namespace, _ collation: Collation?,
        isOpen: (Namespace) -> Bool
    ) throws(StoreError) {
        let isNamed = pipeline.namesCollation
        if isNamed { try check(pipeline.namedCollation, namespace) }
        for name in pipeline.foreignCollections {
            let source = Namespace(namespace.database, name)
            guard isOpen(source) else { continue }
            try check(isNamed ? pipeline.namedCollation : collation, source)
        }
    }
}
