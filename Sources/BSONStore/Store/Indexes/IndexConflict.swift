/// A comparison of a new index with the existing ones, as in the server.
enum IndexConflict {
    /// Whether the same index exists under the same name.
    ///
    /// - Throws: 85 when the same keys are indexed under another name or with other options, 86
    ///   when the name belongs to other keys, 67 for a second text index.
    static func isThere(
        _ new: IndexDefinition, among existing: [IndexDefinition]
    ) throws(StoreError) -> Bool {
        if IndexDefinition.id.hasKeyPattern(new.keyPattern) { return true }
        guard new.name != IndexDefinition.id.name else {
            throw StoreError(
                .badValue,
                "The index name '_id_' is reserved for the _id index, which must have key pattern "
                    + "{_id: 1}, found key: \(ShellText.text(of: new.keyPattern))")
        }
        if let old = existing.first(where: { $0.name.hasSameBytes(as: new.name) }) {
            guard isAlike(old, new) else {
                throw conflict(
                    .indexKeySpecsConflict,
                    "An existing index has the same name as the requested index. When index names "
                        + "are not specified, they are auto generated and can cause conflicts. "
                        + "Please refer to our documentation.", new, old)
            }
            guard isSame(old, new) else {
                throw conflict(
                    .indexOptionsConflict,
                    "An equivalent index already exists with the same name but different "
                        + "options.", new, old)
            }
            return true
        }
        if let old = existing.first(where: { isAlike($0, new) }) {
            guard isSame(old, new) else {
                throw conflict(
                    .indexOptionsConflict,
                    "An equivalent index already exists with a different name and options.",
                    new, old)
            }
            throw StoreError(
                .indexOptionsConflict,
                "Index already exists with a different name: \(old.name)")
        }
        if new.textFields != nil, let old = existing.first(where: { $0.textFields != nil }) {
            throw StoreError(
                .cannotCreateIndex,
                "only one text index per collection allowed, found existing text index "
                    + "\"\(old.name)\"")
        }
        return false
    }

    private static func conflict(
        _ code: StoreError.Code, _ reason: String, _ new: IndexDefinition, _ old: IndexDefinition
    ) -> StoreError {
        StoreError(
            code,
            "\(reason) Requested index: \(ShellText.text(of: new.document)), existing index: "
                + ShellText.text(of: old.document))
    }

    /// Whether two indexes have the same keys for the same documents, so that one is redundant.
    private static func isAlike(_ old: IndexDefinition, _ new: IndexDefinition) -> Bool {
        old.hasKeyPattern(new.keyPattern)
            && old.partialFilter.map(PartialFilterForm.init)
                == new.partialFilter.map(PartialFilterForm.init)
            && old.collation == new.collation && old.isUnique == new.isUnique
            && old.isSparse == new.isSparse
            && old.wildcardProjection.map(paths) == new.wildcardProjection.map(paths)
    }

    /// Returns whether a wildcard projection includes each path; it excludes the `_id` by default.
    private static func paths(_ projection: BSONDocument) -> [Name: Bool] {
        var paths: [Name: Bool] = [:]
        func visit(_ document: BSONDocument, below prefix: String) {
            for (name, value) in document {
                let path = prefix + name
                if let inner = value.documentValue {
                    visit(inner, below: path + ".")
                } else {
                    paths[Name(path)] = PredicateParser.isTrue(value)
                }
            }
        }
        visit(projection, below: "")
        if paths["_id"] == false { paths["_id"] = nil }
        return paths
    }

    private static func isSame(_ old: IndexDefinition, _ new: IndexDefinition) -> Bool {
        old.expireAfterSeconds == new.expireAfterSeconds && old.isHidden == new.isHidden
            && old.preparesUnique == new.preparesUnique
            && old.textFields?.weights == new.textFields?.weights
            && old.document["default_language"] == new.document["default_language"]
            && old.document["language_override"] == new.document["language_override"]
    }
}
