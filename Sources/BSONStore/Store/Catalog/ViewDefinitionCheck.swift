/// A check of a view before it is made or changed.
struct ViewDefinitionCheck {
    /// The largest depth of views upon views.
    static let depthMax = 20

    /// The error for views that exceed the depth.
    static let tooDeep = StoreError(
        .viewDepthLimitExceeded,
        "View depth too deep or view cycle detected; maximum depth is 20")

    /// The transaction's connection.
    let connection: SQLiteConnection

    /// Checks that a view can be made or changed.
    ///
    /// - Throws: 14, 40323 and others for an invalid pipeline, 167 (OptionNotSupportedOnView) for
    ///   one that writes or watches and for views of different collations, 73 for one without a
    ///   collection, 5 (GraphContainsCycle) for a view that contains itself, 165 for views nested
    ///   too deeply.
    ///
    /// Source: the server's `view_catalog_helpers.cpp` and `view_graph.cpp`.
    func check(
        _ view: CollectionOptions.View, collation: BSONDocument?, named namespace: Namespace
    ) throws(StoreError) {
        try Namespace(namespace.database, view.on).check()
        for stage in view.pipeline where stage.documentValue == nil {
            throw StoreError(
                .typeMismatch, "Each element of the 'pipeline' array must be an object")
        }
        try checkStages(of: view, named: namespace)
        // A view that contains itself is found before its readers are counted.
        var checked: [Name: Int] = [:]
        try checkPaths(of: view, collation: collation, named: namespace, depth: 1, &checked)
        let above = try checkReaders(of: namespace, collation)
        guard above > 0 else { return }
        checked = [:]
        try checkPaths(
            of: view, collation: collation, named: namespace, depth: above + 1, &checked)
    }

    /// Checks the views that read a view, which may have been made before it.
    ///
    /// - Returns: how many of them are nested.
    private func checkReaders(
        of namespace: Namespace, _ collation: BSONDocument?
    ) throws(StoreError) -> Int {
        let own = Name(namespace.collection)
        let views = try views(of: namespace.database).filter { $0.name != own }
        var names: Set<Name> = [own]
        for height in 0...Self.depthMax {
            let readers = views.filter { !$0.sources.isDisjoint(with: names) }
            guard !readers.isEmpty else { return height }
            if height == 0, let other = readers.first(where: { $0.collation != collation }) {
                throw Self.conflict(namespace, Namespace(namespace.database, other.name.text))
            }
            names = Set(readers.map(\.name))
        }
        throw Self.tooDeep
    }

    /// A view of the catalog, with the names of everything that it reads.
    private struct KnownView {
        let name: Name
        let sources: Set<Name>
        let collation: BSONDocument?
    }

    private func views(of database: String) throws(StoreError) -> [KnownView] {
        let reader = CatalogReader(
            connection: connection, access: TransactionAccess(policy: nil))
        var views: [KnownView] = []
        for namespace in try reader.collections()
        where namespace.database.hasSameBytes(as: database) {
            guard let options = try Catalog.read(namespace, connection)?.options,
                let view = options.view
            else { continue }
            let sources = [view.on] + PipelineCollections.read(by: view.pipeline)
            views.append(
                KnownView(
                    name: Name(namespace.collection), sources: Set(sources.map { Name($0) }),
                    collation: options.collation))
        }
        return views
    }

    private static func conflict(_ namespace: Namespace, _ other: Namespace) -> StoreError {
        StoreError(
            .optionNotSupportedOnView,
            "View \(namespace) has conflicting collation with view \(other)")
    }

    private func checkStages(
        of view: CollectionOptions.View, named namespace: Namespace
    ) throws(StoreError) {
        let names = view.pipeline.map { $0.documentValue?.keys.first ?? "" }
        let isInvalid = { (error: StoreError) in
            var error = error
            error.message =
                "Invalid pipeline for view \(namespace) :: caused by :: \(error.message)"
            error.phase = nil
            return error
        }
        guard names.first != "$changeStream" else {
            throw isInvalid(
                StoreError(
                    .optionNotSupportedOnView, "$changeStream cannot be used in a view definition"))
        }
        if let name = names.first(where: Self.ofDatabases.contains) {
            throw isInvalid(
                StoreError(.invalidNamespace, "'\(name)' cannot be used in a view definition"))
        }
        do throws(StoreError) {
            _ = try Pipeline(view.pipeline, options: PipelineOptions())
        } catch {
            // Stages that only a server has are checked when the view is read.
            if error.code == .unknownStage, Self.isOfServer(view.pipeline) { return }
            // Stages of unknown names are found earlier.
            throw [.stageNotSingleField, .unknownStage].contains(error.code)
                ? error : isInvalid(error)
        }
        for (place, name) in names.enumerated() {
            guard let rule = StageDefinition.all[name] else { continue }
            guard rule.position != .last else {
                throw isInvalid(
                    StoreError(
                        .optionNotSupportedOnView,
                        "The aggregation stage \(name) in location \(place) of the pipeline cannot "
                            + "be used in the view definition of \(namespace) because it writes to "
                            + "disk"))
            }
            guard !rule.isCollectionless else {
                throw isInvalid(
                    StoreError(.invalidNamespace, "'\(name)' cannot be used in a view definition"))
            }
        }
    }

    /// The stages that only a server has and that read no collection.
    private static let ofDatabases: Set<String> = [
        "$currentOp", "$listSessions", "$listLocalSessions",
    ]

    private static func isOfServer(_ pipeline: BSONArray) -> Bool {
        guard let name = pipeline.values.first?.documentValue?.keys.first else { return false }
        return StageDefinition.statisticsOfCollections.contains(name)
    }

    /// Follows everything that a view reads, down to collections.
    ///
    /// - Parameter checked: the depths to which views were followed, so that a view that many
    ///   others read is not followed once for each way to it.
    private func checkPaths(
        of view: CollectionOptions.View, collation: BSONDocument?, named namespace: Namespace,
        depth: Int, _ checked: inout [Name: Int]
    ) throws(StoreError) {
        guard depth <= Self.depthMax else { throw Self.tooDeep }
        for name in [view.on] + PipelineCollections.read(by: view.pipeline) {
            let source = Namespace(namespace.database, name)
            guard source != namespace else {
                throw StoreError(
                    .graphContainsCycle, "View cycle detected: \(namespace)")
            }
            try WorkBudget.spend()
            guard checked[name, default: 0] < depth else { continue }
            checked[name] = depth
            guard let options = try Catalog.read(source, connection)?.options,
                let next = options.view
            else { continue }
            guard options.collation == collation else { throw Self.conflict(namespace, source) }
            try checkPaths(
                of: next, collation: collation, named: namespace, depth: depth + 1, &checked)
        }
    }
}
