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
    ///   one that writes or watches, 73 for one without a collection, 5 (GraphContainsCycle) for a
    ///   view that contains itself, 165 for views nested too deeply.
    ///
    /// Source: the server's `view_catalog_helpers.cpp` and `view_graph.cpp`.
    func check(
        _ view: CollectionOptions.View, named namespace: Namespace
    ) throws(StoreError) {
        try Namespace(namespace.database, view.on).check()
        for stage in view.pipeline where stage.documentValue == nil {
            throw StoreError(
                .typeMismatch, "Each element of the 'pipeline' array must be an object")
        }
        try checkStages(of: view, named: namespace)
        var checked: [Name: Int] = [:]
        try checkPaths(of: view, named: namespace, depth: 1, &checked)
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

    private static func isOfServer(_ pipeline: BSONArray) -> Bool {
        let name = pipeline.values.first?.documentValue?.keys.first
        return ["$collStats", "$indexStats", "$planCacheStats"].contains(name)
    }

    /// Follows everything that a view reads, down to collections.
    ///
    /// - Parameter checked: the depths to which views were followed, so that a view that many
    ///   others read is not followed once for each way to it.
    private func checkPaths(
        of view: CollectionOptions.View, named namespace: Namespace, depth: Int,
        _ checked: inout [Name: Int]
    ) throws(StoreError) {
        guard depth <= Self.depthMax else { throw Self.tooDeep }
        for name in [view.on] + view.pipeline.flatMap(Self.collections) {
            let source = Namespace(namespace.database, name)
            guard source != namespace else {
                throw StoreError(
                    .graphContainsCycle, "View cycle detected: \(namespace)")
            }
            try WorkBudget.spend()
            guard checked[name, default: 0] < depth else { continue }
            checked[name] = depth
            guard let next = try Catalog.read(source, connection)?.options.view else { continue }
            try checkPaths(of: next, named: namespace, depth: depth + 1, &checked)
        }
    }

    /// Returns the collections that a stage, including stages inside it, reads.
    private static func collections(_ stage: BSONValue) -> [String] {
        guard let (name, value) = stage.documentValue?.first(where: { _ in true }) else {
            return []
        }
        let argument = value.documentValue
        var names: [String?] = []
        if name == "$lookup" || name == "$graphLookup" {
            names.append(argument?["from"]?.stringValue)
        }
        if name == "$unionWith" {
            names.append(value.stringValue ?? argument?["coll"]?.stringValue)
        }
        let inner =
            name == "$facet"
            ? (argument ?? [:]).flatMap { $0.value.arrayValue?.values ?? [] }
            : argument?["pipeline"]?.arrayValue?.values ?? []
        return names.compactMap { $0 } + inner.flatMap(collections)
    }
}
