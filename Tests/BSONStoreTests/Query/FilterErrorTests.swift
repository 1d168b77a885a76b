import BSONStore
import Testing

/// Without these a mistake in a filter would be taken for another filter, or reported in other words.
@Suite struct FilterErrorTests {
    @Test(arguments: cases)
    func `what is no filter is refused with MongoDB's code and text`(
        _ filter: String, _ code: Int32, _ message: String
    ) throws {
        let document = try BSONDocument(extendedJSON: filter)
        let error = #expect(throws: StoreError.self) { try Filter(document) }
        #expect(error?.code.rawValue == code)
        #expect(error?.message == message)
    }

    static let cases: [(String, Int32, String)] = [
        (#"{"a":{"$foo":1}}"#, 2, "unknown operator: $foo"),
        (#"{"a":{"$gt":1,"b":1}}"#, 2, "unknown operator: b"),
        (
            #"{"$foo":1}"#, 2,
            "unknown top level operator: $foo. If you have a field name that starts with a '$' "
                + "symbol, consider using $getField or $setField."
        ),
        (#"{"a":{"$in":1}}"#, 2, "$in needs an array"),
        (#"{"a":{"$nin":{}}}"#, 2, "$nin needs an array"),
        (#"{"a":{"$in":[{"$gt":1}]}}"#, 2, "cannot nest $ under $in"),
        (#"{"$and":1}"#, 2, "$and must be an array"),
        (#"{"$or":[]}"#, 2, "$and/$or/$nor must be a nonempty array"),
        (#"{"$nor":[1]}"#, 2, "$or/$and/$nor entries need to be full objects"),
        (#"{"a":{"$not":1}}"#, 2, "$not needs a regex or a document"),
        (#"{"a":{"$not":{}}}"#, 2, "$not cannot be empty"),
        (#"{"a":{"$size":"x"}}"#, 2, #"Failed to parse $size. Expected a number in: $size: "x""#),
        (
            #"{"a":{"$size":-1}}"#, 2,
            "Failed to parse $size. Expected a non-negative number in: $size: -1"
        ),
        (#"{"a":{"$size":1.5}}"#, 2, "Failed to parse $size. Expected an integer: $size: 1.5"),
        (#"{"a":{"$all":1}}"#, 2, "$all needs an array"),
        (#"{"a":{"$all":[{"$gt":1}]}}"#, 2, "no $ expressions in $all"),
        (#"{"a":{"$elemMatch":1}}"#, 2, "$elemMatch needs an Object"),
        (#"{"a":{"$mod":1}}"#, 2, "malformed mod, needs to be an array"),
        (#"{"a":{"$mod":[1]}}"#, 2, "malformed mod, not enough elements"),
        (#"{"a":{"$mod":[0,1]}}"#, 2, "divisor cannot be 0"),
        (#"{"a":{"$type":"foo"}}"#, 2, "Unknown type name alias: foo"),
        (#"{"a":{"$type":99}}"#, 2, "Invalid numerical type code: 99"),
        (#"{"a":{"$regex":1}}"#, 2, "$regex has to be a string"),
        (#"{"a":{"$options":"i"}}"#, 2, "$options needs a $regex"),
        (#"{"a":{"$regex":"x","$options":"g"}}"#, 51108, " invalid flag in regex options: g"),
        (
            #"{"a":{"$regex":"("}}"#, 51091,
            "Regular expression is invalid: missing closing parenthesis"
        ),
        (
            #"{"a":{"$gt":{"$regularExpression":{"pattern":"x","options":""}}}}"#, 2,
            "Can't have RegEx as arg to predicate over field 'a'."
        ),
        (
            #"{"a":{"$ne":{"$regularExpression":{"pattern":"x","options":""}}}}"#, 2,
            "Can't have regex as arg to $ne."
        ),
        (#"{"a":{"$undefined":true}}"#, 2, "cannot compare to undefined"),
    ]

    @Test func `filters nested too deeply are refused`() throws {
        var filter: BSONDocument = ["a": 1]
        for _ in 0..<60 { filter = ["$nor": [.document(["$and": [.document(filter)]])]] }
        let error = #expect(throws: StoreError.self) { try Filter(filter) }
        #expect(error?.code == .badValue)
    }
}
