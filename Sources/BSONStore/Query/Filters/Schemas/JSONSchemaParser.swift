/// A parser for `$jsonSchema` that follows MongoDB, with its error texts.
///
/// Source: MongoDB manual, "$jsonSchema"; error texts as in the 7.0 server.
struct JSONSchemaParser {
    /// The maximum depth of a schema.
    static let depthMax = 100

    /// A supported keyword.
    enum Keyword: String, CaseIterable {
        case additionalItems, additionalProperties, allOf, anyOf, bsonType, dependencies
        case description, encrypt, encryptMetadata
        case `enum`, exclusiveMaximum, exclusiveMinimum, items, maximum, maxItems, maxLength
        case maxProperties, minimum, minItems, minLength, minProperties, multipleOf, not, oneOf
        case pattern, patternProperties, properties, required, title, type, uniqueItems
    }

    private static let unsupported: Set = [
        "$ref", "$schema", "default", "definitions", "format", "id",
    ]

    /// The operands by keyword.
    var operands: [Keyword: BSONValue] = [:]
    let depth: Int

    /// Parses a whole schema.
    ///
    /// - Throws: `failedToParse` (9), `typeMismatch` (14) or `badValue` (2) with MongoDB's text.
    static func parse(_ schema: BSONDocument) throws(StoreError) -> JSONSchema {
        try parse(schema, depth: 1)
    }

    private static func parse(
        _ schema: BSONDocument, depth: Int
    ) throws(StoreError) -> JSONSchema {
        guard depth <= depthMax else {
            throw StoreError(.badValue, "$jsonSchema exceeded maximum depth: \(depthMax)")
        }
        var parser = JSONSchemaParser(depth: depth)
        try parser.collect(schema)
        return try parser.schema()
    }

    private init(depth: Int) { self.depth = depth }

    /// Parses a nested schema.
    func nested(_ schema: BSONDocument) throws(StoreError) -> JSONSchema {
        try Self.parse(schema, depth: depth + 1)
    }

    private mutating func collect(_ schema: BSONDocument) throws(StoreError) {
        for (name, value) in schema {
            guard let keyword = Keyword(rawValue: name) else {
                throw Self.failed(
                    Self.unsupported.contains(name)
                        ? "$jsonSchema keyword '\(name)' is not currently supported"
                        : "Unknown $jsonSchema keyword: \(name)")
            }
            guard operands.updateValue(value, forKey: keyword) == nil else {
                throw Self.failed("Duplicate $jsonSchema keyword: \(name)")
            }
        }
    }

    private func schema() throws(StoreError) -> JSONSchema {
        for keyword in [Keyword.description, .title] {
            guard let value = operands[keyword], value.stringValue == nil else { continue }
            throw Self.mismatch(keyword, "must be of type string")
        }
        guard operands[.encrypt] == nil, operands[.encryptMetadata] == nil else {
            throw StoreError(
                .queryFeatureNotAllowed,
                "Encryption-related validator keywords are not allowed in this context")
        }
        var schema = JSONSchema()
        schema.types = try types()
        schema.texts = try texts()
        schema.numbers = try numbers()
        schema.arrays = try arrays()
        schema.documents = try documents()
        schema.allOf = try schemas(.allOf)
        schema.anyOf = try schemas(.anyOf)
        schema.oneOf = try schemas(.oneOf)
        if let value = operands[.not] {
            guard let document = value.documentValue else {
                throw Self.mismatch(
                    .not,
                    "must be an object, but found an element of type \(value.type.alias)")
            }
            schema.not = [try nested(document)]
        }
        schema.enumeration = try enumeration()
        return schema
    }

    static func failed(_ message: String) -> StoreError { StoreError(.failedToParse, message) }

    /// Returns the error for an operand of the wrong type.
    static func mismatch(_ keyword: Keyword, _ message: String) -> StoreError {
        StoreError(.typeMismatch, "$jsonSchema keyword '\(keyword.rawValue)' \(message)")
    }

    private func types() throws(StoreError) -> Predicate.TypeSet? {
        if operands[.type] != nil, operands[.bsonType] != nil {
            throw Self.failed("Cannot specify both $jsonSchema keywords 'type' and 'bsonType'")
        }
        if let value = operands[.type] {
            return try types(.type, value, Self.plainAliases)
        }
        guard let value = operands[.bsonType] else { return nil }
        return try types(.bsonType, value, BSONType.byAlias)
    }

    private func types(
        _ keyword: Keyword, _ value: BSONValue, _ aliases: [String: BSONType]
    ) throws(StoreError) -> Predicate.TypeSet {
        let names: [BSONValue]
        switch value {
        case .string: names = [value]
        case .array(let array): names = array.values
        default:
            throw Self.mismatch(keyword, "must be either a string or an array of strings")
        }
        var set = Predicate.TypeSet()
        var seen: Set<Name> = []
        for name in names {
            guard let name = name.stringValue else {
                throw Self.mismatch(keyword, "array elements must be strings")
            }
            guard name != "integer" else {
                throw Self.failed("$jsonSchema type 'integer' is not currently supported.")
            }
            guard seen.insert(name).inserted else {
                throw Self.failed(
                    "$jsonSchema keyword '\(keyword.rawValue)' has duplicate value: \(name)")
            }
        }
        for name in seen.sorted() {
            try PredicateParser.insert(alias: name.text, into: &set, aliases: aliases)
        }
        guard !set.isEmpty else {
            throw Self.failed(
                "$jsonSchema keyword '\(keyword.rawValue)' must name at least one type")
        }
        return set
    }

    private static let plainAliases: [String: BSONType] = [
        "array": .array, "boolean": .bool, "null": .null, "object": .document, "string": .string,
    ]

    private func schemas(_ keyword: Keyword) throws(StoreError) -> [JSONSchema] {
        guard let value = operands[keyword] else { return [] }
        guard let array = value.arrayValue else {
            throw Self.mismatch(keyword, "must be an array")
        }
        guard !array.isEmpty else {
            throw StoreError(
                .badValue,
                "$jsonSchema keyword '\(keyword.rawValue)' must be a non-empty array")
        }
        var schemas: [JSONSchema] = []
        for member in array {
            guard let document = member.documentValue else {
                throw Self.mismatch(
                    keyword,
                    "must be an array of objects, but found an element of type "
                        + member.type.alias)
            }
            schemas.append(try nested(document))
        }
        return schemas
    }

    private func enumeration() throws(StoreError) -> Set<[UInt8]> {
        guard let value = operands[.enum] else { return [] }
        guard let array = value.arrayValue else {
            throw Self.mismatch(
                .enum, "must be an array, but found an element of type \(value.type.alias)")
        }
        guard !array.isEmpty else {
            throw Self.failed("$jsonSchema keyword 'enum' cannot be an empty array")
        }
        let keys = array.map { BSONKey.encode(JSONSchema.ordered($0)) }
        try WorkBudget.check()
        let values = Set(keys)
        guard values.count == keys.count else {
            throw Self.failed("$jsonSchema keyword 'enum' array cannot contain duplicate values.")
        }
        return values
    }
}
