import BSONStore
import LibBSON
import Testing

/// Without these, money would change on its way through text.
@Suite struct BSONDecimal128Tests {
    @Test("text agrees with libbson for any bits", arguments: 0..<10)
    func textOfBits(block: Int) {
        var generator = SeededGenerator(seed: UInt64(block))
        for _ in 0..<2_000 {
            let high = generator.next() >> UInt64.random(in: 0..<20, using: &generator)
            let low = generator.next() >> UInt64.random(in: 0..<64, using: &generator)
            let value = BSONDecimal128(high: high, low: low)
            // libbson shows coefficients of 35 digits, which IEEE 754 calls zero.
            if value.coefficient == 0, high & 1 << 48 != 0 { continue }
            #expect(value.description == LibBSONReference.text(value), "\(high) \(low)")
        }
    }

    @Test("finite canonical numbers survive their text", arguments: 0..<10)
    func roundTrip(block: Int) throws {
        var generator = SeededGenerator(seed: UInt64(block))
        for _ in 0..<2_000 {
            let exponent = UInt64.random(in: 0...12_287, using: &generator)
            let upper = UInt64.random(in: 0..<0x1ED09BEAD87C0, using: &generator)
            let high = exponent << 49 | upper | generator.next() & 1 << 63
            let value = BSONDecimal128(high: high, low: generator.next())
            #expect(try BSONDecimal128(value.description) == value)
        }
    }

    // A string literal also makes a `BSONValue`, whose content is no decimal.
    // swift-format-ignore: NeverForceUnwrap
    @Test("a literal with an exclamation mark is read as text")
    func literals() throws {
        let half = try BSONDecimal128("1.5")
        #expect(BSONDecimal128("1.5")! == half)
        #expect(BSONDecimal128("1.5".dropFirst(2))! == BSONDecimal128(Int64(5)))
        #expect(BSONDecimal128("1.5x".dropFirst(2)) == nil)
        #expect(BSONObjectID("5f3c8a2e1b4d6c7890abcdef")!.hex == "5f3c8a2e1b4d6c7890abcdef")
        let price: BSONDecimal128 = try BSONDecimal128("2.50")
        #expect(price.description == "2.50")
        #expect(BSONDecimal128(bson: "1.5") == nil)
        #expect(BSONDecimal128(bson: .decimal128(price)) == price)
    }

    @Test("random texts give what libbson gives", arguments: 0..<20)
    func texts(block: Int) {
        var random = RandomBSON(seed: UInt64(block))
        for _ in 0..<1_000 {
            let text = Self.text(&random)
            let ours: BSONDecimal128?
            do throws(BSONError) { ours = try BSONDecimal128(text) } catch { ours = nil }
            #expect(ours == LibBSONReference.decimal128(text), "\(text)")
        }
    }

    /// A number without zeros in front, and with a point only among 34 digits: elsewhere libbson
    /// counts zeros as digits that it would lose, against the specification.
    private static func text(_ random: inout RandomBSON) -> String {
        let hasPoint = random.number(0..<2) == 0
        var text = random.pick(["", "", "-", "+"])
        let first = random.pick(["", "1", "7"])
        text += first
        for _ in 0..<(first.isEmpty ? 0 : random.number(0..<(hasPoint ? 33 : 38))) {
            text += random.pick(["0", "0", "0", "1", "9", "5"])
        }
        if hasPoint { text += "." }
        for _ in 0..<(hasPoint || first.isEmpty ? random.number(0..<12) : 0) {
            text += random.pick(["0", "0", "1", "7"])
        }
        guard random.number(0..<2) == 0 else { return text }
        text += random.pick(["e", "E"]) + random.pick(["", "-", "+"])
        return text
            + random.pick(["0", "5", "6110", "6111", "6120", "6144", "6176", "6180", "9999", ""])
    }

    @Test(
        "whole numbers come and go without loss",
        arguments: [
            0, 1, -1, 42, .max, .min, 1_000_000_000_000,
        ] as [Int64])
    func wholeNumbers(value: Int64) {
        #expect(BSONDecimal128(value).int64Value == value)
        #expect(BSONDecimal128(value).description == String(value))
    }

    @Test(
        "only whole numbers in range are whole",
        arguments: [
            ("1.00", 1), ("1E+3", 1000), ("-2.50E+1", -25), ("0E-6176", 0), ("-0", 0),
            ("9223372036854775807.0", .max), ("-9223372036854775808", .min),
            ("1.5", nil), ("9223372036854775808", nil), ("1E+20", nil), ("1E+6111", nil),
            ("1E-6176", nil), ("NaN", nil), ("Infinity", nil), ("-9223372036854775809", nil),
        ] as [(String, Int64?)])
    func wholeOrNot(text: String, expected: Int64?) throws {
        #expect(try BSONDecimal128(text).int64Value == expected)
    }

    @Test(
        "doubles come and go",
        arguments: [
            0, -0.0, 1, 0.1, -1.5, 1e300, .leastNonzeroMagnitude, .greatestFiniteMagnitude,
            .infinity, -.infinity,
        ] as [Double])
    func doubles(value: Double) {
        #expect(BSONDecimal128(value).doubleValue.bitPattern == value.bitPattern)
    }

    @Test("NaN stays NaN")
    func nan() {
        #expect(BSONDecimal128(Double.nan).kind == .nan)
        #expect(BSONDecimal128.nan.doubleValue.isNaN)
        #expect((-BSONDecimal128.infinity).description == "-Infinity")
        #expect((-BSONDecimal128.zero).description == "-0")
    }
}
