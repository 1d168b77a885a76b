/// The rules of a validator that a document broke, in the form of the server's `errInfo.details`.
///
/// Each rule is evaluated by itself with the same filter code that made the decision.
///
/// Source: MongoDB manual, "Schema Validation", the examples' error output.
enum ValidationDetails {
    /// The rules on length or size, with the server's reason.
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

    /// Returns the details for a document that fails a validator.
    static func details(of document: BSONDocument, _ validator: BSONDocument) -> BSONDocument {
        let clauses = validator.map { BSONDocument([($0.key, $0.value)]) }
        if clauses.count == 1, let clause = validator.first(where: { _ in true }) {
            return clauseDetails(clause.key, clause.value, document)
        }
        var failed: [BSONValue] = []
        let fields = IndexedDocument(document)
        for (index, clause) in clauses.enumerated() {
            guard let pair = clause.first(where: { _ in true }) else { continue }
            let part = part(of: fields, for: pair.key)
            if passes(part, clause) { continue }
            failed.append([
                "index": .int32(Int32(clamping: index)),
                "details": .document(clauseDetails(pair.key, pair.value, part)),
            ])
        }
        return ["operatorName": "$and", "clausesNotSatisfied": .array(BSONArray(failed))]
    }

    /// Returns the part of a document that a clause concerns.
    private static func part(of fields: IndexedDocument, for key: String) -> BSONDocument {
        guard !key.hasPrefix("$") else { return fields.document }
        let name = key.splitAtFirstDot?.head ?? key
        return fields[name].map { [name: $0] } ?? [:]
    }

    private static func clauseDetails(
        _ key: String, _ value: BSONValue, _ document: BSONDocument
    ) -> BSONDocument {
        if key == "$jsonSchema", let schema = value.documentValue {
            return schemaDetails(schema, document)
        }
        if key == "$and", let clauses = value.arrayValue {
            var merged: [BSONValue] = []
            for (index, clause) in clauses.enumerated() {
                guard let clause = clause.documentValue, !passes(document, clause) else { continue }
                merged.append([
                    "index": .int32(Int32(clamping: index)),
                    "details": .document(details(of: document, clause)),
                ])
            }
            return ["operatorName": "$and", "clausesNotSatisfied": .array(BSONArray(merged))]
        }
        if key.hasPrefix("$") {
            return [
                "operatorName": .string(key), "specifiedAs": .document([key: value]),
                "reason": key == "$expr" ? "expression did not match" : "clause did not match",
            ]
        }
        return fieldDetails(key, value, document)
    }

    private static func fieldDetails(
        _ path: String, _ value: BSONValue, _ document: BSONDocument
    ) -> BSONDocument {
        var name = "$eq"
        if let operators = value.documentValue,
            let failed = operators.first(where: {
                $0.key.hasPrefix("$") && !passes(document, [path: .document([$0.key: $0.value])])
            })
        {
            name = failed.key
        }
        var details: BSONDocument = [
            "operatorName": .string(name), "specifiedAs": .document([path: value]),
        ]
        guard let found = document[path: path] else {
            details.append("reason", "field was missing")
            return details
        }
        switch name {
        case "$in": details.append("reason", "no matching value found in array")
        case "$type": details.append("reason", "type did not match")
        case "$regex": details.append("reason", "regular expression did not match")
        case "$exists": details.append("reason", "path does exist")
        default: details.append("reason", "comparison failed")
        }
        details.append("consideredValue", found)
        if name == "$type" { details.append("consideredType", .string(found.type.alias)) }
        return details
    }

    /// Whether a document matches a part of the validator; an unreadable part counts as matched.
    private static func passes(_ document: BSONDocument, _ clause: BSONDocument) -> Bool {
        do throws(StoreError) {
            return try Filter(clause).matches(document)
        } catch {
            return true
        }
    }
}

// MARK: - JSON schema

extension ValidationDetails {
    private static func schemaDetails(
        _ schema: BSONDocument, _ document: BSONDocument
    ) -> BSONDocument {
        var details: BSONDocument = ["operatorName": "$jsonSchema"]
        for field in ["title", "description"] {
            if let value = schema[field] { details.append(field, value) }
        }
        details.append("schemaRulesNotSatisfied", .array(BSONArray(rules(schema, document))))
        return details
    }

    /// Returns the rules of an object schema that a document breaks.
    private static func rules(_ schema: BSONDocument, _ document: BSONDocument) -> [BSONValue] {
        var broken: [BSONValue] = []
        for (rule, value) in schema
        where !passes(document, ["$jsonSchema": .document(aspect(rule, value, schema))]) {
            switch rule {
            case "properties": broken.append(properties(value.documentValue ?? [:], document))
            case "required":
                let fields = IndexedDocument(document)
                let missing = (value.arrayValue ?? []).filter { name in
                    name.stringValue.map { fields[$0] == nil } ?? false
                }
                broken.append([
                    "operatorName": "required", "specifiedAs": .document(["required": value]),
                    "missingProperties": .array(BSONArray(missing)),
                ])
            case "additionalProperties":
                let known = IndexedDocument(schema["properties"]?.documentValue ?? [:])
                let more = document.filter { known[$0.key] == nil }
                broken.append([
                    "operatorName": "additionalProperties",
                    "specifiedAs": .document([rule: value]),
                    "additionalProperties": .array(BSONArray(more.map { .string($0.key) })),
                ])
            default: broken.append(simple(rule, value, .document(document)))
            }
        }
        return broken
    }

    /// Returns one rule with the rules that its description needs.
    private static func aspect(
        _ rule: String, _ value: BSONValue, _ schema: BSONDocument
    ) -> BSONDocument {
        var aspect: BSONDocument = [rule: value]
        let companions =
            switch rule {
            case "additionalProperties": ["properties", "patternProperties"]
            case "exclusiveMinimum": ["minimum"]
            case "exclusiveMaximum": ["maximum"]
            case "additionalItems": ["items"]
            default: [String]()
            }
        for other in companions {
            guard let value = schema[other] else { continue }
            aspect.append(other, other == "properties" ? .document(names(value)) : value)
        }
        return aspect
    }

    /// Returns the names of properties, each with an empty schema.
    private static func names(_ properties: BSONValue) -> BSONDocument {
        BSONDocument((properties.documentValue ?? [:]).map { ($0.key, .document([:])) })
    }

    private static func properties(
        _ properties: BSONDocument, _ document: BSONDocument
    ) -> BSONValue {
        var broken: [BSONValue] = []
        let fields = IndexedDocument(document)
        for (name, value) in properties {
            // The schema of a property concerns nothing else.
            guard let schema = value.documentValue, let found = fields[name],
                !passes([name: found], ["$jsonSchema": ["properties": .document([name: value])]])
            else { continue }
            var property: BSONDocument = ["propertyName": .string(name)]
            for field in ["title", "description"] {
                if let value = schema[field] { property.append(field, value) }
            }
            property.append(
                "details", .array(BSONArray(propertyRules(schema, name, found))))
            broken.append(.document(property))
        }
        return ["operatorName": "properties", "propertiesNotSatisfied": .array(BSONArray(broken))]
    }

    private static func propertyRules(
        _ schema: BSONDocument, _ name: String, _ found: BSONValue
    ) -> [BSONValue] {
        if let nested = found.documentValue {
            let broken = rules(schema, nested)
            if !broken.isEmpty { return broken }
        }
        let broken = schema.filter { rule, value in
            let one: BSONDocument = [
                "properties": .document([name: .document(aspect(rule, value, schema))])
            ]
            return !passes([name: found], ["$jsonSchema": .document(one)])
        }
        return broken.map { simple($0.key, $0.value, found) }
    }

    private static func simple(
        _ rule: String, _ value: BSONValue, _ found: BSONValue
    ) -> BSONValue {
        var details: BSONDocument = [
            "operatorName": .string(rule), "specifiedAs": .document([rule: value]),
        ]
        if let reason = reasons[rule] { details.append("reason", .string(reason)) }
        details.append("consideredValue", found)
        if rule == "bsonType" || rule == "type" {
            details.append("consideredType", .string(found.type.alias))
        }
        return .document(details)
    }
}
