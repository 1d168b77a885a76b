import BSONStore
import Foundation
import Testing

@testable import StitchSyncCommand

/// Values with commas, quotes and line breaks would otherwise end up in the wrong fields.
@Suite struct RecordReaderTests {
    /// Reads a text, and returns the records with their lines, or the faults.
    private static func read(
        _ text: String, isTabbed: Bool = false, bytesMax: Int = 1_000, chunkBytes: Int = 7
    ) throws -> [String] {
        let pipe = Pipe()
        pipe.fileHandleForWriting.write(Data(text.utf8))
        try pipe.fileHandleForWriting.close()
        let descriptor = Descriptor(number: pipe.fileHandleForReading.fileDescriptor)
        var reader = RecordReader(
            LineReader(descriptor, chunkBytes: chunkBytes), separator: isTabbed ? 0x09 : 0x2C,
            hasQuotes: !isTabbed, recordBytesMax: bytesMax)
        var records: [String] = []
        while let record = try reader.next() {
            switch record.content {
            case .fields(let fields):
                let texts = fields.map {
                    "\($0.column)<\(String(decoding: $0.bytes, as: UTF8.self))>"
                }
                records.append("\(record.line): \(texts.joined())")
            case .fault(let fault): records.append("\(record.line): \(fault)")
            }
        }
        return records
    }

    @Test(arguments: [
        ("", []),
        ("a,b\n1,2\n", ["1: 1<a>3<b>", "2: 1<1>3<2>"]),
        ("a,b\r\n1,2", ["1: 1<a>3<b>", "2: 1<1>3<2>"]),
        ("\u{FEFF}a,b\n", ["1: 1<a>3<b>"]),
        ("\u{FEFF}\"a\"\n", ["1: 1<a>"]),
        ("\n\r\n,\n", ["3: 1<>2<>"]),
        ("\"\"\n", ["1: 1<>"]),
        ("\"a,\"\"b\"\"\",c\n", ["1: 1<a,\"b\">11<c>"]),
        ("\"a\nb\",c\r\nd\n", ["1: 1<a\nb>4<c>", "3: 1<d>"]),
        ("\"a\"\r\n", ["1: 1<a>"]),
        ("a\"b,c\n", ["1: 1<a\"b>5<c>"]),
        (
            "\"a\"b,c\nd\n",
            ["1: there is text after a quoted value (column 4)", "2: 1<d>"]
        ),
        (
            "a\nb,\"c\nd\n",
            [
                "1: 1<a>",
                "2: the quote of line 2, column 3 is not closed; the rest is not read",
            ]
        ),
    ])
    func `a text is taken apart`(_ text: String, _ expected: [String]) throws {
        #expect(try Self.read(text) == expected)
        #expect(try Self.read(text, chunkBytes: 256) == expected)
    }

    @Test func `quotes mean nothing in TSV`() throws {
        #expect(
            try Self.read("\"a\tb,c\n\"\"\t\n", isTabbed: true)
                == ["1: 1<\"a>4<b,c>", "2: 1<\"\">4<>"])
    }

    @Test func `a record that is too long is not kept, and the next one is read`() throws {
        let long = String(repeating: "x", count: 100)
        let records = try Self.read("\(long),\"\(long)\n\"\nb\n", bytesMax: 50)
        #expect(records.count == 2)
        #expect(records.first?.hasPrefix("1: the line has 205 bytes") == true)
        #expect(records.last == "3: 1<b>")
    }

    @Test(arguments: [
        ("2006-01-02", "2024-02-29", "2024-02-29T00:00:00Z"),
        ("2006-01-02", "2023-02-29", nil),
        ("2006-01-02", "2024-2-9", "2024-02-09T00:00:00Z"),
        ("2006-01-02", "2024-02-09 ", nil),
        ("Jan _2 2006 3:04PM", "Mar  5 2021 4:07PM", "2021-03-05T16:07:00Z"),
        ("2006-01-02T15:04:05Z07:00", "2021-03-05T01:00:00+02:00", "2021-03-04T23:00:00Z"),
        ("2006-01-02T15:04:05Z07:00", "2021-03-05T01:00:00Z", "2021-03-05T01:00:00Z"),
        ("2/1/06", "5/3/21", "2021-03-05T00:00:00Z"),
        ("2006-01-02 15:04:05.000", "1969-12-31 23:59:59.500", nil),
    ])
    func `dates in the notation of Go are read`(
        _ layout: String, _ text: String, _ expected: String?
    ) throws {
        let layout = try #require(DateLayout(layout, .go))
        let time = layout.time(of: text)
        if text.hasPrefix("1969") {
            #expect(time?.milliseconds == -500)
        } else {
            #expect(time?.text == expected)
        }
    }

    @Test func `dates in the notations of NET and Oracle are read`() throws {
        let net = try #require(DateLayout("yyyy-MM-dd HH:mm:ss.fff", .dotNet))
        #expect(net.time(of: "2021-03-05 16:07:08.250")?.milliseconds == 1_614_960_428_250)
        let oracle = try #require(DateLayout("DD-MON-YYYY HH24:MI", .oracle))
        #expect(oracle.time(of: "05-MAR-2021 16:07")?.text == "2021-03-05T16:07:00Z")
        #expect(DateLayout("HH:mm", .dotNet) == nil)
    }

    @Test(arguments: [
        ("int32()", "12", "12"), ("int32()", "3000000000", nil), ("int32()", "", nil),
        ("int64()", "3000000000", "3000000000"), ("double()", "1.5", "1.5"),
        ("boolean()", "True", "true"), ("boolean()", "yes", nil), ("string()", "12", "\"12\""),
        ("auto()", "12", "12"), ("auto()", "1.5", "1.5"), ("auto()", "1.5.2", "\"1.5.2\""),
        ("auto()", "x", "\"x\""), ("auto()", "", "\"\""), ("auto()", "nan", "\"nan\""),
        ("decimal()", "1.50", #"{"$numberDecimal":"1.50"}"#),
        ("binary(hex)", "00ff", #"{"$binary":{"base64":"AP8=","subType":"00"}}"#),
        ("binary(hex)", "0", nil),
        ("binary(base64)", "AP8=", #"{"$binary":{"base64":"AP8=","subType":"00"}}"#),
        ("binary(base32)", "AD7Q====", #"{"$binary":{"base64":"AP8=","subType":"00"}}"#),
    ])
    func `a text is read as its column's type says`(
        _ type: String, _ text: String, _ expected: String?
    ) throws {
        let type = try #require(ColumnType(type))
        #expect(type.value(of: text)?.extendedJSON(.relaxed) == expected)
    }

    @Test(arguments: [
        (["a", "a"], false, "the column 2, a, is named twice"),
        (["a", "a.b"], false, "the column 2, a.b, is named twice"),
        (["a", ""], false, "the column 2 has an empty name; name it with --fields"),
        (["a.int()"], true, "the column 1, a.int(), has no known type"),
        (["a"], true, "the column 1, a, has no known type"),
    ])
    func `wrong columns are refused`(_ names: [String], _ haveTypes: Bool, _ message: String) {
        let error = #expect(throws: CommandError.self) {
            try ColumnPlan(names, haveTypes: haveTypes)
        }
        #expect(error?.description.hasPrefix(message) == true, "\(error?.description ?? "")")
    }

    @Test func `names and texts are written as they are read`() {
        #expect(ColumnOptions.names("a.date(Jan 2, 2006), b") == ["a.date(Jan 2, 2006)", "b"])
        let document: BSONDocument = [
            "a": "x,\"y\"", "b": ["c": 1], "d": .null, "e": .datetime(.init(milliseconds: 5)),
        ]
        #expect(
            RecordLine(document, ["a", "b.c", "d", "e", "b"]).text
                == #""x,""y""",1,,1970-01-01T00:00:00.005Z,"{""c"":1}""#)
        #expect(RecordLine(["", ""]).text == ",")
        #expect(RecordLine([""]).text == "\"\"")
    }
}
