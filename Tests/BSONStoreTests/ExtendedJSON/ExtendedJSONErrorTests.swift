import BSONStore
import Testing

/// Without these, a person with a broken file would have to search it for the fault.
@Suite struct ExtendedJSONErrorTests {
    struct Fault: Sendable, CustomTestStringConvertible {
        let text: String
        let code: BSONError.Code
        let line: Int
        let column: Int
        var testDescription: String { text }

        init(_ text: String, _ code: BSONError.Code, _ line: Int, _ column: Int) {
            self.text = text
            self.code = code
            self.line = line
            self.column = column
        }
    }

    @Test(
        "an error names its code, line and column",
        arguments: [
            Fault("", .invalidJSON, 1, 1),
            Fault("{", .invalidJSON, 1, 2),
            Fault("{\"a\":1,\n \"b\":tru}", .invalidJSON, 2, 6),
            Fault("{\"a\":\n\n  \"x\u{1}\"}", .invalidJSON, 3, 5),
            Fault("{\"a\": 1} x", .invalidJSON, 1, 10),
            Fault("[1]", .invalidExtendedJSON, 1, 1),
            Fault("{\"a\":{\"$oid\":\"12\"}}", .invalidObjectID, 1, 14),
            Fault("{\"a\":{\"$oid\":12}}", .invalidExtendedJSON, 1, 14),
            Fault("{\"a\":{\"$numberInt\":\"2147483648\"}}", .invalidNumber, 1, 20),
            Fault("{\"a\":{\"$numberDecimal\":\"1e7000\"}}", .invalidNumber, 1, 24),
            Fault("{\"a\":\n{\"b\":1,\"$oid\":\"x\"}}", .invalidExtendedJSON, 2, 8),
            Fault("{\"a\":{\"$code\":1}}", .invalidExtendedJSON, 1, 15),
            Fault("{\"a\\u0000\":1}", .embeddedNull, 1, 2),
            Fault("{\"a\":\"\\ud800\"}", .invalidJSON, 1, 7),
            Fault("{\"a\":1e999}", .invalidNumber, 1, 6),
            Fault(String(repeating: "[", count: 101), .tooDeep, 1, 101),
        ])
    func place(fault: Fault) {
        let error = #expect(throws: BSONError.self) { try BSONDocument(extendedJSON: fault.text) }
        #expect(error?.code == fault.code)
        #expect(error?.line == fault.line)
        #expect(error?.column == fault.column)
    }

    @Test(
        "bytes that are not UTF-8 are refused where they begin",
        arguments: [
            [0x80], [0xC0, 0x80], [0xC1, 0xBF], [0xC3], [0xE0, 0x80, 0x80], [0xE0, 0xA0],
            [0xED, 0xA0, 0x80], [0xF0, 0x80, 0x80, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xF5], [0xFF],
            [0xF0, 0x9F, 0x98],
        ] as [[UInt8]])
    func malformedUTF8(bytes: [UInt8]) {
        let text = Array("{\"a\":\"".utf8) + bytes + Array("\"}".utf8)
        let error = #expect(throws: BSONError.self) { try BSONDocument(extendedJSONBytes: text) }
        #expect(error?.code == .invalidUTF8)
        #expect(error?.byteOffset == 6)
    }

    @Test("a document larger than 16 MiB as BSON is refused")
    func size() throws {
        let text = String(repeating: "a", count: 16 * 1024 * 1024 - 13)
        let fits = try BSONDocument(extendedJSON: "{\"a\":\"\(text)\"}")
        #expect(fits.byteCount == 16 * 1024 * 1024)
        let error = #expect(throws: BSONError.self) {
            try BSONDocument(extendedJSON: "{\"a\":\"\(text)xx\"}")
        }
        #expect(error?.code == .tooLarge)
    }

    @Test(
        "single values read and write without a document around them",
        arguments: [
            ("1", BSONValue.int32(1)), ("2147483648", .int64(2_147_483_648)), ("1.5", .double(1.5)),
            ("\"a\"", .string("a")), ("null", .null), ("true", .bool(true)), (" [ ] ", .array([])),
            ("{}", .document([:])), ("{\"$minKey\":1}", .minKey),
            ("{\"$code\":\"f\"}", .javascript("f")),
        ])
    func values(text: String, value: BSONValue) throws {
        #expect(try BSONValue(extendedJSON: text) == value)
        #expect(try BSONValue(extendedJSONBytes: Array(text.utf8)) == value)
        #expect(try BSONValue(extendedJSON: value.extendedJSON()) == value)
    }

    @Test("pretty text has one element a line and wrappers in one piece")
    func pretty() {
        let document: BSONDocument = ["a": 1, "b": ["c": []], "d": [true, [:]], "e": .minKey]
        #expect(
            document.extendedJSON(.relaxed, pretty: true) == """
                {
                  "a": 1,
                  "b": {
                    "c": []
                  },
                  "d": [
                    true,
                    {}
                  ],
                  "e": {"$minKey":1}
                }
                """)
    }
}
