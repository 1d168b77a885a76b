import Testing

@testable import BSONCore
@testable import BSONScript
@testable import BSONStore

/// Without these a function that every script expects could be missing, or answer otherwise.
@Suite struct ScriptBuiltInTests {
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
        "[1, 2, 3].findLast(x => x < 3) === 2 && [1, 2].findLastIndex(x => x < 9) === 1",
        "[[1], [2, [3]]].flat().length === 3 && [[1, [2, [3]]]].flat(Infinity).join() === '1,2,3'",
        "[1, 2].flatMap(x => [x, x]).join() === '1,1,2,2'", "[1, 2, 3].at(-1) === 3",
        "Array.from({length: 3}, (_, i) => i * 2).join() === '0,2,4'",
        "Array.from(new Set([1, 1])).length === 1 && Array.from('ab').join() === 'a,b'",
        "[...['a'].entries()][0].join() === '0,a' && [...['a'].keys()][0] === 0",
        "const a = [3, 1]; a.toSorted().join() === '1,3' && a.join() === '3,1'",
        "Array.prototype.slice.call([1, 2], 1).length === 1", "[1, 2].map(String).join() === '1,2'",
        "['1', '2'].map(Number)[1] === 2", "Math.max.apply(null, [1, 4]) === 4",
        "[{a: 2}, {a: 1}].sort((x, y) => x.a - y.a)[0].a === 1", "[1, 2, 3].with(0, 9)[0] === 9",
        "(function() { return Array.from(arguments).length })(1, 2) === 2",
        "Array.isArray([].constructor()) && typeof Array.from === 'function'",
    ])
    func arrays(text: String) { expect(text) }

    @Test(arguments: [
        "'abc'.at(-1) === 'c' && 'a'.padStart(3, '-') === '--a'",
        "[...'a1b2'.matchAll(/[a-z](\\d)/g)].map(m => m[1]).join() === '1,2'",
        "'a-b'.replace(/(\\w)-(\\w)/, (m, x, y, at) => y + x + at) === 'ba0'",
        "/(?<y>\\d{4})-(?<m>\\d\\d)/.exec('2020-05').groups.m === '05'",
        "const r = /a/g; r.test('aba'); r.lastIndex === 1 && r.test('aba') && !r.test('aba')",
        "let n = 0, m; const r = /o/g; while ((m = r.exec('foo')) !== null) n++; n === 2",
        "'a'.localeCompare('B') < 0 && 'a'.normalize() === 'a'", "'a,b'.split(/,/).length === 2",
        "(() => { try { decodeURIComponent('%+f') } catch (e) { return e.name === 'URIError' } })()",
        "encodeURIComponent('a b&\u{E9}') === 'a%20b%26%C3%A9' && decodeURIComponent('%C3%A9') === '\u{E9}'",
        "String(null) === 'null' && String([1, [2]]) === '1,2' && String.fromCodePoint(65) === 'A'",
    ])
    func texts(text: String) { expect(text) }

    @Test(arguments: [
        "/^\\u{61}+$/u.test('aa') && !/^\\u{61}+$/u.test('u') && /\\u{1F600}/u.test('\u{1F600}')",
        "/\\\\u{2}/.test('\\\\uu')",
    ])
    func `a pattern names characters by their code points`(text: String) { expect(text) }

    @Test(arguments: [
        "Date.prototype.next = function() { return this.getTime() + 1 }; new Date(1).next() === 2",
        "Date.prototype.toJSON = () => 'x'; Date.prototype.toJSON() === 'x'",
        "String.prototype.twice = function() { return this + this }; 'ab'.twice() === 'abab'",
        "Array.prototype.last = function() { return this[this.length - 1] }; [1, 2].last() === 2",
        "Number.prototype.more = 5; (1).more === 5 && Date.prototype === Date.prototype",
    ])
    func `a function of a prototype is one of all its values`(text: String) { expect(text) }

    @Test(arguments: [
        "Object.fromEntries([['a', 1]]).a === 1 && Object.entries({a: 1})[0][0] === 'a'",
        "const o = Object.freeze({a: 1}); o.a = 2; o.a === 1", "Object.hasOwn({a: 1}, 'a')",
        "Object.prototype.hasOwnProperty.call({a: 1}, 'a')",
        "Object.assign({}, {a: 1}, null).a === 1",
        "Object.create({a: 1}).a === 1",
        "JSON.stringify({a: [1, {b: 2}]}, null, 2) === "
            + "'{\\n  \"a\": [\\n    1,\\n    {\\n      \"b\": 2\\n    }\\n  ]\\n}'",
        "JSON.stringify({a: 1, b: 2}, ['b']) === '{\"b\":2}'",
        "JSON.stringify({a: 1}, (k, v) => typeof v === 'number' ? v + 1 : v) === '{\"a\":2}'",
        "JSON.stringify({d: new Date(0), u: undefined}) === '{\"d\":\"1970-01-01T00:00:00.000Z\"}'",
        "JSON.stringify({toJSON() { return 'x' }}) === '\"x\"'",
        "structuredClone({a: [1]}).a[0] === 1", "[].constructor === undefined || true",
        "({}).toString() === '[object Object]'",
        "const f = function() { return this.x }.bind({x: 3}); f() === 3",
        "(function() { return this.x + arguments[0] }).call({x: 1}, 2) === 3",
        "let s = ''; Object.keys({b: 1, a: 2}).forEach(k => s += k); s === 'ba'",
    ])
    func objects(text: String) { expect(text) }

    @Test(arguments: [
        "const m = new Map([['a', 1]]); m.set('b', 2).size === 2 && m.get('a') === 1 && m.has('b')",
        "const m = new Map(); m.set(NaN, 1); m.get(NaN) === 1 && m.delete(NaN) && m.size === 0",
        "[...new Map([[1, 2]])][0].join() === '1,2'", "[...new Set([3, 3, 1])].join() === '3,1'",
        "let s = 0; new Map([[1, 2]]).forEach((v, k) => s += v * 10 + k); s === 21",
        "const s = new Set(); s.add(1).add(2); s.size === 2 && s instanceof Set",
        "let t = ''; for (const [k, v] of new Map([['x', 1]])) t += k + v; t === 'x1'",
        "new Map(Object.entries({a: 1})).get('a') === 1",
    ])
    func `maps and sets`(text: String) { expect(text) }

    @Test(arguments: [
        "const d = new Date('2020-01-31T00:00:00Z'); d.setDate(d.getDate() + 1); d.getMonth() === 1",
        "const d = new Date(0); d.setUTCHours(5, 6); d.toISOString() === '1970-01-01T05:06:00.000Z'",
        "new Date(2020, 0, 1).toJSON() === '2020-01-01T00:00:00.000Z' && Date.UTC(1970, 0, 2) === 864e5",
        "new Date(5) - new Date(3) === 2 && new Date(NaN) + '' === 'Invalid Date'",
        "Number.MAX_SAFE_INTEGER === 2 ** 53 - 1 && Number.isInteger(5) && (255).toString(16) === 'ff'",
        "(1234.5678).toFixed(2) === '1234.57' && (1234567.891).toLocaleString() === '1,234,567.891'",
        "Math.sign(-3) === -1 && Math.trunc(-1.5) === -1 && Math.hypot(3, 4) === 5",
        "new Error('x').stack.includes('Error: x') && new TypeError('q').name === 'TypeError'",
        "parseInt('7f', 16) === 127 && isNaN('x') && parseFloat('1.5x') === 1.5",
    ])
    func `dates, numbers and errors`(text: String) { expect(text) }
}
