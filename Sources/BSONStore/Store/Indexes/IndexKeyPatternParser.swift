/// A parser of index key patterns with MongoDB's errors.
///
/// Source: the server's `index_key_validate.cpp`.
enum IndexKeyPatternParser {
    private typealias Key = IndexDefinition.Key
    private static let plugins: Set<String> = ["text", "2dsphere", "2d", "hashed"]

    /// Whether a path is a wildcard for all fields below it.
    static func isWildcard(_ path: String) -> Bool { path == "$**" || path.hasByteSuffix(".$**") }

    /// Returns the fields of a pattern.
    ///
    /// - Throws: 67, 13103 and others for an invalid pattern.
    static func keys(
        _ pattern: BSONDocument, _ context: IndexSpecificationParser
    ) throws(StoreError) -> [IndexDefinition.Key] {
        guard !pattern.isEmpty else {
            throw context.error(.cannotCreateIndex, "Index keys cannot be empty.")
        }
        guard pattern.count <= IndexDefinition.fieldsMax else {
            throw context.error(.tooManyIndexKeys, "too many compound keys")
        }
        guard pattern.byteCount <= 2048 else {
            throw context.error(.cannotCreateIndex, "Index key pattern too large.")
        }
        var keys: [IndexDefinition.Key] = []
        var plugin: String?
        for (path, value) in pattern {
            if value == "wildcard", !isWildcard(path) {
                throw context.error(
                    StoreError.Code(rawValue: 7_246_202),
                    "String 'wildcard' is not allowed as the value of an index key")
            }
            let kind = try kind(value, context)
            if case .special(let name) = kind {
                guard plugin ?? name == name else {
                    throw context.error(
                        .cannotCreateIndex,
                        "Can't use more than one index plugin for a single index.")
                }
                plugin = name
            }
            try check(path, kind, context)
            guard !keys.contains(where: { $0.path.hasSameBytes(as: path) }) else {
                throw context.error(
                    .badValue, "The field '\(path)' appears multiple times in the index key pattern"
                )
            }
            keys.append(Key(path, kind))
        }
        guard keys.count(where: { $0.kind == .special("hashed") }) < 2 else {
            throw context.error(
                .tooManyHashedKeys,
                "A maximum of one index field is allowed to be hashed but found "
                    + "\(keys.count(where: { $0.kind == .special("hashed") })) for 'key' "
                    + ShellText.text(of: pattern))
        }
        return keys
    }

    private static func check(
        _ path: String, _ kind: IndexDefinition.Kind, _ context: IndexSpecificationParser
    ) throws(StoreError) {
        guard !path.isEmpty else {
            throw context.error(.cannotCreateIndex, "Index keys cannot be an empty field.")
        }
        if isWildcard(path) {
            switch kind {
            case .ascending, .descending:
                guard !path.dropLast(3).utf8.contains(UInt8(ascii: "$")) else { break }
                return
            case .special("text") where path == "$**": return
            case .special: break
            }
        }
        let parts = path.dottedParts
        guard !parts.contains(where: \.isEmpty) else {
            throw context.error(
                .cannotCreateIndex, "Index keys cannot contain an empty field.")
        }
        let references: Set<Name> = ["$db", "$id", "$ref"]
        for (place, part) in parts.enumerated() where part.hasBytePrefix("$") {
            guard place > 0, references.contains(part) else {
                throw context.error(
                    .cannotCreateIndex,
                    "Index key contains an illegal field name: field name starts with '$'.")
            }
        }
    }

    private static func kind(
        _ value: BSONValue, _ context: IndexSpecificationParser
    ) throws(StoreError) -> IndexDefinition.Kind {
        switch value {
        case .string(let name):
            guard plugins.contains(name) else {
                throw context.error(.cannotCreateIndex, "Unknown index plugin '\(name)'")
            }
            return .special(name)
        case .int32, .int64, .double, .decimal128:
            guard BSONOrder.compare(value, .double(.nan)) != .equal else {
                throw context.error(
                    .cannotCreateIndex, "Values in the index key pattern cannot be NaN.")
            }
            switch BSONOrder.compare(value, 0) {
            case .greater: return .ascending
            case .less: return .descending
            case .equal:
                throw context.error(
                    .cannotCreateIndex, "Values in the index key pattern cannot be 0.")
            }
        default:
            throw context.error(
                .cannotCreateIndex,
                "Values in v:2 index key pattern cannot be of type \(value.type.alias). Only "
                    + "numbers > 0, numbers < 0, and strings are allowed.")
        }
    }

    /// Checks the order of a text index's fields.
    ///
    /// Source: the server's `fts_spec.cpp`, `FTSSpec::fixSpec`.
    private static func checkTexts(
        _ pattern: BSONDocument, _ context: IndexSpecificationParser
    ) throws(StoreError) {
        let fields = pattern.map { ($0.key, $0.value) }
        let start = fields.firstIndex { $0.1.stringValue != nil } ?? 0
        var rest = fields[start...].drop { $0.1 == "text" }
        if fields[start].0 == "_fts" {
            rest = fields[(start + 1)...]
            guard rest.first?.0 == "_ftsx" else {
                throw context.error(.cannotCreateIndex, "expected _ftsx after _fts")
            }
            guard rest.first?.1.truncatedNumber == 1 else {
                throw context.error(.cannotCreateIndex, "expecting _ftsx:1")
            }
            rest = rest.dropFirst()
        }
        guard !rest.contains(where: { $0.1.stringValue != nil }) else {
            throw context.error(
                .cannotCreateIndex, "'text' fields in index must all be adjacent")
        }
        let isFixed = fields[start].0 == "_fts"
        let others = isFixed ? Array(fields[..<start] + rest) : fields
        guard !others.contains(where: { $0.0 == "_fts" || $0.0 == "_ftsx" }) else {
            throw context.error(
                .cannotCreateIndex, "text index with reserved fields _fts/_ftsx not allowed")
        }
        for (_, value) in others where value.stringValue == nil {
            guard [1, -1].contains(value.truncatedNumber) else {
                throw context.error(
                    .cannotCreateIndex,
                    "expected value 1 or -1 for non-text key in compound index")
            }
        }
    }

    /// Adds the server's defaults to the specification of a text or geo index.
    ///
    /// - Throws: 67 for invalid weights.
    static func complete(
        _ document: inout BSONDocument, _ keys: [IndexDefinition.Key],
        _ context: IndexSpecificationParser
    ) throws(StoreError) {
        if keys.contains(where: { $0.kind == .special("2dsphere") }),
            document["2dsphereIndexVersion"] == nil
        {
            document.append("2dsphereIndexVersion", 3)
        }
        let texts = keys.filter { $0.kind == .special("text") }
        guard !texts.isEmpty else { return }
        try checkTexts(document["key"]?.documentValue ?? [:], context)
        var weights: [Name: BSONValue] = [:]
        // In a pattern as `listIndexes` shows it, only the weights name the fields.
        for key in texts where key.path != "_fts" { weights[key.path] = 1 }
        if document["weights"] == "$**" {
            weights["$**"] = 1
        } else if let given = try context.document("weights") {
            for (path, weight) in given {
                guard let number = weight.truncatedNumber, number > 0, number < 100_000 else {
                    throw context.error(
                        .cannotCreateIndex,
                        "weight for text index needs a number greater than 0 and less than "
                            + "100000: \(ShellText.text(of: weight))")
                }
                weights[path] = .int32(Int32(number))
            }
        }
        var pattern: BSONDocument = [:]
        for (path, value) in document["key"]?.documentValue ?? [:] {
            if value != "text" {
                if path != "_ftsx" { pattern.append(path, value) }
            } else if pattern["_fts"] == nil {
                pattern.append("_fts", "text")
                pattern.append("_ftsx", 1)
            }
        }
        document.set("key", to: .document(pattern))
        let sorted = weights.sorted { $0.key < $1.key }
        document.set("weights", to: .document(BSONDocument(sorted.map { ($0.key.text, $0.value) })))
        for (option, value) in [
            ("default_language", "english"), ("language_override", "language"),
            ("textIndexVersion", 3),
        ] as [(String, BSONValue)] where document[option] == nil {
            document.append(option, value)
        }
    }
}
