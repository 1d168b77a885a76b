/// The rules of a JSON schema that a document broke, in the form of the server's `errInfo.details`.
///
/// The keywords come in the order in which the server's parser reads them, whatever their order in
/// the schema: of scalars, of arrays, of objects, logical ones and the type.
///
/// Source: the server's `doc_validation_error.cpp` and `json_schema_parser.cpp`.
struct SchemaDetails {
    private let schema: BSONDocument
    private let value: BSONValue

    private init(_ schema: BSONDocument, _ value: BSONValue) {
        self.schema = schema
        self.value = value
    }

    /// Returns the details for a document that a schema refuses.
    static func details(of document: BSONDocument, _ schema: BSONDocument) -> BSONDocument {
        var details: BSONDocument = ["operatorName": "$jsonSchema"]
        append(annotationsOf: schema, to: &details)
        let rules = Self(schema, .document(document)).rules
        details.append("schemaRulesNotSatisfied", .array(BSONArray(rules)))
        return details
    }

    private static func append(annotationsOf schema: BSONDocument, to details: inout BSONDocument) {
        for field in ["title", "description"] {
            if let value = schema[field] { details.append(field, value) }
        }
    }

    private static let keywords = [
        "pattern", "maxLength", "minLength", "multipleOf", "maximum", "minimum", "minItems",
        "maxItems", "uniqueItems", "items", "additionalItems", "properties",
        "additionalProperties", "patternProperties", "required", "minProperties",
        "maxProperties", "dependencies", "allOf", "anyOf", "oneOf", "not", "enum", "type",
        "bsonType",
    ]

    /// The details of the broken rules.
    private var rules: [BSONValue] {
        Self.keywords.compactMap { keyword in
            guard let operand = schema[keyword], !passes(aspect(keyword, operand)) else {
                return BSONValue?.none
            }
            return details(keyword, operand).map { .document($0) }
        }
    }

    private func passes(_ schema: BSONDocument) -> Bool {
        Self.passes(value, schema)
    }

    private static func passes(_ value: BSONValue, _ schema: BSONDocument) -> Bool {
        ValidationDetails.passes(
            ["v": value], ["$jsonSchema": ["properties": ["v": .document(schema)]]])
    }

    /// Returns one keyword with those that belong to it.
    private func aspect(_ keyword: String, _ operand: BSONValue) -> BSONDocument {
        var aspect: BSONDocument = [keyword: operand]
        let companions: [String] =
            switch keyword {
            case "additionalProperties": ["properties", "patternProperties"]
            case "minimum": ["exclusiveMinimum"]
            case "maximum": ["exclusiveMaximum"]
            case "additionalItems": ["items"]
            default: []
            }
        for other in companions {
            guard let value = schema[other] else { continue }
            aspect.append(other, Self.emptied(other, value))
        }
        return aspect
    }

    /// Returns the operand of a keyword without its schemas, so that only its names count.
    private static func emptied(_ keyword: String, _ operand: BSONValue) -> BSONValue {
        switch (keyword, operand) {
        case ("properties", .document(let schemas)), ("patternProperties", .document(let schemas)):
            .document(BSONDocument(schemas.map { ($0.key, .document([:])) }))
        case ("items", .array(let schemas)):
            .array(BSONArray(schemas.map { _ in .document([:]) }))
        default: operand
        }
    }

    private func details(_ keyword: String, _ operand: BSONValue) -> BSONDocument? {
        switch keyword {
        case "items": items(operand)
        case "additionalItems": additionalItems(operand)
        case "properties": properties(operand.documentValue ?? [:])
        case "additionalProperties": additionalProperties(operand)
        case "patternProperties": patternProperties(operand.documentValue ?? [:])
        case "required":
            named(
                keyword,
                [
                    ("specifiedAs", .document([keyword: operand])),
                    ("missingProperties", .array(missing(operand.arrayValue ?? []))),
                ])
        case "dependencies": dependencies(operand.documentValue ?? [:])
        case "allOf", "anyOf", "oneOf": list(keyword, operand.arrayValue ?? [])
        case "not": named(keyword, [("reason", "child expression matched")])
        default: leaf(keyword, operand)
        }
    }

    private func named(_ keyword: String, _ fields: [(String, BSONValue)]) -> BSONDocument {
        BSONDocument([("operatorName", .string(keyword))] + fields)
    }

    // MARK: - Values

    private static let reasons: [String: String] = [
        "bsonType": "type did not match", "type": "type did not match",
        "enum": "value was not found in enum", "minimum": "comparison failed",
        "maximum": "comparison failed",
        "minLength": "specified string length was not satisfied",
        "maxLength": "specified string length was not satisfied",
        "pattern": "regular expression did not match",
        "multipleOf": "considered value is not a multiple of the specified value",
        "minItems": "array did not match specified length",
        "maxItems": "array did not match specified length",
        "uniqueItems": "found a duplicate item",
        "minProperties": "specified number of properties was not satisfied",
        "maxProperties": "specified number of properties was not satisfied",
    ]

    private func leaf(_ keyword: String, _ operand: BSONValue) -> BSONDocument {
        let isBound = keyword == "minimum" || keyword == "maximum"
        let specified = isBound ? aspect(keyword, operand) : [keyword: operand]
        var details = named(keyword, [("specifiedAs", .document(specified))])
        if let reason = Self.reasons[keyword] { details.append("reason", .string(reason)) }
        switch keyword {
        case "minProperties", "maxProperties":
            let count = value.documentValue?.count ?? 0
            details.append("numberOfProperties", .int32(Int32(clamping: count)))
            return details
        case "minItems", "maxItems":
            details.append("consideredValue", value)
            let count = value.arrayValue?.count ?? 0
            details.append("numberOfItems", .int32(Int32(clamping: count)))
        case "uniqueItems":
            details.append("consideredValue", value)
            let members = value.arrayValue?.values ?? []
            if let place = JSONSchema.firstDuplicate(in: members) {
                details.append("duplicatedValue", members[place])
            }
        default:
            details.append("consideredValue", value)
            if keyword == "bsonType" || keyword == "type" {
                details.append("consideredType", .string(value.type.alias))
            }
        }
        return details
    }

    // MARK: - Arrays

    private func items(_ operand: BSONValue) -> BSONDocument? {
        let members = value.arrayValue?.values ?? []
        switch operand {
        case .document(let schema):
            return firstMismatch("items", schema, "At least one item", members, from: 0)
        case .array(let schemas):
            var broken: [BSONValue] = []
            for (index, (member, schema)) in zip(members, schemas).enumerated() {
                let rules = Self(schema.documentValue ?? [:], member).rules
                if rules.isEmpty { continue }
                broken.append([
                    "itemIndex": .int32(Int32(clamping: index)),
                    "details": .array(BSONArray(rules)),
                ])
            }
            return named("items", [("details", .array(BSONArray(broken)))])
        default: return nil
        }
    }

    private func additionalItems(_ operand: BSONValue) -> BSONDocument? {
        let members = value.arrayValue?.values ?? []
        let start = schema["items"]?.arrayValue?.count ?? 0
        if let schema = operand.documentValue {
            return firstMismatch(
                "additionalItems", schema, "At least one additional item", members, from: start)
        }
        return named(
            "additionalItems",
            [
                ("specifiedAs", ["additionalItems": false]), ("reason", "found additional items"),
                ("additionalItems", .array(BSONArray(Array(members.dropFirst(start))))),
            ])
    }

    private func firstMismatch(
        _ keyword: String, _ schema: BSONDocument, _ what: String, _ members: [BSONValue],
        from start: Int
    ) -> BSONDocument? {
        let place = members.indices.dropFirst(start).first { !Self.passes(members[$0], schema) }
        guard let place else { return nil }
        var details = named(keyword, [])
        Self.append(annotationsOf: schema, to: &details)
        details.append("reason", .string("\(what) did not match the sub-schema"))
        details.append("itemIndex", .int32(Int32(clamping: place)))
        details.append("details", .array(BSONArray(Self(schema, members[place]).rules)))
        return details
    }

    // MARK: - Documents

    /// Returns the details of a property.
    private static func property(
        _ name: String, _ value: BSONValue, _ schema: BSONDocument, matched pattern: String? = nil
    ) -> BSONValue {
        var property: BSONDocument = ["propertyName": .string(name)]
        append(annotationsOf: schema, to: &property)
        if let pattern { property.append("regexMatched", .string(pattern)) }
        property.append("details", .array(BSONArray(Self(schema, value).rules)))
        return .document(property)
    }

    private func properties(_ schemas: BSONDocument) -> BSONDocument? {
        let fields = IndexedDocument(value.documentValue ?? [:])
        var broken: [BSONValue] = []
        for (name, schema) in schemas {
            guard let schema = schema.documentValue, let found = fields[name],
                !Self.passes(found, schema)
            else { continue }
            broken.append(Self.property(name, found, schema))
        }
        guard !broken.isEmpty else { return nil }
        return named("properties", [("propertiesNotSatisfied", .array(BSONArray(broken)))])
    }

    /// The properties that neither `properties` nor `patternProperties` names.
    private var additional: [(key: String, value: BSONValue)] {
        let known = IndexedDocument(schema["properties"]?.documentValue ?? [:])
        let patterns = schema["patternProperties"]?.documentValue?.keys ?? []
        return (value.documentValue ?? [:]).filter { field in
            known[field.key] == nil && !patterns.contains { Self.matches(field.key, $0) }
        }
    }

    private static func matches(_ name: String, _ pattern: String) -> Bool {
        passes(.string(name), ["pattern": .string(pattern)])
    }

    private func additionalProperties(_ operand: BSONValue) -> BSONDocument? {
        guard let schema = operand.documentValue else {
            return named(
                "additionalProperties",
                [
                    ("specifiedAs", ["additionalProperties": operand]),
                    (
                        "additionalProperties",
                        .array(BSONArray(additional.map { .string($0.key) }))
                    ),
                ])
        }
        guard let failing = additional.first(where: { !Self.passes($0.value, schema) }) else {
            return nil
        }
        var details = named("additionalProperties", [])
        Self.append(annotationsOf: schema, to: &details)
        details.append(
            "reason", "at least one additional property did not match the subschema")
        details.append("failingProperty", .string(failing.key))
        details.append("details", .array(BSONArray(Self(schema, failing.value).rules)))
        return details
    }

    private func patternProperties(_ schemas: BSONDocument) -> BSONDocument? {
        var broken: [BSONValue] = []
        for (pattern, schema) in schemas {
            guard let schema = schema.documentValue,
                let failing = (value.documentValue ?? [:]).first(where: {
                    Self.matches($0.key, pattern) && !Self.passes($0.value, schema)
                })
            else { continue }
            broken.append(
                Self.property(failing.key, failing.value, schema, matched: pattern))
        }
        guard !broken.isEmpty else { return nil }
        return named("patternProperties", [("details", .array(BSONArray(broken)))])
    }

    /// Returns the names that the document lacks, in order.
    private func missing(_ names: BSONArray) -> BSONArray {
        let fields = IndexedDocument(value.documentValue ?? [:])
        let missing = names.compactMap(\.stringValue).filter { fields[$0] == nil }
        return BSONArray(
            missing.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.map { .string($0) })
    }

    private func dependencies(_ dependencies: BSONDocument) -> BSONDocument {
        let fields = IndexedDocument(value.documentValue ?? [:])
        var failing: [BSONValue] = []
        for (name, dependency) in dependencies where fields[name] != nil {
            guard !passes(["dependencies": .document([name: dependency])]) else { continue }
            if let schema = dependency.documentValue {
                failing.append([
                    "conditionalProperty": .string(name),
                    "details": .array(BSONArray(Self(schema, value).rules)),
                ])
            } else {
                failing.append([
                    "conditionalProperty": .string(name),
                    "missingProperties": .array(missing(dependency.arrayValue ?? [])),
                ])
            }
        }
        return named("dependencies", [("failingDependencies", .array(BSONArray(failing)))])
    }

    // MARK: - Logic

    private func list(_ keyword: String, _ schemas: BSONArray) -> BSONDocument {
        let schemas = schemas.map { $0.documentValue ?? [:] }
        let matching = schemas.indices.filter { passes(schemas[$0]) }
        if keyword == "oneOf", !matching.isEmpty {
            return named(
                keyword,
                [
                    ("reason", "more than one subschema matched"),
                    (
                        "matchingSchemaIndexes",
                        .array(BSONArray(matching.map { .int32(Int32(clamping: $0)) }))
                    ),
                ])
        }
        let broken: [BSONValue] = schemas.indices.filter { !matching.contains($0) }.map { index in
            var details: BSONDocument = ["index": .int32(Int32(clamping: index))]
            Self.append(annotationsOf: schemas[index], to: &details)
            let rules = Self(schemas[index], value).rules
            details.append("details", .array(BSONArray(rules)))
            return .document(details)
        }
        return named(keyword, [("schemasNotSatisfied", .array(BSONArray(broken)))])
    }
}
