import Testing

@testable import BSONCore
@testable import BSONScript
@testable import BSONStore

/// Without these a script could compute wrong digits with a `BigInt`, or lose them in a store.
@Suite struct ScriptBigIntTests {
    private static func text(_ script: String) throws -> String {
        try ScriptSession().evaluate(script).text
    }

    @Test(arguments: [
        ("typeof 10n", "bigint"), ("10n + 5n", "15"), ("-10n", "-10"),
        ("2n ** 64n", "18446744073709551616"),
        ("-7n / 2n", "-3"), ("-7n % 2n", "-1"), ("7n / -2n", "-3"), ("0xFFn", "255"),
        ("1_000n", "1000"),
        ("'a' + 1n", "a1"), ("`${5n}`", "5"), ("String(12n)", "12"), ("Number(12n) + 1", "13"),
        ("1n == 1", "true"), ("1n === 1", "false"), ("1n == '1'", "true"), ("2n > 1", "true"),
        ("2n ** 53n + 1n == 2 ** 53", "false"), ("1n < 1.5", "true"), ("-1n > -Infinity", "true"),
        ("1n < NaN", "false"), ("0n ? 1 : 2", "2"), ("BigInt('0x1f')", "31"),
        ("BigInt(' -12 ')", "-12"),
        ("BigInt(true)", "1"), ("BigInt(1e21)", "1000000000000000000000"),
        ("BigInt(NumberLong('9223372036854775807')) + 1n", "9223372036854775808"),
        ("let i = 1n; i++; ++i; i--; i", "2"), ("let i = 3n; i **= 3n; i", "27"), ("~5n", "-6"),
        ("-5n & 3n", "3"), ("-5n | 3n", "-5"), ("-5n ^ 3n", "-8"),
        ("1n << 70n", "1180591620717411303424"),
        ("-5n >> 1n", "-3"), ("-1n >> 99n", "-1"), ("8n << -2n", "2"),
        ("(255n).toString(16)", "ff"),
        ("(-1234567n).toLocaleString()", "-1,234,567"), ("BigInt.asIntN(8, 255n)", "-1"),
        ("BigInt.asUintN(8, -1n)", "255"),
        ("[3n, 1n, 2n].sort((a, b) => a < b ? -1 : 1).join()", "1,2,3"),
        ("new Map([[1n, 'a']]).get(1n)", "a"), ("[1n].includes(1n)", "true"),
        ("let f = 1n; for (let i = 2n; i <= 25n; i++) f *= i; f", "15511210043330985984000000"),
    ])
    func `numbers are computed as the language says`(script: String, result: String) throws {
        #expect(try Self.text(script) == result, "\(script)")
    }

    @Test(arguments: [
        ("1n + 1", "TypeError", "Cannot mix BigInt and other types, use explicit conversions"),
        ("1n / 0n", "RangeError", "Division by zero"),
        ("2n ** -1n", "RangeError", "Exponent must be non-negative"),
        ("2n ** (2n ** 40n)", "RangeError", "Maximum BigInt size exceeded"),
        ("1n << (1n << 90n)", "RangeError", "Maximum BigInt size exceeded"),
        ("1n >>> 1n", "TypeError", "BigInts have no unsigned right shift, use >> instead"),
        ("Math.max(1n)", "TypeError", "Cannot convert a BigInt value to a number"),
        ("new BigInt(1)", "TypeError", "BigInt is not a constructor"),
        ("BigInt('x')", "SyntaxError", "Cannot convert x to a BigInt"),
        ("BigInt(null)", "TypeError", "Cannot convert null to a BigInt"),
        ("JSON.stringify({a: 1n})", "TypeError", "Do not know how to serialize a BigInt"),
    ])
    func `what has no result is an error`(script: String, name: String, message: String) throws {
        let text = try Self.text("try { \(script) } catch (e) { e.name + ': ' + e.message }")
        #expect(text == "\(name): \(message)")
    }

    @Test func `quotients and remainders fit together`() throws {
        var generator = SeededGenerator(seed: 7)
        for sizes in [(1, 1), (3, 1), (3, 2), (6, 3), (9, 8), (12, 2)] {
            for _ in 0..<50 {
                func number(_ count: Int) -> ScriptBigInt {
                    // Full and empty limbs are the hard cases of a division.
                    let limbs = (0..<count).map { _ in
                        [0, UInt32.max, 1 << 31, UInt32.random(in: 0 ... .max, using: &generator)]
                            .randomElement(using: &generator) ?? 0
                    }
                    return limbs.reduce(ScriptBigInt(1)) { number, limb in
                        number.shifted(left: 32) + ScriptBigInt(Int64(limb))
                    }
                }
                let (dividend, divisor) = (number(sizes.0), number(sizes.1).negated)
                let (quotient, remainder) = dividend.divided(by: divisor)
                #expect(quotient * divisor + remainder == dividend, "\(dividend) \(divisor)")
                #expect(!remainder.isNegative && remainder < divisor.negated)
                #expect(ScriptBigInt(text: dividend.text()) == dividend)
                #expect(ScriptBigInt(digits: dividend.text(radix: 16), radix: 16) == dividend)
            }
        }
    }

    @Test func `a number is stored as a Long if it fits`() throws {
        let session = ScriptSession()
        let value = try session.evaluate("({a: 9223372036854775807n, b: -9223372036854775808n})")
        #expect(
            try session.stored(value) == .document(["a": .int64(.max), "b": .int64(.min)]))
        let large = try session.evaluate("2n ** 63n")
        #expect(throws: StoreError.self) { try session.stored(large) }
    }

    @Test(arguments: [
        ("Number('0x10')", "16"), ("+'0b11'", "3"), ("Number('0o17')", "15"),
        ("Number('0x')", "NaN"),
        ("new Date(0).toLocaleString()", "1/1/1970, 12:00:00 AM"),
        ("new Date(46800000).toLocaleTimeString('en-US')", "1:00:00 PM"),
        ("'2024-05'.replace(/(?<y>[0-9]+)-(?<m>[0-9]+)/, '$<m>.$<y>$<x>')", "05.2024"),
        ("new Date(0).toLocaleDateString()", "1/1/1970"),
        ("new Date(NaN).toLocaleDateString()", "Invalid Date"),
        ("try { new Date(0).toLocaleString('de') } catch (e) { e.name }", "RangeError"),
    ])
    func `numbers and dates are read and written`(script: String, result: String) throws {
        #expect(try Self.text(script) == result, "\(script)")
    }
}
