import BSONStore
import Testing

@testable import StitchSyncCommand

/// Without these people would have to write Extended JSON by hand.
@Suite struct ExtendedJSONArgumentTests {
    @Test(arguments: [
        ("{_id: 1, 'b': 'x'}", #"{"_id":{"$numberInt":"1"},"b":"x"}"#),
        ("{a: NumberLong(3)}", #"{"a":{"$numberLong":"3"}}"#),
        (#"{a: NumberLong("9007199254740993")}"#, #"{"a":{"$numberLong":"9007199254740993"}}"#),
        ("{a: 9007199254740993, b: 'c'}", #"{"a":{"$numberLong":"9007199254740993"},"b":"c"}"#),
        ("{a: ISODate('2024-05-01')}", #"{"a":{"$date":{"$numberLong":"1714521600000"}}}"#),
        ("{a: new Date(5)}", #"{"a":{"$date":{"$numberLong":"5"}}}"#),
        (
            "{a: ObjectId('5f0e9c2b1c9d440000a1b2c3')}",
            #"{"a":{"$oid":"5f0e9c2b1c9d440000a1b2c3"}}"#
        ),
        ("{a: NumberDecimal('9.50')}", #"{"a":{"$numberDecimal":"9.50"}}"#),
        (
            "{a: UUID('0123abcd-4567-89ab-cdef-0123456789ab')}",
            #"{"a":{"$binary":{"base64":"ASOrzUVniavN7wEjRWeJqw==","subType":"04"}}}"#
        ),
        ("{a: BinData(0, 'aGk=')}", #"{"a":{"$binary":{"base64":"aGk=","subType":"00"}}}"#),
        ("{a: /^x/i}", #"{"a":{"$regularExpression":{"pattern":"^x","options":"i"}}}"#),
        ("{a: Timestamp(5, 1)}", #"{"a":{"$timestamp":{"t":5,"i":1}}}"#),
        (
            "{a: -Infinity, b: NaN}",
            #"{"a":{"$numberDouble":"-Infinity"},"b":{"$numberDouble":"NaN"}}"#
        ),
        (
            "{a.b: [1, 'x',], $or: [{c: -.5}]}",
            #"{"a.b":[{"$numberInt":"1"},"x"],"$or":[{"c":{"$numberDouble":"-0.5"}}]}"#
        ),
        (
            "{a: {$date: '2024-05-01T00:00:00Z'}, b: MinKey}",
            #"{"a":{"$date":{"$numberLong":"1714521600000"}},"b":{"$minKey":1}}"#
        ),
        ("{a: 'it\\'s \"so\"', // why\n b: null}", #"{"a":"it's \"so\"","b":null}"#),
    ])
    func `literals of MongoDB's shell are read`(_ text: String, _ json: String) throws {
        let value = try ExtendedJSONArgument.value(text)
        #expect(value == (try BSONValue(extendedJSON: json)), "\(value.extendedJSON(.canonical))")
    }

    @Test(arguments: [
        ("{a: 'x', b: ISODate('soon')}", "ISODate is written as ISODate(", 13),
        ("{a: 'x', b: pen}", "pen is not a value; put a text in quotes", 13),
        ("{a: 'x' b: 1}", "} is expected", 9),
        ("{a: 'ä', d: {$oid: 'x'}}", "$oid takes 24 hexadecimal digits", 21),
        ("{a: f(process.exit())}", "a number is expected", 7),
        ("{a: 'x}", "unescaped line break", 5),
        ("{a: 'x'} {}", "there is text behind the value", 10),
    ])
    func `a fault is told with its place and an example`(
        _ text: String, _ reason: String, _ column: Int
    ) {
        let error = #expect(throws: (any Error).self) { try ExtendedJSONArgument.value(text) }
        let message = error.map { "\($0)" } ?? ""
        #expect(message.contains(reason), "\(message)")
        #expect(message.contains("(line 1, column \(column))"), "\(message)")
        #expect(message.contains("{name: 'pen'"))
    }
}
