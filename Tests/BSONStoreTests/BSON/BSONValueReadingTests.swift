import BSONStore
import Foundation
import Testing

/// Without these an accessor could return a changed number, or content of another type.
@Suite struct BSONValueReadingTests {
    /// A value of each type; numbers are in a test of their own.
    private static let values: [BSONValue] = [
        .double(0.5), "text", ["a": 1], [1, 2], .binary(BSONBinary([1], subtype: 5)), .undefined,
        .objectID(BSONObjectID()), true, .datetime(BSONDatetime(milliseconds: 5)), .null,
        .regularExpression(BSONRegularExpression("a", options: "i")),
        .dbPointer(BSONDBPointer(namespace: "a.b", id: BSONObjectID())), .javascript("f()"),
        .symbol("s"), .javascriptWithScope(BSONJavaScriptWithScope(code: "g()", scope: [:])),
        .int32(7), .timestamp(BSONTimestamp(seconds: 1, increment: 2)), .int64(8),
        .decimal128(BSONDecimal128(9)), .minKey, .maxKey,
    ]

    /// The accessors that return something, by name.
    private func readable(_ value: BSONValue) -> Set<String> {
        let contents: [(String, Any?)] = [
            ("string", value.stringValue), ("document", value.documentValue),
            ("array", value.arrayValue), ("binary", value.binaryValue), ("data", value.dataValue),
            ("uuid", value.uuidValue), ("url", value.urlValue), ("bool", value.boolValue),
            ("objectID", value.objectIDValue), ("datetime", value.datetimeValue),
            ("date", value.dateValue), ("regex", value.regularExpressionValue),
            ("dbPointer", value.dbPointerValue), ("javascript", value.javascriptValue),
            ("symbol", value.symbolValue), ("scope", value.javascriptWithScopeValue),
            ("timestamp", value.timestampValue), ("int", value.intValue),
            ("int32", value.int32Value), ("int64", value.int64Value),
            ("double", value.doubleValue), ("decimal128", value.decimal128Value),
            ("decimal", value.decimalValue), ("null", value.isNull ? true : nil),
        ]
        return Set(contents.filter { $0.1 != nil }.map(\.0))
    }

    @Test func `each type is read by its accessors only`() {
        let numbers: Set = ["int", "int32", "int64", "double", "decimal"]
        let expected: [Set<String>] = [
            ["double"], ["string", "url"], ["document"], ["array"], ["binary", "data"], [],
            ["objectID"], ["bool"], ["datetime", "date"], ["null"], ["regex"], ["dbPointer"],
            ["javascript"], ["symbol"], ["scope"], numbers, ["timestamp"], numbers,
            ["decimal128", "decimal"], [], [],
        ]
        #expect(Self.values.map(\.type) == BSONType.allCases)
        #expect(Self.values.map(readable) == expected)
    }

    @Test func `numbers are read where nothing is lost`() {
        #expect(BSONValue.double(3).int64Value == 3)
        #expect(BSONValue.double(3).intValue == 3)
        #expect(BSONValue.double(3.5).int64Value == nil)
        #expect(BSONValue.double(.nan).intValue == nil)
        #expect(BSONValue.int64(1 << 40).int32Value == nil)
        #expect(BSONValue.int64(-5).int32Value == -5)
        #expect(BSONValue.int64(1 << 53).doubleValue == 0x1p53)
        #expect(BSONValue.int64(1 << 53 + 1).doubleValue == nil)
        #expect(BSONValue.decimal128(BSONDecimal128(1)).int64Value == nil)
        #expect(BSONValue.int64(.min).decimalValue == Decimal(Int64.min))
        #expect(BSONValue.double(1).decimalValue == nil)
        #expect(BSONValue.decimal128(.infinity).decimalValue == nil)
    }

    @Test func `a UUID is a binary of its subtype and length only`() {
        let id = UUID()
        #expect(BSONValue.uuid(id).uuidValue == id)
        #expect(BSONValue.binary(BSONBinary(BSONBinary(id).bytes, subtype: 3)).uuidValue == nil)
        #expect(BSONValue.binary(BSONBinary([1], subtype: 4)).uuidValue == nil)
        #expect(BSONValue.string(id.uuidString).uuidValue == nil)
    }

    @Test func `a description is relaxed Extended JSON, and a debug description has the type`()
        throws
    {
        let id = try BSONObjectID("64b0c0ffee00000000000001")
        let values: [(BSONValue, String, String)] = [
            (1, "1", "int32(1)"), (.int64(1), "1", "int64(1)"), (1.0, "1.0", "double(1.0)"),
            ("a\"b", "\"a\\\"b\"", "string(\"a\\\"b\")"), (nil, "null", "null"),
            (["a": [1, nil]], "{\"a\":[1,null]}", "document({\"a\":[1,null]})"),
            (.objectID(id), "{\"$oid\":\"\(id)\"}", "objectID({\"$oid\":\"\(id)\"})"),
            (.minKey, "{\"$minKey\":1}", "minKey"),
        ]
        for (value, text, debugText) in values {
            #expect("\(value)" == text)
            #expect(String(reflecting: value) == debugText)
        }
    }

    @Test func `values have readable descriptions outside of documents, too`() throws {
        #expect("\(BSONDatetime(milliseconds: 1_700_000_000_001))" == "2023-11-14T22:13:20.001Z")
        #expect("\(BSONDatetime(milliseconds: .max))" == "9223372036854775807 ms since 1970")
        #expect("\(BSONTimestamp(seconds: 7, increment: 1))" == "Timestamp(7, 1)")
        #expect("\(BSONRegularExpression("^a", options: "mi"))" == "/^a/im")
        #expect("\(BSONArray([1, "a"]))" == "[1,\"a\"]")
        let binary = BSONBinary([1, 2, 3])
        #expect("\(binary)" == "{\"$binary\":{\"base64\":\"AQID\",\"subType\":\"00\"}}")
        #expect("\(BSONDecimal128(5))" == "5")
        let id = try BSONObjectID("64b0c0ffee00000000000001")
        #expect("\(id)" == "64b0c0ffee00000000000001")
        #expect("\(BSONJavaScriptWithScope(code: "f()", scope: [:]))".contains("f()"))
        #expect("\(BSONDBPointer(namespace: "a.b", id: id))".contains("a.b"))
    }
}
