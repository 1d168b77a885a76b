import BSONStore
import Testing

/// Without these a client would learn that a document is invalid, but not why, or a wrong reason.
///
/// Source: MongoDB manual, "Schema Validation"; the server's `doc_validation_error_test.cpp` and
/// `jstests/core/query/doc_validation`.
@Suite struct ValidationDetailsTests {
    /// A validator, a document that it refuses, and the details.
    struct Case: CustomTestStringConvertible, Sendable {
        let validator: String
        let document: String
        let details: String

        init(_ validator: String, _ document: String, _ details: String) {
            self.validator = validator
            self.document = document
            self.details = details
        }

        var testDescription: String { validator }
    }

    private func expect(_ example: Case) throws {
        let store = try DocumentStore(at: .inMemory)
        let things = Namespace("app", "things")
        let validator = try BSONDocument(extendedJSON: example.validator)
        try store.createCollection(things, ["validator": .document(validator)])
        var document: BSONDocument = ["_id": 1]
        for (key, value) in try BSONDocument(extendedJSON: example.document) {
            document.append(key, value)
        }
        let error = #expect(throws: StoreError.self) {
            try store.collection(things).insertOne(document)
        }
        let expected = try BSONDocument(extendedJSON: example.details)
        #expect(error?.errorInfo?["details"] == .document(expected))
    }

    @Test(arguments: conditions)
    func `the details of a condition`(_ example: Case) throws { try expect(example) }

    private static func condition(
        _ name: String, _ condition: String, _ document: String, _ rest: String
    ) -> Case {
        Case(
            condition, document,
            #"{"operatorName": "\#(name)", "specifiedAs": \#(condition), \#(rest)}"#)
    }

    private static let conditions: [Case] = [
        condition(
            "$eq", #"{"a": 1}"#, #"{"a": 2}"#,
            #""reason": "comparison failed", "consideredValue": 2"#),
        condition("$gt", #"{"a": {"$gt": 1}}"#, "{}", #""reason": "field was missing""#),
        condition(
            "$gt", #"{"a.b": {"$gt": 1}}"#, #"{"a": [{"b": 0}, {"b": [1, -1]}]}"#,
            #""reason": "comparison failed", "consideredValues": [0, 1, -1]"#),
        condition(
            "$lt", #"{"a": {"$lt": 0}}"#, #"{"a": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]}"#,
            #"""
            "reason": "comparison failed", "consideredValues": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
            "consideredValuesTruncated": true
            """#),
        condition(
            "$in", #"{"a": {"$in": [1, 2]}}"#, #"{"a": []}"#,
            #""reason": "no matching value found in array", "consideredValues": []"#),
        condition(
            "$nin", #"{"a": {"$nin": [1, 2]}}"#, #"{"a": 2}"#,
            #""reason": "matching value found in array", "consideredValue": 2"#),
        condition(
            "$ne", #"{"a": {"$ne": 2}}"#, #"{"a": 2}"#,
            #""reason": "comparison succeeded", "consideredValue": 2"#),
        condition(
            "$exists", #"{"a": {"$exists": true}}"#, "{}", #""reason": "path does not exist""#),
        condition(
            "$exists", #"{"a": {"$exists": false}}"#, #"{"a": 1}"#,
            #""reason": "path does exist""#),
        condition(
            "$type", #"{"a": {"$type": "string"}}"#, #"{"a": [1, true]}"#,
            #"""
            "reason": "type did not match", "consideredValues": [1, true],
            "consideredTypes": ["bool", "int"]
            """#),
        condition(
            "$regex", #"{"a": {"$regex": "^x", "$options": "i"}}"#, #"{"a": "b"}"#,
            #""reason": "regular expression did not match", "consideredValue": "b""#),
        condition(
            "$regex", #"{"a": {"$regex": "^x"}}"#, #"{"a": 1}"#,
            #"""
            "reason": "type did not match", "consideredType": "int",
            "expectedTypes": ["regex", "string", "symbol"], "consideredValue": 1
            """#),
        condition(
            "$mod", #"{"a": {"$mod": [2, 0]}}"#, #"{"a": 3}"#,
            #""reason": "$mod did not evaluate to expected remainder", "consideredValue": 3"#),
        condition(
            "$mod", #"{"a": {"$mod": [2, 0]}}"#, #"{"a": "x"}"#,
            #"""
            "reason": "type did not match", "consideredType": "string",
            "expectedTypes": ["decimal", "double", "int", "long"], "consideredValue": "x"
            """#),
        condition(
            "$bitsAllSet", #"{"a": {"$bitsAllSet": [0]}}"#, #"{"a": 2}"#,
            #""reason": "bitwise operator failed to match", "consideredValue": 2"#),
        condition(
            "$size", #"{"a": {"$size": 1}}"#, #"{"a": [1, 2]}"#,
            #""reason": "array length was not equal to given size", "consideredValue": [1, 2]"#),
        condition(
            "$size", #"{"a": {"$size": 1}}"#, #"{"a": 1}"#,
            #"""
            "reason": "type did not match", "consideredType": "int", "expectedType": "array",
            "consideredValue": 1
            """#),
        condition(
            "$elemMatch", #"{"a": {"$elemMatch": {"$gt": 1}}}"#, #"{"a": [1]}"#,
            #""reason": "array did not satisfy the child predicate", "consideredValue": [1]"#),
        condition(
            "$all", #"{"a": {"$all": [1, 2]}}"#, #"{"a": [1]}"#,
            #""reason": "array did not contain all specified values", "consideredValue": [1]"#),
        condition(
            "$geoWithin", #"{"a": {"$geoWithin": {"$center": [[0, 0], 1]}}}"#, #"{"a": "x"}"#,
            #"""
            "reason": "could not find a valid geometry at the given path", "consideredValue": "x"
            """#),
        condition(
            "$expr", #"{"$expr": {"$gt": ["$a", 1]}}"#, #"{"a": 1}"#,
            #""reason": "expression did not match", "expressionResult": false"#),
        condition("$expr", #"{"$expr": "$a"}"#, "{}", #""reason": "expression did not match""#),
        condition(
            "$alwaysFalse", #"{"$alwaysFalse": 1}"#, "{}",
            #""reason": "expression always evaluates to false""#),
    ]

    @Test(arguments: combinations)
    func `the details of combined conditions`(_ example: Case) throws { try expect(example) }

    private static let combinations: [Case] = [
        Case(
            #"{"a": {"$gt": 1, "$lt": 5}}"#, #"{"a": 9}"#,
            #"""
            {"operatorName": "$and", "clausesNotSatisfied": [{"index": 1, "details": {
                "operatorName": "$lt", "specifiedAs": {"a": {"$lt": 5}},
                "reason": "comparison failed", "consideredValue": 9}}]}
            """#),
        Case(
            #"{"$and": [{"a": 1}, {"b": 2, "c": 3}]}"#, #"{"a": 1, "b": 2}"#,
            #"""
            {"operatorName": "$and", "clausesNotSatisfied": [{"index": 1, "details": {
                "operatorName": "$and", "clausesNotSatisfied": [{"index": 1, "details": {
                    "operatorName": "$eq", "specifiedAs": {"c": 3},
                    "reason": "field was missing"}}]}}]}
            """#),
        Case(
            #"{"$or": [{"a": {"$type": "string"}}, {"b": {"$in": ["x"]}}]}"#, #"{"b": "y"}"#,
            #"""
            {"operatorName": "$or", "clausesNotSatisfied": [
                {"index": 0, "details": {
                    "operatorName": "$type", "specifiedAs": {"a": {"$type": "string"}},
                    "reason": "field was missing"}},
                {"index": 1, "details": {
                    "operatorName": "$in", "specifiedAs": {"b": {"$in": ["x"]}},
                    "reason": "no matching value found in array", "consideredValue": "y"}}]}
            """#),
        Case(
            #"{"$nor": [{"a": 1}, {"b": {"$gt": 0}}]}"#, #"{"b": 1}"#,
            #"""
            {"operatorName": "$nor", "clausesSatisfied": [{"index": 1, "details": {
                "operatorName": "$gt", "specifiedAs": {"b": {"$gt": 0}},
                "reason": "comparison succeeded", "consideredValue": 1}}]}
            """#),
        Case(
            #"{"$nor": [{"$or": [{"a": 1}, {"b": 1}]}]}"#, #"{"b": 1}"#,
            #"""
            {"operatorName": "$nor", "clausesSatisfied": [{"index": 0, "details": {
                "operatorName": "$or", "clausesSatisfied": [{"index": 1, "details": {
                    "operatorName": "$eq", "specifiedAs": {"b": 1},
                    "reason": "comparison succeeded", "consideredValue": 1}}]}}]}
            """#),
        Case(
            #"{"a": {"$not": {"$lt": 10}}}"#, #"{"a": 1}"#,
            #"""
            {"operatorName": "$not", "details": {
                "operatorName": "$lt", "specifiedAs": {"a": {"$lt": 10}},
                "reason": "comparison succeeded", "consideredValue": 1}}
            """#),
        Case(
            #"{"a": {"$not": {"$lt": 10, "$gt": 0}}}"#, #"{"a": 1}"#,
            #"""
            {"operatorName": "$not", "details": {"operatorName": "$and", "clausesSatisfied": [
                {"index": 0, "details": {
                    "operatorName": "$lt", "specifiedAs": {"a": {"$lt": 10}},
                    "reason": "comparison succeeded", "consideredValue": 1}},
                {"index": 1, "details": {
                    "operatorName": "$gt", "specifiedAs": {"a": {"$gt": 0}},
                    "reason": "comparison succeeded", "consideredValue": 1}}]}}
            """#),
        Case(
            #"{"$nor": [{"$jsonSchema": {"required": ["a"]}}]}"#, #"{"a": 1}"#,
            #"""
            {"operatorName": "$nor", "clausesSatisfied": [{"index": 0, "details": {
                "operatorName": "$jsonSchema", "reason": "schema matched"}}]}
            """#),
    ]

    @Test(arguments: schemas)
    func `the details of a schema`(_ example: Case) throws { try expect(example) }

    private static func schema(_ schema: String, _ document: String, _ rules: String) -> Case {
        Case(
            #"{"$jsonSchema": \#(schema)}"#, document,
            #"{"operatorName": "$jsonSchema", "schemaRulesNotSatisfied": [\#(rules)]}"#)
    }

    private static func property(_ schema: String, _ value: String, _ rules: String) -> Case {
        Self.schema(
            #"{"properties": {"a": \#(schema)}}"#, #"{"a": \#(value)}"#,
            #"""
            {"operatorName": "properties", "propertiesNotSatisfied": [
                {"propertyName": "a", "details": [\#(rules)]}]}
            """#)
    }

    private static let schemas: [Case] = [
        schema(
            #"{"required": ["z", "c", "b"]}"#, #"{"c": 1}"#,
            #"""
            {"operatorName": "required", "specifiedAs": {"required": ["z", "c", "b"]},
             "missingProperties": ["b", "z"]}
            """#),
        property(
            #"{"minimum": 5, "exclusiveMinimum": true, "bsonType": "int"}"#, "5",
            #"""
            {"operatorName": "minimum", "specifiedAs": {"minimum": 5, "exclusiveMinimum": true},
             "reason": "comparison failed", "consideredValue": 5}
            """#),
        property(
            #"{"pattern": "^x", "bsonType": "string"}"#, "5",
            #"""
            {"operatorName": "bsonType", "specifiedAs": {"bsonType": "string"},
             "reason": "type did not match", "consideredValue": 5, "consideredType": "int"}
            """#),
        property(
            #"{"minItems": 2, "uniqueItems": true}"#, "[1]",
            #"""
            {"operatorName": "minItems", "specifiedAs": {"minItems": 2},
             "reason": "array did not match specified length", "consideredValue": [1],
             "numberOfItems": 1}
            """#),
        property(
            #"{"uniqueItems": true}"#, "[1, 2, 1, 2]",
            #"""
            {"operatorName": "uniqueItems", "specifiedAs": {"uniqueItems": true},
             "reason": "found a duplicate item", "consideredValue": [1, 2, 1, 2],
             "duplicatedValue": 1}
            """#),
        property(
            #"{"items": {"title": "t", "bsonType": "string"}}"#, #"["x", 1]"#,
            #"""
            {"operatorName": "items", "title": "t",
             "reason": "At least one item did not match the sub-schema", "itemIndex": 1,
             "details": [{"operatorName": "bsonType", "specifiedAs": {"bsonType": "string"},
                "reason": "type did not match", "consideredValue": 1, "consideredType": "int"}]}
            """#),
        property(
            #"{"items": [{"minimum": 1}, {"minimum": 5}]}"#, "[1, 2]",
            #"""
            {"operatorName": "items", "details": [{"itemIndex": 1, "details": [
                {"operatorName": "minimum", "specifiedAs": {"minimum": 5},
                 "reason": "comparison failed", "consideredValue": 2}]}]}
            """#),
        property(
            #"{"items": [{}], "additionalItems": false}"#, "[1, 2, 3]",
            #"""
            {"operatorName": "additionalItems", "specifiedAs": {"additionalItems": false},
             "reason": "found additional items", "additionalItems": [2, 3]}
            """#),
        property(
            #"{"items": [{}], "additionalItems": {"minimum": 5}}"#, "[1, 6, 3]",
            #"""
            {"operatorName": "additionalItems",
             "reason": "At least one additional item did not match the sub-schema",
             "itemIndex": 2, "details": [{"operatorName": "minimum",
                "specifiedAs": {"minimum": 5}, "reason": "comparison failed",
                "consideredValue": 3}]}
            """#),
        property(
            #"{"minProperties": 2}"#, #"{"x": 1}"#,
            #"""
            {"operatorName": "minProperties", "specifiedAs": {"minProperties": 2},
             "reason": "specified number of properties was not satisfied",
             "numberOfProperties": 1}
            """#),
        schema(
            #"{"properties": {"_id": {}, "a": {}}, "additionalProperties": false}"#,
            #"{"a": 1, "b": 2, "c": 3}"#,
            #"""
            {"operatorName": "additionalProperties",
             "specifiedAs": {"additionalProperties": false}, "additionalProperties": ["b", "c"]}
            """#),
        schema(
            #"""
            {"properties": {"_id": {}}, "additionalProperties": {"bsonType": "string"},
             "patternProperties": {"^x": {"minimum": 5}}}
            """#, #"{"x1": 1, "b": 2}"#,
            #"""
            {"operatorName": "additionalProperties",
             "reason": "at least one additional property did not match the subschema",
             "failingProperty": "b", "details": [{"operatorName": "bsonType",
                "specifiedAs": {"bsonType": "string"}, "reason": "type did not match",
                "consideredValue": 2, "consideredType": "int"}]},
            {"operatorName": "patternProperties", "details": [
                {"propertyName": "x1", "regexMatched": "^x", "details": [
                    {"operatorName": "minimum", "specifiedAs": {"minimum": 5},
                     "reason": "comparison failed", "consideredValue": 1}]}]}
            """#),
        schema(
            #"{"dependencies": {"a": ["z", "b"], "c": {"required": ["d"]}, "q": ["r"]}}"#,
            #"{"a": 1, "c": 1}"#,
            #"""
            {"operatorName": "dependencies", "failingDependencies": [
                {"conditionalProperty": "a", "missingProperties": ["b", "z"]},
                {"conditionalProperty": "c", "details": [{"operatorName": "required",
                    "specifiedAs": {"required": ["d"]}, "missingProperties": ["d"]}]}]}
            """#),
        property(
            #"{"anyOf": [{"bsonType": "string"}, {"title": "t", "minimum": 5}]}"#, "1",
            #"""
            {"operatorName": "anyOf", "schemasNotSatisfied": [
                {"index": 0, "details": [{"operatorName": "bsonType",
                    "specifiedAs": {"bsonType": "string"}, "reason": "type did not match",
                    "consideredValue": 1, "consideredType": "int"}]},
                {"index": 1, "title": "t", "details": [{"operatorName": "minimum",
                    "specifiedAs": {"minimum": 5}, "reason": "comparison failed",
                    "consideredValue": 1}]}]}
            """#),
        property(
            #"{"allOf": [{"bsonType": "int"}, {"minimum": 5}]}"#, "1",
            #"""
            {"operatorName": "allOf", "schemasNotSatisfied": [
                {"index": 1, "details": [{"operatorName": "minimum",
                    "specifiedAs": {"minimum": 5}, "reason": "comparison failed",
                    "consideredValue": 1}]}]}
            """#),
        property(
            #"{"oneOf": [{"bsonType": "int"}, {"minimum": 5}, {"minimum": 0}]}"#, "1",
            #"""
            {"operatorName": "oneOf", "reason": "more than one subschema matched",
             "matchingSchemaIndexes": [0, 2]}
            """#),
        property(
            #"{"not": {"bsonType": "int"}}"#, "1",
            #"{"operatorName": "not", "reason": "child expression matched"}"#),
        property(
            #"{"enum": [1, 2]}"#, "3",
            #"""
            {"operatorName": "enum", "specifiedAs": {"enum": [1, 2]},
             "reason": "value was not found in enum", "consideredValue": 3}
            """#),
        schema(
            #"{"required": ["b"], "properties": {"a": {"properties": {"x": {"minimum": 1}}}}}"#,
            #"{"a": {"x": 0}}"#,
            #"""
            {"operatorName": "properties", "propertiesNotSatisfied": [
                {"propertyName": "a", "details": [
                    {"operatorName": "properties", "propertiesNotSatisfied": [
                        {"propertyName": "x", "details": [{"operatorName": "minimum",
                            "specifiedAs": {"minimum": 1}, "reason": "comparison failed",
                            "consideredValue": 0}]}]}]}]},
            {"operatorName": "required", "specifiedAs": {"required": ["b"]},
             "missingProperties": ["b"]}
            """#),
    ]
}
