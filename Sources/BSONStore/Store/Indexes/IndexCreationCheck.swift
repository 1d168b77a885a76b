/// A check that a new index is one that can be created.
///
/// Files of earlier versions may hold other indexes, so parsing a definition skips this check.
///
/// Source: the server's `index_key_validate.cpp` and `index_catalog_impl.cpp`.
struct IndexCreationCheck {
    /// The options allowed for the `_id` index.
    private static let idOptions: Set<String> = ["v", "key", "name", "ns", "collation", "hidden"]

    private let definition: IndexDefinition
    private let context: IndexSpecificationParser

    /// Checks a definition for a collection.
    ///
    /// - Throws: 67, 72, 197 and 2 with MongoDB's messages.
    static func check(_ definition: IndexDefinition, isCapped: Bool) throws(StoreError) {
        try IndexCreationCheck(definition).check(isCapped: isCapped)
    }

    private init(_ definition: IndexDefinition) {
        self.definition = definition
        // The server appends the version.
        let options = definition.document.filter { $0.key != "v" }.map { ($0.key, $0.value) }
        context = IndexSpecificationParser(BSONDocument(options + [("v", 2)]))
    }

    private func check(isCapped: Bool) throws(StoreError) {
        guard definition.keys.map(\.path) != ["_id"] || !isPlain else { return try checkID() }
        guard definition.name != "*" else {
            throw StoreError(.badValue, "The index name '*' is not valid.")
        }
        if let filter = definition.partialFilter {
            do throws(StoreError) {
                try PartialFilterCheck.check(filter)
            } catch {
                throw context.error(error.code, error.message)
            }
        }
        if isCapped, definition.expireAfterSeconds != nil {
            throw StoreError(
                .cannotCreateIndex, "Cannot create TTL index on a capped collection")
        }
        try checkWildcard()
        try checkTexts()
        try checkPlaces()
    }

    /// Whether the fields have a direction, so that the pattern `{_id: 1}` or `{_id: -1}` is the
    /// `_id` index.
    private var isPlain: Bool {
        let direction = definition.keyPattern["_id"].flatMap(\.truncatedNumber)
        return definition.isOrdered && (direction == 1 || direction == -1)
    }

    private func checkID() throws(StoreError) {
        for (option, _) in definition.document where !Self.idOptions.contains(option) {
            throw StoreError(
                .invalidIndexSpecificationOption,
                "The field '\(option)' is not valid for an _id index specification. "
                    + "Specification: \(ShellText.text(of: context.document))")
        }
        guard definition.keys.first?.kind == .ascending else {
            throw StoreError(
                .badValue,
                "The field 'key' for an _id index must be {_id: 1}, but got "
                    + ShellText.text(of: definition.keyPattern))
        }
        if definition.isHidden { throw StoreError(.badValue, "can't hide _id index") }
    }

    private func checkWildcard() throws(StoreError) {
        guard definition.wildcardField != nil else { return }
        guard let projection = definition.wildcardProjection else {
            guard definition.keys.count == 1 || definition.wildcardField != "$**" else {
                throw context.error(
                    .cannotCreateIndex,
                    "Compound wildcard indexes on all fields must also specify "
                        + "'wildcardProjection' option")
            }
            return
        }
        do throws(StoreError) {
            _ = try Projection(projection)
        } catch {
            throw context.error(
                error.code,
                "Failed to parse projection: wildcardProjection :: caused by :: "
                    + error.message)
        }
    }

    private func checkTexts() throws(StoreError) {
        let document = definition.document
        guard definition.textFields != nil else {
            guard document["weights"] == nil else {
                throw context.error(
                    .cannotCreateIndex,
                    "Invalid index specification \(ShellText.text(of: context.document)); the field "
                        + "'weights' can only be specified with text indexes")
            }
            return
        }
        guard let language = document["default_language"]?.stringValue,
            TextLanguage.name(of: language) != nil
        else {
            throw context.error(.cannotCreateIndex, "default_language is not valid")
        }
    }

    private func checkPlaces() throws(StoreError) {
        if definition.keys.contains(where: { $0.kind == .special("2dsphere") }),
            let version = definition.document["2dsphereIndexVersion"],
            version.truncatedNumber.map({ !(1...3).contains($0) }) ?? true
        {
            throw context.error(
                .cannotCreateIndex,
                "unsupported geo index version { 2dsphereIndexVersion : "
                    + "\(ShellText.text(of: version)) }, only support versions: [1,2,3]")
        }
        guard definition.keys.contains(where: { $0.kind == .special("2d") }) else { return }
        let document = definition.document
        for option in ["bits", "min", "max"] {
            guard let value = document[option], !value.isNumber else { continue }
            throw context.error(
                .typeMismatch,
                "The field '\(option)' must be a number, but got \(value.type.alias)")
        }
        if let bits = document["bits"]?.truncatedNumber, !(1...32).contains(bits) {
            throw StoreError(
                .invalidOptions,
                "bits for hash must be > 0 and <= 32, but \(bits) bits were specified")
        }
        let bounds = (document["min"] ?? -180, document["max"] ?? 180)
        guard BSONOrder.compare(bounds.0, bounds.1) == .less else {
            throw StoreError(
                .invalidOptions,
                "region for hash must be valid and have positive area, but "
                    + "[\(ShellText.text(of: bounds.0)), \(ShellText.text(of: bounds.1))] was "
                    + "specified")
        }
    }
}
