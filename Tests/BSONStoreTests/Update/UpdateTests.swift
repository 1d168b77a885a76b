import BSONStore
import Testing

/// Without these an update would leave other documents than MongoDB does.
@Suite struct UpdateTests {
    /// A document, an update and what comes out, in Extended JSON.
    struct Case: Sendable, CustomTestStringConvertible {
        let before: String
        let update: String
        /// `nil` when the document stays as it is.
        let after: String?
        var filter = "{}"
        var arrayFilters: [String] = []

        var testDescription: String { "\(update) on \(before)" }

        init(
            _ before: String, _ update: String, _ after: String?, filter: String = "{}",
            arrayFilters: [String] = []
        ) {
            self.before = before
            self.update = update
            self.after = after
            self.filter = filter
            self.arrayFilters = arrayFilters
        }
    }

    @Test(arguments: fields + numbers + arrays + positions)
    func `an update leaves what MongoDB leaves`(_ example: Case) throws {
        let before = try BSONDocument(extendedJSON: example.before)
        let update = try Update(
            BSONDocument(extendedJSON: example.update),
            arrayFilters: try example.arrayFilters.map { try BSONDocument(extendedJSON: $0) })
        let filter = try Filter(BSONDocument(extendedJSON: example.filter))
        let after = try update.apply(to: before, matching: filter)
        #expect(
            after?.extendedJSON()
                == (try example.after.map {
                    try BSONDocument(extendedJSON: $0).extendedJSON()
                }))
    }

    static let fields = [
        Case("{}", #"{"$set":{"a":1}}"#, #"{"a":1}"#),
        Case(#"{"a":1,"b":2}"#, #"{"$set":{"a":"x"}}"#, #"{"a":"x","b":2}"#),
        Case(#"{"a":1}"#, #"{"$set":{"a":1}}"#, nil),
        Case(#"{"a":1}"#, #"{"$set":{"a":{"$numberLong":"1"}}}"#, #"{"a":{"$numberLong":"1"}}"#),
        Case("{}", #"{"$set":{"a.b.c":1}}"#, #"{"a":{"b":{"c":1}}}"#),
        Case("{}", #"{"$set":{"a.0":1}}"#, #"{"a":{"0":1}}"#),
        Case(#"{"a":[1]}"#, #"{"$set":{"a.2":3}}"#, #"{"a":[1,null,3]}"#),
        Case(#"{"a":[{"b":1}]}"#, #"{"$set":{"a.0.c":2}}"#, #"{"a":[{"b":1,"c":2}]}"#),
        Case("{}", #"{"$set":{"c":1,"a":2,"b":3}}"#, #"{"a":2,"b":3,"c":1}"#),
        Case("{}", #"{"$set":{"x10":1,"10":1,"9":1}}"#, #"{"9":1,"10":1,"x10":1}"#),
        Case("{}", #"{"$set":{}}"#, nil),
        Case(#"{"a":1,"b":2}"#, #"{"$unset":{"a":""}}"#, #"{"b":2}"#),
        Case(#"{"a":1}"#, #"{"$unset":{"b":""}}"#, nil),
        Case(#"{"a":1}"#, #"{"$unset":{"a.b":""}}"#, nil),
        Case(#"{"a":[1,2]}"#, #"{"$unset":{"a.0":""}}"#, #"{"a":[null,2]}"#),
        Case(#"{"a":[1]}"#, #"{"$unset":{"a.5":""}}"#, nil),
        Case(#"{"a":{"b":1}}"#, #"{"$unset":{"a.b":""}}"#, #"{"a":{}}"#),
        Case(#"{"a":1,"b":2}"#, #"{"$rename":{"a":"c"}}"#, #"{"b":2,"c":1}"#),
        Case(#"{"a":1,"b":2}"#, #"{"$rename":{"a":"b"}}"#, #"{"b":1}"#),
        Case(#"{"a":{"b":1}}"#, #"{"$rename":{"a.b":"c.d"}}"#, #"{"a":{},"c":{"d":1}}"#),
        Case(#"{"a":1}"#, #"{"$rename":{"x":"y"}}"#, nil),
        Case(#"{"a":1}"#, #"{"$setOnInsert":{"b":1}}"#, nil),
        Case(#"{"_id":1,"a":1}"#, #"{"b":2}"#, #"{"_id":1,"b":2}"#),
        Case(#"{"_id":1,"a":1}"#, #"{"a":1,"_id":1}"#, nil),
        Case(#"{"_id":1,"a":1}"#, "{}", #"{"_id":1}"#),
    ]

    static let numbers = [
        Case(#"{"a":1}"#, #"{"$inc":{"a":2}}"#, #"{"a":3}"#),
        Case("{}", #"{"$inc":{"a":2}}"#, #"{"a":2}"#),
        Case(#"{"a":1}"#, #"{"$inc":{"a":0}}"#, nil),
        Case(#"{"a":1}"#, #"{"$inc":{"a":0.5}}"#, #"{"a":1.5}"#),
        Case(
            #"{"a":2147483647}"#, #"{"$inc":{"a":1}}"#, #"{"a":{"$numberLong":"2147483648"}}"#),
        Case(#"{"a":1}"#, #"{"$inc":{"a":{"$numberLong":"1"}}}"#, #"{"a":{"$numberLong":"2"}}"#),
        Case(
            #"{"a":{"$numberDecimal":"0.1"}}"#, #"{"$inc":{"a":{"$numberDecimal":"0.20"}}}"#,
            #"{"a":{"$numberDecimal":"0.30"}}"#),
        Case(#"{"a":{"$numberDecimal":"1E+40"}}"#, #"{"$inc":{"a":1}}"#, nil),
        Case(
            #"{"a":{"$numberDecimal":"1"}}"#, #"{"$inc":{"a":{"$numberDecimal":"-1.00"}}}"#,
            #"{"a":{"$numberDecimal":"0.00"}}"#),
        Case(
            #"{"a":{"$numberDecimal":"9999999999999999999999999999999999"}}"#,
            #"{"$inc":{"a":1}}"#,
            #"{"a":{"$numberDecimal":"1.000000000000000000000000000000000E+34"}}"#),
        Case(
            #"{"a":1}"#, #"{"$inc":{"a":{"$numberDecimal":"1.5"}}}"#,
            #"{"a":{"$numberDecimal":"2.5"}}"#),
        Case(#"{"a":3}"#, #"{"$mul":{"a":2}}"#, #"{"a":6}"#),
        Case("{}", #"{"$mul":{"a":{"$numberLong":"5"}}}"#, #"{"a":{"$numberLong":"0"}}"#),
        Case("{}", #"{"$mul":{"a":2.5}}"#, #"{"a":0.0}"#),
        Case(
            #"{"a":2147483647}"#, #"{"$mul":{"a":2}}"#, #"{"a":{"$numberLong":"4294967294"}}"#),
        Case(
            #"{"a":{"$numberDecimal":"1.1"}}"#, #"{"$mul":{"a":{"$numberDecimal":"1.10"}}}"#,
            #"{"a":{"$numberDecimal":"1.210"}}"#),
        Case(#"{"a":5}"#, #"{"$min":{"a":3}}"#, #"{"a":3}"#),
        Case(#"{"a":5}"#, #"{"$min":{"a":9}}"#, nil),
        Case(#"{"a":5}"#, #"{"$min":{"a":5.0}}"#, nil),
        Case("{}", #"{"$min":{"a":3}}"#, #"{"a":3}"#),
        Case(#"{"a":5}"#, #"{"$max":{"a":"x"}}"#, #"{"a":"x"}"#),
        Case(#"{"a":5}"#, #"{"$max":{"a":null}}"#, nil),
        Case(#"{"a":13}"#, #"{"$bit":{"a":{"and":10}}}"#, #"{"a":8}"#),
        Case(
            #"{"a":5}"#, #"{"$bit":{"a":{"or":{"$numberLong":"2"}}}}"#,
            #"{"a":{"$numberLong":"7"}}"#),
        Case(#"{"a":5}"#, #"{"$bit":{"a":{"xor":5}}}"#, #"{"a":0}"#),
        Case(#"{"a":1,"b":1}"#, #"{"$inc":{"a":1},"$set":{"b":2}}"#, #"{"a":2,"b":2}"#),
    ]

    static let arrays = [
        Case("{}", #"{"$push":{"a":1}}"#, #"{"a":[1]}"#),
        Case(#"{"a":[1]}"#, #"{"$push":{"a":[2]}}"#, #"{"a":[1,[2]]}"#),
        Case(#"{"a":[1]}"#, #"{"$push":{"a":{"$each":[2,3]}}}"#, #"{"a":[1,2,3]}"#),
        Case(#"{"a":[1]}"#, #"{"$push":{"a":{"$each":[]}}}"#, nil),
        Case(
            #"{"a":[1,2]}"#, #"{"$push":{"a":{"$each":[9],"$position":1}}}"#, #"{"a":[1,9,2]}"#),
        Case(
            #"{"a":[1,2]}"#, #"{"$push":{"a":{"$each":[9],"$position":-1}}}"#, #"{"a":[1,9,2]}"#),
        Case(#"{"a":[1,2]}"#, #"{"$push":{"a":{"$each":[3],"$slice":-2}}}"#, #"{"a":[2,3]}"#),
        Case(#"{"a":[1,2]}"#, #"{"$push":{"a":{"$each":[3],"$slice":1}}}"#, #"{"a":[1]}"#),
        Case(#"{"a":[1,2]}"#, #"{"$push":{"a":{"$each":[],"$slice":0}}}"#, #"{"a":[]}"#),
        Case(#"{"a":[3,1]}"#, #"{"$push":{"a":{"$each":[2],"$sort":1}}}"#, #"{"a":[1,2,3]}"#),
        Case(
            #"{"a":[{"b":1},{"b":3}]}"#,
            #"{"$push":{"a":{"$each":[{"b":2}],"$sort":{"b":-1},"$slice":2}}}"#,
            #"{"a":[{"b":3},{"b":2}]}"#),
        Case(#"{"a":[1]}"#, #"{"$addToSet":{"a":1.0}}"#, nil),
        Case(#"{"a":[1]}"#, #"{"$addToSet":{"a":{"$each":[1,2,2]}}}"#, #"{"a":[1,2]}"#),
        Case(#"{"a":[{"b":1}]}"#, #"{"$addToSet":{"a":{"b":1}}}"#, nil),
        Case("{}", #"{"$addToSet":{"a":1}}"#, #"{"a":[1]}"#),
        Case(#"{"a":[1,2,1]}"#, #"{"$pull":{"a":1}}"#, #"{"a":[2]}"#),
        Case(#"{"a":[1,5,9]}"#, #"{"$pull":{"a":{"$gte":5}}}"#, #"{"a":[1]}"#),
        Case(
            #"{"a":[{"b":1,"c":2},{"b":2}]}"#, #"{"$pull":{"a":{"b":1}}}"#, #"{"a":[{"b":2}]}"#),
        Case(
            #"{"a":[{"b":[1,2]},{"b":[3]}]}"#,
            #"{"$pull":{"a":{"b":{"$elemMatch":{"$gt":2}}}}}"#, #"{"a":[{"b":[1,2]}]}"#),
        Case(
            #"{"a":["x","yx"]}"#,
            #"{"$pull":{"a":{"$regularExpression":{"pattern":"^x","options":""}}}}"#,
            #"{"a":["yx"]}"#),
        Case(#"{"a":[2]}"#, #"{"$pull":{"a":1}}"#, nil),
        Case("{}", #"{"$pull":{"a":1}}"#, nil),
        Case(#"{"a":[1,2,3,1]}"#, #"{"$pullAll":{"a":[1,3]}}"#, #"{"a":[2]}"#),
        Case(#"{"a":[1,2]}"#, #"{"$pop":{"a":1}}"#, #"{"a":[1]}"#),
        Case(#"{"a":[1,2]}"#, #"{"$pop":{"a":-1}}"#, #"{"a":[2]}"#),
        Case(#"{"a":[]}"#, #"{"$pop":{"a":1}}"#, nil),
    ]

    static let positions = [
        Case(#"{"a":[1,2,3]}"#, #"{"$set":{"a.$":9}}"#, #"{"a":[1,9,3]}"#, filter: #"{"a":2}"#),
        Case(
            #"{"a":[{"b":1,"c":1},{"b":2,"c":1}]}"#, #"{"$inc":{"a.$.c":1}}"#,
            #"{"a":[{"b":1,"c":1},{"b":2,"c":2}]}"#, filter: #"{"a.b":2}"#),
        Case(
            #"{"a":[{"b":1,"c":5},{"b":1,"c":9}]}"#, #"{"$set":{"a.$.d":1}}"#,
            #"{"a":[{"b":1,"c":5},{"b":1,"c":9,"d":1}]}"#,
            filter: #"{"a":{"$elemMatch":{"b":1,"c":{"$gt":6}}}}"#),
        Case(#"{"a":[1,2]}"#, #"{"$inc":{"a.$[]":10}}"#, #"{"a":[11,12]}"#),
        Case(
            #"{"a":[{"b":[1,2]},{"b":[3]}]}"#, #"{"$inc":{"a.$[].b.$[]":1}}"#,
            #"{"a":[{"b":[2,3]},{"b":[4]}]}"#),
        Case(
            #"{"a":[1,5,9]}"#, #"{"$set":{"a.$[high]":0}}"#, #"{"a":[1,0,0]}"#,
            arrayFilters: [#"{"high":{"$gte":5}}"#]),
        Case(
            #"{"a":[{"b":1},{"b":2}]}"#, #"{"$set":{"a.$[x].c":1}}"#,
            #"{"a":[{"b":1},{"b":2,"c":1}]}"#, arrayFilters: [#"{"x.b":2}"#]),
        Case(#"{"a":[]}"#, #"{"$set":{"a.$[]":1}}"#, nil),
    ]

    @Test(arguments: errors)
    func `what cannot be done is refused with MongoDB's code and text`(
        _ before: String, _ update: String, _ code: Int32, _ message: String
    ) throws {
        let error = #expect(throws: StoreError.self) {
            let update = try Update(BSONDocument(extendedJSON: update))
            _ = try update.apply(to: BSONDocument(extendedJSON: before))
        }
        #expect(error?.code.rawValue == code)
        #expect(error?.message == message)
    }

    static let errors: [(String, String, Int32, String)] = [
        (
            "{}", #"{"$foo":{"a":1}}"#, 9,
            "Unknown modifier: $foo. Expected a valid update modifier or pipeline-style update "
                + "specified as an array"
        ),
        (
            "{}", #"{"$set":1}"#, 9,
            "Modifiers operate on fields but we found type int instead. For example: {$mod: {<field>: "
                + "...}} not {$set: 1}"
        ),
        (
            "{}", #"{"$set":{"a":1},"$inc":{"a":1}}"#, 40,
            "Updating the path 'a' would create a conflict at 'a'"
        ),
        (
            "{}", #"{"$set":{"a":1,"a.b":1}}"#, 40,
            "Updating the path 'a.b' would create a conflict at 'a'"
        ),
        (
            "{}", #"{"$rename":{"a":"a.b"}}"#, 2,
            "The source and target field for $rename must not be on the same path: a: \"a.b\""
        ),
        ("{}", #"{"$set":{"":1}}"#, 56, "An empty update path is not valid."),
        (
            "{}", #"{"$set":{"a..b":1}}"#, 56,
            "The update path 'a..b' contains an empty field name, which is not allowed."
        ),
        (
            #"{"_id":1}"#, #"{"$set":{"_id":2}}"#, 66,
            "Performing an update on the path '_id' would modify the immutable field '_id'"
        ),
        (
            #"{"_id":1}"#, #"{"$unset":{"_id":1}}"#, 66,
            "Performing an update on the path '_id' would modify the immutable field '_id'"
        ),
        (
            #"{"_id":1}"#, #"{"_id":2}"#, 66,
            "After applying the update, the (immutable) field '_id' was found to have been altered to "
                + "_id: 2"
        ),
        (#"{"a":1}"#, #"{"$set":{"a.b":1}}"#, 28, "Cannot create field 'b' in element {a: 1}"),
        (
            #"{"a":[1]}"#, #"{"$set":{"a.b":1}}"#, 28,
            "Cannot create field 'b' in element {a: [ 1 ]}"
        ),
        (
            #"{"a":"x"}"#, #"{"$pop":{"a.b":1}}"#, 28,
            #"Cannot use the part (b) of (a.b) to traverse the element ({a: "x"})"#
        ),
        (
            "{}", #"{"$inc":{"a":"x"}}"#, 14,
            #"Cannot increment with non-numeric argument: {a: "x"}"#
        ),
        (
            #"{"_id":1,"a":"x"}"#, #"{"$inc":{"a":1}}"#, 14,
            "Cannot apply $inc to a value of non-numeric type. {_id: 1} has the field 'a' of "
                + "non-numeric type string"
        ),
        (
            #"{"_id":1,"a":{"$numberLong":"9223372036854775807"}}"#, #"{"$inc":{"a":1}}"#, 2,
            "Failed to apply $inc operations to current value ((NumberLong)9223372036854775807) for "
                + "document {_id: 1}"
        ),
        (
            #"{"_id":1,"a":1}"#, #"{"$push":{"a":1}}"#, 2,
            "The field 'a' must be an array but is of type int in document {_id: 1}"
        ),
        (
            #"{"a":1}"#, #"{"$addToSet":{"a":1}}"#, 2,
            "Cannot apply $addToSet to non-array field. Field named 'a' has non-array type int"
        ),
        (#"{"a":1}"#, #"{"$pull":{"a":1}}"#, 2, "Cannot apply $pull to a non-array value"),
        (
            #"{"a":1}"#, #"{"$pop":{"a":1}}"#, 14,
            "Path 'a' contains an element of non-array type 'int'"
        ),
        ("{}", #"{"$pop":{"a":2}}"#, 9, "$pop expects 1 or -1, found: 2"),
        (
            "{}", #"{"$rename":{"a":1}}"#, 2,
            "The 'to' field for $rename must be a string: a: 1"
        ),
        (
            #"{"a":[1]}"#, #"{"$set":{"a.$":1}}"#, 2,
            "The positional operator did not find the match needed from the query."
        ),
        (
            #"{"a":1}"#, #"{"$set":{"a.$[]":1}}"#, 2,
            "Cannot apply array updates to non-array element a: 1"
        ),
        (
            "{}", #"{"$set":{"a.$[x]":1}}"#, 2,
            "No array filter found for identifier 'x' in path 'a.$[x]'"
        ),
        (
            "{}", #"{"a":1,"$set":1}"#, 52,
            "The dollar ($) prefixed field '$set' in '$set' is not allowed in the context of an "
                + "update's replacement document. Consider using an aggregation pipeline with "
                + "$replaceWith."
        ),
    ]

    @Test(arguments: insertions)
    func `an upsert inserts the filter's equalities and the update`(
        _ filter: String, _ update: String, _ inserted: String
    ) throws {
        let update = try Update(BSONDocument(extendedJSON: update))
        let document = try update.insertion(for: Filter(BSONDocument(extendedJSON: filter)))
        #expect(document == (try BSONDocument(extendedJSON: inserted)))
    }

    static let insertions: [(String, String, String)] = [
        (#"{"_id":1}"#, #"{"$set":{"a":2}}"#, #"{"_id":1,"a":2}"#),
        (
            #"{"a":1,"b":{"$gt":2},"c.d":{"$eq":3}}"#, #"{"$setOnInsert":{"e":4}}"#,
            #"{"a":1,"c":{"d":3},"e":4}"#
        ),
        (#"{"$and":[{"a":1},{"b":2}]}"#, #"{"$inc":{"b":1}}"#, #"{"a":1,"b":3}"#),
        (#"{"$or":[{"a":1}]}"#, #"{"$set":{"b":1}}"#, #"{"a":1,"b":1}"#),
        (#"{"$or":[{"a":1},{"a":1}]}"#, #"{"$set":{"b":1}}"#, #"{"a":1,"b":1}"#),
        (#"{"$or":[{"a":1},{"a":2}]}"#, #"{"$set":{"b":1}}"#, #"{"b":1}"#),
        (#"{"$or":[{"a":1},{"a":1,"c":{"$gt":1}}]}"#, #"{"$set":{"b":1}}"#, #"{"b":1}"#),
        (#"{"_id":1,"a":5}"#, #"{"b":2}"#, #"{"_id":1,"b":2}"#),
        (#"{"a":5}"#, #"{"b":2}"#, #"{"b":2}"#),
    ]

    @Test func `an upsert whose filter names a field twice is refused`() throws {
        let update = try Update(["$set": ["b": 1]])
        let filter = try Filter(["$and": [["a": 1], ["a": 2]]])
        let error = #expect(throws: StoreError.self) { try update.insertion(for: filter) }
        #expect(error?.code == .notSingleValueField)
    }
}
