import Testing

@testable import BSONCore
@testable import BSONScript
@testable import BSONStore

/// Without these a shell could lose names between lines, or the types of numbers.
@Suite struct ScriptSessionTests {
    private static func stored(_ text: String) throws -> BSONValue {
        let session = ScriptSession()
        return try session.stored(try session.evaluate(text))
    }

    @Test func `names stay between evaluations`() throws {
        let session = ScriptSession()
        _ = try session.evaluate("const a = 2; let b = 3; function f(x) { return x * a }")
        #expect(try session.evaluate("b = 5; f(b)").number == 10)
        #expect(throws: ScriptError.self) { try session.evaluate("a = 1") }
        #expect(try session.evaluate("var c = 1").text == "undefined")
    }

    @Test func `a native function answers, throws and calls back`() throws {
        let session = ScriptSession()
        session.define("twice") { [unowned session] arguments in
            try session.call(arguments[0], [.number(2 * arguments[1].number)])
        }
        session.define("refuse") { _ in
            throw ScriptError("MongoServerError", "no", fields: ["code": 11000])
        }
        #expect(try session.evaluate("twice(x => x + 1, 4)").number == 9)
        #expect(
            try session.evaluate("try { refuse() } catch (e) { e.code + e.message }").text
                == "11000no")
        let error = #expect(throws: ScriptError.self) {
            try session.evaluate("twice(() => { throw new Error('in') }, 1)")
        }
        #expect(error?.message == "in")
        let refused = #expect(throws: ScriptError.self) { try session.evaluate("refuse()") }
        #expect(refused?.fields["code"] == 11000)
    }

    private final class Numbers: ScriptHost {
        var kept: [String] = []
        var text: String { "Numbers" }
        var names: [String] { ["one"] }
        func property(_ name: String) throws -> ScriptValue? {
            name == "plus"
                ? .native("plus") { .number($0[0].number + 1) }
                : name == "none" ? nil : .string("no \(name)")
        }
        func set(_ name: String, _ value: ScriptValue) throws -> Bool {
            kept.append(name)
            return true
        }
        func items() throws -> (() throws -> ScriptValue?)? {
            var next = 0.0
            return {
                next += 1
                return next > 3 ? nil : .number(next)
            }
        }
    }

    @Test func `a host answers for its properties`() throws {
        let session = ScriptSession()
        let numbers = Numbers()
        session.define("numbers", .host(numbers))
        #expect(try session.evaluate("numbers.todos").text == "no todos")
        #expect(try session.evaluate("numbers['a.b']").text == "no a.b")
        #expect(try session.evaluate("numbers.plus(4)").number == 5)
        #expect(try session.evaluate("numbers.none").text == "undefined")
        #expect(try session.evaluate("[...numbers].join()").text == "1,2,3")
        #expect(try session.evaluate("let s = 0; for (const n of numbers) s += n; s").number == 6)
        #expect(try session.evaluate("numbers.x = 1; `${numbers}`").text == "Numbers")
        #expect(numbers.kept == ["x"])
    }

    @Test(
        arguments: [
            ("5", .int32(5)), ("5.5", .double(5.5)), ("2147483648", .double(2_147_483_648)),
            ("-0", .double(-0.0)), ("NumberLong('5')", .int64(5)), ("NumberLong(7)", .int64(7)),
            ("NumberLong('9223372036854775807')", .int64(.max)), ("NumberInt(5)", .int32(5)),
            ("Double(5)", .double(5)), ("Long.fromNumber(3)", .int64(3)),
            ("NumberLong(5) + 1", .int32(6)), ("NumberLong(5).add(1)", .int64(6)),
            ("NumberInt('7') * 2", .int32(14)),
            ("Timestamp(1, 2)", .timestamp(BSONTimestamp(seconds: 1, increment: 2))),
            ("Timestamp({t: 1, i: 2})", .timestamp(BSONTimestamp(seconds: 1, increment: 2))),
            ("MinKey", .minKey), ("MinKey()", .minKey), ("new MaxKey()", .maxKey),
            ("BinData(0, 'AQI=')", .binary(BSONBinary([1, 2]))),
            ("HexData(5, '0aff')", .binary(BSONBinary([10, 255], subtype: 5))),
            (
                "UUID('00112233-4455-6677-8899-aabbccddeeff')",
                .binary(
                    BSONBinary(
                        [0, 17, 34, 51, 68, 85, 102, 119, 136, 153, 170, 187, 204, 221, 238, 255],
                        subtype: 4))
            ),
            ("Code('x')", .javascript("x")), ("DBRef('c', 1)", ["$ref": "c", "$id": .int32(1)]),
            ("ISODate('1970-01-01T00:00:01Z')", .datetime(BSONDatetime(milliseconds: 1_000))),
            ("/a/i", .regularExpression(BSONRegularExpression("a", options: "i"))),
            ("function f(a) { return a } ({f})", ["f": .javascript("function f(a) { return a }")]),
            ("({a: [1, 2.5, null, 'x']})", ["a": [.int32(1), .double(2.5), .null, "x"]]),
        ] as [(String, BSONValue)])
    func `values keep their types`(text: String, expected: BSONValue) throws {
        #expect(try Self.stored(text) == expected)
    }

    @Test(arguments: [
        "d.long.toString() === '9007199254740993' && d.long > 5 && d.small + 1 === 8",
        "d.small == 7 && typeof d.small === 'object' && d.small instanceof NumberLong",
        "`${d.small}` === '7' && d.small.toNumber() === 7", "d.int === 3 && d.double === 2.5",
        "d.decimal.toString() === '1.5'",
        "d.id.toString().length === 24 && `${d.id}`.length === 24",
        "d.id.equals(ObjectId(d.id.toString()))", "JSON.stringify({i: d.id}).length === 32",
        "ObjectId() instanceof ObjectId && UUID().toString().length === 36",
    ])
    func `documents of a store keep the types of their numbers`(text: String) throws {
        let session = ScriptSession()
        let document: BSONDocument = [
            "long": .int64(9_007_199_254_740_993), "small": .int64(7), "int": .int32(3),
            "double": 2.5, "decimal": .decimal128(try BSONDecimal128("1.5")),
            "id": .objectID(BSONObjectID()),
        ]
        session.define("d", session.value(.document(document)))
        #expect(try session.evaluate(text).isTrue, "\(text)")
        #expect(try session.stored(try session.evaluate("d")) == .document(document))
    }

    @Test func `another thread stops an evaluation`() throws {
        let budget = WorkBudget()
        budget.stop(.interrupted)
        let error = #expect(throws: StoreError.self) {
            try budget.running {
                try ScriptSession().evaluate("while (true) {}")
            }
        }
        #expect(error?.code == .interrupted)
    }

    @Test func `functions call themselves as deep as the options allow`() {
        var options = ScriptOptions.shell
        options.stackBytesMax = 256 << 10
        let session = ScriptSession(options: options)
        let error = #expect(throws: ScriptError.self) {
            try session.evaluate("function f(n) { return f(n + 1) } f(0)")
        }
        #expect(error?.name == "RangeError")
        #expect(error?.message == "Maximum call stack size exceeded")
    }
}
