import Testing

@testable import BSONCore
@testable import BSONScript
@testable import BSONStore

/// Without these a script for MongoDB's shell could mean something else here.
@Suite struct ScriptLanguageTests {
    /// Expects that the last statement of a script is true.
    private func expect(_ text: String, _ location: SourceLocation = #_sourceLocation) {
        do {
            let value = try ScriptSession().evaluate(text)
            #expect(value.isTrue, "\(text): \(value.text)", sourceLocation: location)
        } catch {
            let message = (error as? ScriptError)?.text ?? "\(error)"
            Issue.record("\(text): \(message)", sourceLocation: location)
        }
    }

    @Test(arguments: [
        "Math.max(...[1, 5], 3) === 5", "[0, ...[1, 2], ...'ab'].join() === '0,1,2,a,b'",
        "const o = {a: 1, ...{b: 2, a: 3}}; o.a === 3 && o.b === 2",
        "function f(a, ...rest) { return rest.length } f(1, 2, 3) === 2",
        "function f(a, b = a + 1, {c = 5} = {}) { return a + b + c } f(1) === 8",
        "((a, [b, c], ...d) => a + b + c + d.length)(1, [2, 3], 4, 5) === 8",
        "new Date(...[2020, 1, 1]).getMonth() === 1",
    ])
    func `spread, rest and defaults`(text: String) { expect(text) }

    @Test(arguments: [
        "const {a, b: {c}, ...r} = {a: 1, b: {c: 2}, d: 3}; a === 1 && c === 2 && r.d === 3",
        "let [x, , y = 9, ...z] = [1, 2, undefined, 4, 5]; x + y + z.length === 12",
        "let a = 1, b = 2; [a, b] = [b, a]; a === 2 && b === 1",
        "let a, b; ({a, b: [b]} = {a: 1, b: [2]}); a + b === 3",
        "let s = ''; for (const [k, v] of Object.entries({a: 1, b: 2})) s += k + v; s === 'a1b2'",
        "let s = 0; for (const {n, m = 10} of [{n: 1}, {n: 2, m: 3}]) s += n + m; s === 16",
        "try { throw {code: 5} } catch ({code}) { code === 5 }",
        "const {[`a${1}`]: q = 4} = {}; q === 4", "var o = {}; [o.x, o['y']] = [1, 2]; o.y === 2",
        "const {length} = 'abc'; length === 3",
    ])
    func destructuring(text: String) { expect(text) }

    @Test(arguments: [
        "const a = 1, o = {a, f(x) { return x * 2 }, ['k' + 1]: 3, 'q': 4, 5: 6}; "
            + "o.a + o.f(2) + o.k1 + o.q + o[5] === 18",
        "const o = {n: 2, get x() { return this.n }, set x(v) { this.n = v }}; o.x = 7; o.x === 7",
        "Object.keys({get a() { return 1 }, b: 2}).join() === 'a,b'",
        "({get: 1, set: 2, async: 3, static: 4}).get === 1", "({a() { return 1 }}).a() === 1",
        "JSON.stringify({get a() { return 1 }}) === '{\"a\":1}'",
    ])
    func `object literals`(text: String) { expect(text) }

    @Test(arguments: [
        "2 ** 3 ** 2 === 512", "let a = 2; a **= 3; a === 8", "null ?? 4 === 4",
        "let a = null; a ??= 5; a === 5", "let a = 0; a ||= 6; a === 6",
        "let a = 1; a &&= 7; a === 7", "let o = {}; o.x ??= []; o.x.push(1); o.x.length === 1",
        "let o = null; o?.a.b.c === undefined", "let o = {a: null}; o.a?.[0]?.x === undefined",
        "let o = {}; o.f?.() === undefined", "let f; f?.(1) === undefined",
        "let i = 0, a = [1, 2]; a[i++] += 5; i === 1 && a[0] === 6",
        "1_000_000 === 1e6 && 0xff === 255 && 0o17 === 15 && 0b101 === 5 && .5e1 === 5",
        "'a' in {a: 1} && !('b' in {a: 1})", "delete {}.x && void 0 === undefined",
        "typeof nothing === 'undefined' && typeof (() => 1) === 'function'",
        "(1, 2) === 2", "`a${`b${'}'}`}` === 'ab}'", "let a = 1, b = 2\n;[a, b] = [b, a]\na === 2",
        "let s = 0\nfor (let i = 0, j = 9; i < j; i++, j--) s++\ns === 5",
        "let x = 1\nlet y = x\n++x\ny === 1 && x === 2",
        "function f() { return\n1 }\nf() === undefined",
        "typeof globalThis === 'object' && globalThis.Math === undefined || true",
    ])
    func operators(text: String) { expect(text) }

    @Test(arguments: [
        "let f = []; for (let i = 0; i < 3; i++) f.push(() => i); f.map(g => g()).join() === '0,1,2'",
        "let f = []; for (const i of [4, 5]) f.push(() => i); f[0]() === 4",
        "let n = 0; a: for (;;) { for (;;) { n++; if (n > 3) break a; continue a } } n === 4",
        "let n = 0; a: { n = 1; break a; n = 2 } n === 1",
        "let n = 0; do n++; while (n < 3) n === 3",
        "{ function g() { return 1 } } typeof g === 'undefined'",
        "try { JSON.parse('{') } catch { true }", "let x = 1; { let x = 2 } x === 1",
        "var s = ''; for (var k in ['a', 'b']) s += k; s === '01'",
        "switch (3) { case 1: false; break; case 3: true; break; default: false }",
        "let a = []; for (const x of new Set([1, 1, 2])) a.push(x); a.length === 2",
        "const o = {a: 1}; o.a = 2; o.a === 2",
    ])
    func statements(text: String) { expect(text) }

    @Test(arguments: [
        "async function f() { return 5 } const x = await f(); x === 5",
        "const f = async (a) => { const b = await a; return b }; await f(3) === 3",
        "const f = async a => a; await f(1) === 1",
        "(await Promise.all([1, Promise.resolve(2)])).join() === '1,2'",
        "const o = {async m() { return 1 }}; await o.m() === 1",
        "let s = 0; for await (const x of [1, 2]) s += x; s === 3",
    ])
    func `await gives the value at once`(text: String) { expect(text) }

    @Test(arguments: [
        "class A { constructor(x) { this.x = x } m() { return this.x } } new A(4).m() === 4",
        "class A { m() { return 1 } } class B extends A { m() { return super.m() + 1 } } "
            + "const b = new B(); b.m() === 2 && b instanceof A && b instanceof B",
        "class A { constructor(x) { this.x = x } } class B extends A { constructor() { super(3); "
            + "this.y = this.x + 1 } } new B().y === 4",
        "class A { n = 1; f = () => this.n; static s = 5; static t() { return this.s } } "
            + "new A().f() === 1 && A.t() === 5",
        "class A { #p = 3; get p() { return this.#p } set p(v) { this.#p = v } } const a = new A(); "
            + "a.p = 8; a.p === 8 && Object.keys(a).length === 0",
        "class E extends Error { constructor(m) { super(m); this.name = 'E' } } "
            + "try { throw new E('x') } catch (e) { e instanceof E && e instanceof Error && "
            + "e.message === 'x' && `${e}` === 'E: x' }",
        "class A { toString() { return 'A!' } valueOf() { return 5 } } `${new A()}` === 'A!' "
            + "&& new A() + 1 === 6",
        "function F(x) { this.x = x } F.prototype.get = function() { return this.x }; "
            + "new F(3).get() === 3 && new F(1) instanceof F",
        "class A {} new A().constructor.name === 'A' && A.name === 'A' && typeof A === 'function'",
        "class A { static { A.z = 9 } } A.z === 9",
        "const A = class { m() { return 1 } }; new A().m() === 1",
        "class B extends Array { last() { return this[this.length - 1] } } "
            + "const b = new B(); b.push(7); b.last() === 7",
    ])
    func classes(text: String) { expect(text) }

    @Test(arguments: [
        ("const a = 1; a = 2", "TypeError: Assignment to constant variable. (1:14)"),
        ("with (a) {}", "SyntaxError: the with statement is not supported (1:1)"),
        ("import x from 'y'", "SyntaxError: import declarations are not supported (1:1)"),
        ("tag`x`", "SyntaxError: tagged templates are not supported (1:4)"),
        ("let a = 1\nb", "ReferenceError: b is not defined (2:1)"),
        ("const a", "SyntaxError: missing = in const declaration (1:8)"),
        ("null.x", "TypeError: Cannot read properties of null (reading 'x') (1:1)"),
        ("let f = 1\n\n  f()", "TypeError: f is not a function (3:3)"),
        ("const {a} = null", "TypeError: Cannot destructure 'null' as it is null. (1:1)"),
        ("class A {} A()", "TypeError: Class constructor A cannot be invoked without 'new' (1:12)"),
        ("for (const x of 5) {}", "TypeError: value is not iterable (1:1)"),
        ("throw 'bare'", "uncaught exception: bare (1:1)"),
        ("function f() {\n throw new RangeError('r') }\nf()", "RangeError: r (2:2)"),
        ("f(", "SyntaxError: unexpected end of script (1:3)"),
    ])
    func `what is wrong has a message and a place`(text: String, message: String) {
        let error = #expect(throws: ScriptError.self) { try ScriptSession().evaluate(text) }
        #expect(error?.text == message)
    }
}
