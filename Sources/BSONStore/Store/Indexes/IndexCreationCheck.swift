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
        guard !definition.isUnique || !definition.preparesUnique else {
            throw context.error(
                .cannotCreateIndex,
                "An index cannot have both the option 'unique' and the option 'prepareUnique'")
        }
        if let filter = definition.partialFilter {
            guard !definition.isSparse else {
                throw StoreError(
                    .cannotCreateIndex,
                    "cannot mix \"partialFilterExpression\" and \"sparse\" options")
            }
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

    /// Checks the levels of cells of a `2dsphere` index.
    ///
    /// Source: the server's `expression_params.cpp`, `initialize2dsphereParams`.
    private func checkLevels(_ document: BSONDocument) throws(StoreError) {
        let coarsest = document["coarsestIndexedLevel"]?.truncatedNumber
        let finest = document["finestIndexedLevel"]?.truncatedNumber
        guard coarsest ?? 0 >= 0 else {
            throw StoreError.location(16747, "coarsestIndexedLevel must be >= 0")
        }
        guard finest ?? 0 <= 30 else {
            throw StoreError.location(16748, "finestIndexedLevel must be <= 30")
        }
        // The levels of 100 km and of 500 m.
        guard finest ?? 14 >= coarsest ?? 6 else {
            throw .location(16749, "finestIndexedLevel must be >= coarsestIndexedLevel")
        }
    }

    private func checkWildcard() throws(StoreError) {
        guard definition.wildcardField != nil else { return }
        guard definition.isOrdered else {
            throw context.error(
                .cannotCreateIndex,
                "A compound wildcard index cannot have a field of another index type")
        }
        let wildcards = definition.keys.filter { IndexKeyPatternParser.isWildcard($0.path) }
        guard wildcards.count == 1 else {
            throw context.error(
                StoreError.Code(rawValue: 7_246_201),
                "Only one wildcard field is allowed in a wildcard index")
        }
        guard let projection = definition.wildcardProjection else {
            guard definition.keys.count == 1 || definition.wildcardField != "$**" else {
                throw context.error(
                    .cannotCreateIndex,
                    "Compound wildcard indexes on all fields must also specify "
                        + "'wildcardProjection' option")
            }
            return try checkCollisions()
        }
        try checkMix(projection)
        do throws(StoreError) {
            _ = try Projection(projection)
        } catch {
            throw context.error(
                error.code,
                "Failed to parse projection: wildcardProjection :: caused by :: "
                    + error.message)
        }
        try checkComputed(projection)
        guard definition.keys.count > 1, definition.wildcardField == "$**" else { return }
        try checkRegularFields(projection)
    }

    /// Checks that no regular field lies below the wildcard.
    ///
    /// Source: `jstests/core/index/wildcard/compound_wildcard_index_validation.js`.
    private func checkCollisions() throws(StoreError) {
        guard let field = definition.wildcardField, field != "$**" else { return }
        let wildcard = WildcardKeyGenerator.PathSet([field.droppingLastBytes(4)])
        for key in definition.keys where key.path != field && wildcard.covers(key.path) {
            throw context.error(
                StoreError.Code(rawValue: 7_246_204),
                "The regular field '\(key.path)' of a compound wildcard index overlaps with its "
                    + "wildcard field '\(field)'")
        }
    }

    /// Checks that the projection leaves the regular fields out.
    ///
    /// Source: `jstests/core/index/wildcard/compound_wildcard_index_validation.js`.
    private func checkRegularFields(_ projection: BSONDocument) throws(StoreError) {
        let fields = WildcardKeyGenerator.flattened(projection)
        let isInclusion =
            fields.allSatisfy { $0.isIncluded || $0.path == "_id" }
            && fields.contains(where: \.isIncluded)
        let named = fields.filter { $0.isIncluded == isInclusion }.map(\.path)
        let wildcard = WildcardKeyGenerator.PathSet(named)
        for key in definition.keys where key.path != "$**" {
            guard wildcard.covers(key.path) == isInclusion else { continue }
            let hasLater = named.contains { Name(key.path) < Name($0) }
            throw context.error(
                StoreError.Code(
                    rawValue: isInclusion ? 7_246_208 : hasLater ? 7_246_209 : 7_246_210),
                "wildcardProjection of a compound wildcard index must exclude all regular index "
                    + "fields, but includes '\(key.path)'")
        }
    }

    /// Checks that a projection of a compound index does not both include and exclude fields.
    private func checkMix(_ projection: BSONDocument) throws(StoreError) {
        guard definition.keys.count > 1 else { return }
        let fields = WildcardKeyGenerator.flattened(projection).filter { $0.path != "_id" }
        guard Set(fields.map(\.isIncluded)).count < 2 else {
            throw context.error(
                StoreError.Code(rawValue: 7_246_211),
                "wildcardProjection of a compound wildcard index cannot mix inclusion and exclusion"
            )
        }
    }

    /// Checks that a projection includes or excludes its fields and computes none.
    private func checkComputed(_ projection: BSONDocument) throws(StoreError) {
        let isPlain = projection.allSatisfy { field, value in
            guard !field.utf8.starts(with: "$".utf8) else { return false }
            switch value {
            case .bool, .int32, .int64, .double, .decimal128, .document: return true
            default: return false
            }
        }
        guard isPlain else {
            throw context.error(
                StoreError.Code(rawValue: 51271),
                "Failed to parse projection: wildcardProjection :: caused by :: Bad projection "
                    + "specification, cannot use computed fields when parsing a spec in "
                    + "kBanComputedFields mode: \(ShellText.text(of: projection))")
        }
        for (_, value) in projection {
            if let inner = value.documentValue { try checkComputed(inner) }
        }
    }

    private func checkTexts() throws(StoreError) {
        let document = definition.document
        guard definition.textFields != nil else {
            guard !definition.keys.contains(where: { $0.path == "_fts" }) else {
                throw context.error(
                    .cannotCreateIndex, "Index key contains an illegal field name: '_fts'")
            }
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
        guard let override = document["language_override"]?.stringValue else {
            throw context.error(.cannotCreateIndex, "language_override must be a string")
        }
        guard !override.isEmpty, !override.utf8.starts(with: "$".utf8),
            !override.utf8.contains(UInt8(ascii: "."))
        else {
            throw context.error(.cannotCreateIndex, "language_override is not valid")
        }
        guard let version = document["textIndexVersion"], version.isNumber else {
            throw context.error(
                .cannotCreateIndex, "text index option 'textIndexVersion' must be a number")
        }
        guard let number = version.truncatedNumber, (1...3).contains(number) else {
            throw context.error(
                .cannotCreateIndex, "bad textIndexVersion: \(ShellText.text(of: version))")
        }
        try checkWeights(document["weights"]?.documentValue ?? [:])
    }

    /// Checks that weights belong to paths.
    ///
    /// Source: the server's `fts_spec.cpp`, `FTSSpec::fixSpec`.
    private func checkWeights(_ weights: BSONDocument) throws(StoreError) {
        guard !weights.isEmpty else {
            throw context.error(
                .cannotCreateIndex, "text index option 'weights' must specify fields")
        }
        for (path, _) in weights where path != "$**" {
            guard !path.isEmpty else {
                throw context.error(.cannotCreateIndex, "weight cannot be on an empty field")
            }
            for part in path.dottedParts {
                guard !part.isEmpty else {
                    throw context.error(
                        .cannotCreateIndex, "weight cannot have empty path component")
                }
                guard !part.utf8.starts(with: "$".utf8) else {
                    throw context.error(
                        .cannotCreateIndex, "weight cannot have path component with $ prefix")
                }
            }
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
        let document = definition.document
        try checkLevels(document)
        guard let place = definition.keys.firstIndex(where: { $0.kind == .special("2d") }) else {
            return
        }
        guard definition.keys.count(where: { $0.kind == .special("2d") }) == 1 else {
            throw StoreError.location(16800, "can't have 2 geo fields")
        }
        guard place == 0 else { throw StoreError.location(16801, "2d has to be first in index") }
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
        // A NaN is neither less nor greater.
        guard GeoParser.number(bounds.0) < GeoParser.number(bounds.1),
            [bounds.0, bounds.1].allSatisfy({ GeoParser.number($0).isFinite })
        else {
            throw StoreError(
                .invalidOptions,
                "region for hash must be valid and have positive area, but "
                    + "[\(ShellText.text(of: bounds.0)), \(ShellText.text(of: bounds.1))] was "
                    + "specified")
        }
    }
}
