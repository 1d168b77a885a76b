import Testing

@testable import BSONCore
@testable import BSONScript
@testable import BSONStore

/// Without these a `$where` could answer otherwise than MongoDB's, or never.
@Suite struct ScriptTests {
    private static let document: BSONDocument = [
        "_id": .objectID(
            BSONObjectID(bytes: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]) ?? BSONObjectID()),
        "x": 3, "long": .int64(7), "name": "Ann", "tags": ["a", "b", "c"], "at": ["y": ["z": 4.5]],
        "when": .datetime(BSONDatetime(milliseconds: 86_400_000)), "none": .null, "yes": true,
        "rows": [["n": 1], ["n": 2], ["n": 4]],
    ]

    private static func value(_ text: String) throws -> Bool {
        try Script(text).accepts(document)
    }

    @Test(arguments: [
        "this.x < 4", "this.x == 3;", "return this.x === 3", "this.x == 3 && this.name == 'Ann'",
        "function() { return this.x > 2 }", "function f() { return obj.x > 2; }",
        "function () {\n  // a comment\n  var d = this; return d.at.y.z == 4.5 }",
        "() => obj.x == 3",
        "sleep(0); true", "sleep(1) || true", "if (this.x) { return true } else { return false }",
        "var t = 0; for (var i = 0; i < this.tags.length; i++) t += i; return t == 3",
        "var s = ''; for (var k in this.at) s += k; return s == 'y'",
        "let s = ''; for (const t of this.tags) { s += t } return s === 'abc'",
        "this.tags.indexOf('b') == 1 && this.tags.includes('c') && !this.tags.includes('d')",
        "this.rows.map(function(r) { return r.n }).reduce((a, b) => a + b, 0) == 7",
        "this.rows.filter(r => r.n % 2 == 0).length == 2", "this.rows.some(r => r.n > 3)",
        "this.rows.every(function (r) { return r.n > 0 })",
        "this.long == 7 && this.long / 2 == 3.5",
        "this.when.getTime() == 86400000 && this.when.getUTCFullYear() === 1970",
        "this.when < new Date() && new Date(0) < this.when", "this.when > ISODate('1970-01-01')",
        "new Date(2020, 1, 29).toISOString() == '2020-02-29T00:00:00.000Z'",
        "this._id.str == '0102030405060708090a0b0c'", "this._id.equals(ObjectId(this._id.str))",
        "this.none === null && this.missing === undefined && this.missing == null",
        "typeof this.x == 'number' && typeof this.name == 'string' && typeof nobody == 'undefined'",
        "'x' in this && !('y' in this) && this.hasOwnProperty('name')",
        "/^a/i.test(this.name) && this.name.match(/n+/)[0] == 'nn'",
        "this.name.replace(/n/g, 'm') == 'Amm' && this.name.replace('n', '$&-') == 'An-n'",
        "this.name.toUpperCase() == 'ANN' && this.name.length == 3 && this.name[0] == 'A'",
        "'a,b,,c'.split(',').length == 4 && 'abc'.split('').join('-') == 'a-b-c'",
        "'abcdef'.substring(4, 1) == 'bcd' && 'abcdef'.slice(-2) == 'ef'",
        "'abc'.substr(1, 1) == 'b'",
        "'5' * '2' === 10 && '5' + 2 === '52' && 5 + 2 === 7 && '3' - 1 === 2",
        "null == undefined && null !== undefined && '1' == 1 && NaN != NaN && !isNaN('4')",
        "(1 + 2) * 3 ** 2 % 5 == 2 && -7 % 3 == -1 && 7 / 2 == 3.5 && 1 / 0 == Infinity",
        "(5 & 3) == 1 && (5 | 3) == 7 && (5 ^ 3) == 6 && ~5 == -6",
        "-1 >>> 28 == 15 && -9 >> 1 == -5 && 1 << 4 == 16",
        "0.1 + 0.2 != 0.3 && String(0.1 + 0.2) == '0.30000000000000004' && '' + 1e21 == '1e+21'",
        "'' + 1e-7 == '1e-7' && '' + 0.000001 == '0.000001' && '' + 123456789012 == '123456789012'",
        "Math.max(1, 5, 3) == 5 && Math.floor(-1.5) == -2",
        "Math.round(2.5) == 3 && Math.abs(-2) == 2",
        "parseInt('12px') == 12 && parseFloat('1.5e1x') == 15 && parseInt('ff', 16) == 255",
        "JSON.stringify({a: [1, 'b', null], c: {}}) == '{\"a\":[1,\"b\",null],\"c\":{}}'",
        "JSON.parse('{\"a\": [1]}').a[0] == 1", "Object.keys(this.at).join() == 'y'",
        "[3, 1, 10].sort().join() == '1,10,3'",
        "[3, 1, 10].sort((a, b) => a - b).join() == '1,3,10'",
        "[1, 2, 3].slice(1).concat([4]).join('') == '234' && Array.isArray([])",
        "var a = [1]; a.push(2); a.unshift(0); a.splice(1, 1); return a.join() == '0,2'",
        "try { throw new Error('no') } catch (e) { return e.message == 'no' }",
        "try { null.x } catch (e) { return e instanceof TypeError } finally { this.x }",
        "switch (this.x) { case 1: return 0; case 3: break; default: return 0 } return true",
        "var n = 0; do { n++; if (n == 2) continue; if (n > 4) break } while (true); return n == 5",
        "var o = {a: 1, 'b': 2, f() { return this.a }}; delete o.b; return o.f() == 1 && !o.b",
        "function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2) } return fib(10) == 55",
        "var g = function(n) { return function() { return n++ } }; var f = g(4); f(); f() == 5",
        "`${this.name}: ${this.x + 1}` == 'Ann: 4'",
        "this.at?.y?.z == 4.5 && this.no?.y === undefined",
        "(this.no ?? 5) == 5", "x = 5; return x == 5", "[1,2,3].find(n => n > 1) == 2",
        "!0 && void 0 == null",
        "new Date(new Date().getTime() + 1) > new Date(0)",
        "(function() { return arguments.length })(1, 2) == 2",
        "this.tags + '' == 'a,b,c' && ({}) + '' == '[object Object]'", "(255).toString(16) == 'ff'",
        "(1.005).toFixed(1) == '1.0' && (1234.5).toFixed(2) == '1234.50'",
        "'\\u0041\\x42\\n'.length == 3",
        "NumberLong('9') == 9 && NumberInt(3) + 1 == 4", "this.name /* between */ == \"Ann\"",
    ])
    func `a text holds`(text: String) throws { #expect(try Self.value(text), "\(text)") }

    @Test(arguments: [
        "false", "this.x > 3", "0", "''", "null", "undefined", "NaN", "function() { }",
        "this.missing",
        "function() { return }", "return", "this.x == '4'", "var a = 1",
    ])
    func `a text does not hold`(text: String) throws { #expect(try !Self.value(text), "\(text)") }

    @Test(arguments: [
        ("this.x <", "SyntaxError: unexpected end of script"),
        ("this.x < 3)", "SyntaxError: unexpected token: ')'"), ("'abc", "SyntaxError"),
        ("var 3 = 4", "SyntaxError"), ("{ a", "SyntaxError"), ("/[/.test('')", "SyntaxError"),
        ("1 = 2", "SyntaxError: invalid assignment left-hand side"), ("/* open", "SyntaxError"),
        ("nobody.x", "ReferenceError: nobody is not defined"),
        ("this.x()", "TypeError: this.x is not a function"),
        ("this.none.y", "TypeError: can't access property \"y\", null has no properties"),
        ("throw 'bare'", "uncaught exception: bare"), ("throw new Error('own')", "Error: own"),
        ("function f() { return f() } return f()", "InternalError: too much recursion"),
        ("var s = 'x'; while (true) s += s", "InternalError: out of memory"),
        ("var a = []; while (true) a.push(new Array(100000))", "InternalError: out of memory"),
        ("[1].reduce((a, b) => a) && [].reduce((a, b) => a)", "TypeError: reduce of empty array"),
        ("new Array(-1)", "RangeError"), ("'x'.repeat(-1)", "RangeError"),
    ])
    func `what is wrong is told`(text: String, message: String) throws {
        let error = #expect(throws: StoreError.self) { try Self.value(text) }
        #expect(error?.code == .scriptFailed)
        #expect(error?.message.hasPrefix(message) == true, "\(error?.message ?? "")")
    }

    @Test(arguments: [
        "'a\u{1F600}b'.length == 4 && 'a\u{1F600}b'.charCodeAt(1) == 0xD83D",
        "'a\u{1F600}b'.charCodeAt(2) == 0xDE00 && 'a\u{1F600}b'.charAt(3) == 'b'",
        "'a\u{1F600}b'.codePointAt(1) == 0x1F600 && 'a\u{1F600}b'.codePointAt(2) == 0xDE00",
        "'a\u{1F600}b'.indexOf('b') == 3 && 'a\u{1F600}b'.indexOf('') == 0",
        "'a\u{1F600}b'.indexOf('', 2) == 2 && 'a\u{1F600}b'.indexOf('\u{1F600}', 2) == -1",
        "'a\u{1F600}b'.indexOf('b', 2) == 3 && 'a\u{1F600}b'.indexOf('b', 9) == -1",
        "'abcabc'.indexOf('c', 3) == 5 && 'abcabc'.indexOf('c', -3) == 2 && 'ab'.indexOf('abc') < 0",
        "'abcabc'.lastIndexOf('c') == 5 && 'abcabc'.lastIndexOf('c', 4) == 2",
        "'abcabc'.lastIndexOf('abc', -1) == 0 && 'abcabc'.lastIndexOf('b', 0) == -1",
        "'abc'.lastIndexOf('') == 3 && 'abc'.lastIndexOf('', 1) == 1 && ''.lastIndexOf('a') == -1",
        "'h\u{E9}h\u{E9}'.lastIndexOf('h\u{E9}') == 2 && 'h\u{E9}h\u{E9}'.indexOf('h', 1) == 2",
        "'a\u{1F600}b'.slice(1, 3) == '\u{1F600}' && 'a\u{1F600}b'.slice(3) == 'b'",
        "'a\u{1F600}b'.substring(3, 1) == '\u{1F600}' && 'h\u{E9}llo'.substr(-4, 2) == '\u{E9}l'",
        "'abc'.startsWith('ab') && 'abc'.startsWith('c', 2) && !'abc'.startsWith('bc')",
        "'abc'.startsWith('') && !'abc'.startsWith('abcd') && 'a\u{1F600}b'.startsWith('b', 3)",
        "'abc'.endsWith('bc') && 'abc'.endsWith('b', 2) && !'abc'.endsWith('zabc')",
        "'abc'.endsWith('c', undefined) && 'abc'.endsWith('', 0) && 'abc'.includes('b', 1)",
        "!'abc'.includes('a', 1) && 'abc'.includes('')",
        "'h\u{E9}h\u{E9}'.replaceAll('\u{E9}', 'e') == 'hehe' && 'aaa'.replaceAll('aa', 'b') == 'ba'",
        "'\u{E9}a'.replaceAll('', '-') == '-\u{E9}-a-' && 'ab'.replace('', '-') == '-ab'",
        "'\u{E9}x\u{E9}x'.search('x') == 1 && '\u{E9}x\u{E9}x'.match(/x/g).length == 2",
        "'\u{E9}ab'.match(/(a)(c)?b/)[1] == 'a' && '\u{E9}ab'.match(/(a)(c)?b/)[2] === undefined",
        "'\u{E9},b,'.split(',').join('|') == '\u{E9}|b|' && 'a\u{E9}b'.split(/\u{E9}/)[1] == 'b'",
        "'abc'.localeCompare('abd') < 0 && 'b'.localeCompare('a') > 0 && 'a'.localeCompare('a') == 0",
    ])
    func `a text is counted in units`(text: String) throws {
        #expect(try Self.value(text), "\(text)")
    }

    @Test(arguments: [
        "for (var i = 0; i < s.length; i++) if (s.charAt(i) == 'x') n++",
        "for (var i = 0; i < s.length; i++) if (s.charCodeAt(i) == 120) n++",
        "for (var i = 0; i < s.length; i++) if (s[i] == 'x') n++",
        "for (var i = -1; (i = s.indexOf('x', i + 1)) >= 0;) n++",
        "for (var i = s.length; i > 0 && (i = s.lastIndexOf('x', i - 1)) >= 0;) n++",
        "for (var i = 0; i < s.length; i++) if (s.startsWith('x', i)) n++",
        "for (var i = 0; i < s.length; i++) if (s.slice(i, i + 1) == 'x') n++",
        "n = s.replaceAll('x', 'yy').length - s.length", "n = s.split('x').length - 1",
        "n = s.length - s.replace(/x/g, '').length",
    ])
    func `looking at a text takes none of the memory`(loop: String) throws {
        let script = try Script("var s = this.s, n = 0; \(loop); return n == this.n")
        // What is counted is what is made: 6,000 copies of a text of 6 KB would be too much.
        for (unit, count) in [("ax", 3_000), ("\u{E9}x", 3_000), ("\u{1F600}x", 2_000)] {
            let text = String(repeating: unit, count: count)
            let document: BSONDocument = ["s": .string(text), "n": .int32(Int32(count))]
            let isTrue = try ScriptLimits.$deadline.withValue(.now + .seconds(300)) {
                try script.accepts(document)
            }
            #expect(isTrue, "\(unit)")
        }
    }

    @Test(arguments: [
        "while (true) a.push(s.slice(1))", "while (true) a.push(s.toUpperCase())",
        "while (true) a.push(s.concat('x'))", "while (true) a.push(s.trim())",
        "while (true) a.push(s.replace('b', 'cc'))", "while (true) a.push(s.match(/.+/))",
        "while (true) a.push(s.split('b'))", "while (true) a.push(s.padEnd(s.length + 1))",
        "while (true) s = s.repeat(2)", "while (true) a.push(s.substring(0, 5000))",
        "while (true) a.push(s.match(/ab/g))",
    ])
    func `texts that are made take of the memory`(loop: String) throws {
        let text = " " + String(repeating: "ab", count: 5_000)
        let script = try Script("var s = this.s, a = []; \(loop)")
        let error = #expect(throws: StoreError.self) {
            try ScriptLimits.$deadline.withValue(.now + .seconds(300)) {
                try script.accepts(["s": .string(text)])
            }
        }
        #expect(error?.message == "InternalError: out of memory")
    }

    @Test func `nesting has a limit`() throws {
        for (open, close) in [
            ("(", ")"), ("[", "]"), ("!", ""), ("{", "}"), ("f(", ")"), ("a ? ", ""),
        ] {
            let text =
                String(repeating: open, count: 100_000) + String(repeating: close, count: 100_000)
            let error = #expect(throws: StoreError.self, "\(open)") { try Script(text) }
            #expect(error?.code == .scriptFailed)
        }
        // What nests without nesting in the text.
        let sum = "1" + String(repeating: " + 1", count: 20_000)
        #expect(throws: StoreError.self) { try Self.value(sum) }
    }

    @Test(arguments: [
        "while (true) {}", "sleep(1e9)", "for (;;) sleep(1)", "[1].forEach(() => { for (;;); })",
    ])
    func `a script stops when the time is over`(text: String) throws {
        let script = try Script("try { \(text) } catch (e) { return true }")
        let error = #expect(throws: StoreError.self) {
            try ScriptLimits.$deadline.withValue(.now) { try script.accepts(Self.document) }
        }
        #expect(error?.code == .maxTimeMSExpired)
    }

    @Test func `whatever a text is, reading and running it ends`() {
        let words = [
            "this", ".", "x", "[", "]", "(", ")", "{", "}", "=>", "function", "return", "var", "a",
            "=",
            "+", "-", "*", "/", "%", "==", "<", "!", "?", ":", ",", ";", "1", "1e99", "-1", "'s'",
            "`${",
            "}`", "for", "while", "if", "else", "try", "catch", "throw", "new", "Date", "Array",
            "Math.max",
            ".length", ".slice(", ".push(", ".sort(", ".map(", ".replace(", ".split(", ".toFixed(",
            "/x/g",
            "9223372036854775807", "NaN", "Infinity", "undefined", "null", "++", "--", "&&", "||",
            "??",
            "?.", ".fill(", ".splice(", ".repeat(", ".padEnd(", ".substr(", "'\\u{'", "tojson(",
            "JSON.parse(", "Object.keys(", ".call(", "in", "of", "delete", "typeof", "switch",
            "case",
        ]
        var random = SeededGenerator(seed: 14)
        for _ in 0..<5_000 {
            let count = Int.random(in: 1...14, using: &random)
            let text = (0..<count).map { _ in words.randomElement(using: &random) ?? "" }
                .joined(separator: Bool.random(using: &random) ? " " : "")
            ScriptLimits.$deadline.withValue(.now + .milliseconds(2)) {
                do throws(StoreError) {
                    _ = try Script(text).accepts(Self.document)
                } catch {
                    #expect(
                        error.code == .scriptFailed || error.code == .maxTimeMSExpired, "\(text)")
                }
            }
        }
    }

    @Test func `only who asks whole documents may ask by a script`() throws {
        #expect(try Filter(["$where": "this.x == 3"]).matches(Self.document))
        #expect(try Filter(["$where": .javascript("this.x == 4")]).matches(Self.document) == false)
        #expect(
            try Filter(["$or": [["x": 9], ["$where": "this.name == 'Ann'"]]]).matches(Self.document)
        )
        for filter: BSONDocument in [
            ["$where": 5],
            ["$where": .javascriptWithScope(BSONJavaScriptWithScope(code: "true", scope: [:]))],
            ["rows": ["$elemMatch": ["$where": "true"]]],
        ] {
            let error = #expect(throws: StoreError.self) { try Filter(filter) }
            #expect(error?.code == .badValue)
        }
        let error = #expect(throws: StoreError.self) {
            try Pipeline([["$match": ["$where": "true"]]])
        }
        #expect(error?.message == "$where is not allowed in this context")
    }

    @Test(arguments: [
        "this.self = this", "var f = function() { return f }; f()",
        "function f() { function g() { return this } return g } obj.kept = f()",
        "obj.list = [obj]; obj.list.push(obj.list)", "Object.assign(obj, {a: {b: obj}})",
        "for (var i = 0; i < 3; i++) { let g = () => i; obj[i] = g }",
    ])
    func `what holds itself is let go of when the script ends`(text: String) throws {
        weak var left: ScriptObject?
        do {
            let object = ScriptObject(Self.document)
            left = object
            let machine = ScriptInterpreter()
            _ = try machine.run(
                ScriptParser.parse(text), this: .object(object), names: ["obj": .object(object)])
            machine.forget()
        }
        #expect(left == nil)
    }

    @Test(
        arguments: [
            ("(a, b) => a + b", [.int32(1), .int64(2)], .double(3)),
            ("function() { return arguments.length }", ["a", .null], .double(2)),
            ("function() {}", [], .undefined), ("x => null", [], .null),
            (
                "function(d) { return d }",
                [["n": .int32(1), "l": .int64(2), "x": 0.5, "a": [.int32(1)]]],
                ["n": .int32(1), "l": .int64(2), "x": 0.5, "a": [1.0]]
            ),
            (
                "function(d) { d.n += 1; delete d.l; d.z = [undefined]; return d }",
                [["n": .int32(1), "l": .int64(2)]], ["n": 2.0, "z": [.undefined]]
            ),
            (
                "() => [new Date(5), /a/gi, ObjectId('0102030405060708090a0b0c')]",
                [],
                [
                    .datetime(BSONDatetime(milliseconds: 5)),
                    .regularExpression(BSONRegularExpression("a", options: "i")),
                    .objectID(
                        BSONObjectID(bytes: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])
                            ?? BSONObjectID()),
                ]
            ),
            (
                "() => Array.sum([1, 2, 3]) + Array.avg([1, 3]) + Array.stdDev([1, 3])", [],
                .double(9)
            ),
            ("() => Array.unique([1, 2, '1', 2])", [], [1.0, 2.0]),
            (
                "() => [Array.contains([1], 1), Array.sum([]), Array.sum(['a', 'b'])]", [],
                [true, .null, "ab"]
            ),
        ] as [(String, [BSONValue], BSONValue)])
    func `what a script gives is stored`(
        text: String, arguments: [BSONValue], expected: BSONValue
    ) throws {
        #expect(try Script(text).value(of: arguments, scope: [:]) == expected)
    }

    @Test func `what holds itself, or has a name that no field can have, is not stored`() throws {
        #expect(throws: StoreError.self) {
            try Script("() => { var a = []; a.push(a); return a }").value(of: [], scope: [:])
        }
        #expect(throws: StoreError.self) {
            try Script("() => ({'a\\0b': 1})").value(of: [], scope: [:])
        }
    }
}
