import BSONStore
import Testing

/// Without these, sorting and indexes could disagree with MongoDB or with themselves.
struct BSONOrderTests {
    private static func decimal(_ coefficient: UInt64, _ exponent: Int) -> BSONValue {
        .decimal128(BSONDecimal128(high: UInt64(exponent + 6176) << 49, low: coefficient))
    }

    private static let nanDecimal = BSONValue.decimal128(BSONDecimal128(high: 0x7C00 << 48, low: 0))
    private static let infiniteDecimal = BSONValue.decimal128(
        BSONDecimal128(high: 0x7800 << 48, low: 0))

    /// Compares as values and in place, and both ways round.
    private func order(_ left: BSONValue, _ right: BSONValue) -> BSONOrder {
        let order = BSONOrder.compare(left, right)
        #expect(BSONOrder.compare(right, left) == order.reversed)
        let (a, b): (BSONDocument, BSONDocument) = (["": left], ["": right])
        let raw = a.withCursor { first in
            b.withCursor { second in
                first.next().flatMap { one in
                    second.next().map { BSONOrder.compare(one.value, $0.value) }
                }
            }
        }
        #expect(raw == order, "in place: \(left), \(right)")
        return order
    }

    @Test func `Types come in the server's order`() {
        let id = BSONObjectID(bytes: Array(repeating: 0, count: 12))
        let ascending: [BSONValue?] = [
            .minKey, .undefined, .null, .int32(5), .string("a"), ["a": 1], [1],
            .binary(BSONBinary([])), id.map { .objectID($0) }, .bool(false), .bool(true),
            .datetime(BSONDatetime(milliseconds: 9)),
            .timestamp(BSONTimestamp(seconds: 0, increment: 0)),
            .regularExpression(BSONRegularExpression("a")),
            id.map { .dbPointer(BSONDBPointer(namespace: "", id: $0)) }, .javascript(""),
            .javascriptWithScope(BSONJavaScriptWithScope(code: "", scope: [:])), .maxKey,
        ]
        let values = ascending.compactMap { $0 }
        #expect(values.count == ascending.count)
        for (i, a) in values.enumerated() {
            for (j, b) in values.enumerated() {
                #expect(order(a, b) == (i < j ? .less : i == j ? .equal : .greater))
            }
        }
    }

    @Test func `Numbers come by exact value whatever their width`() {
        let groups: [[BSONValue]] = [
            [.double(.nan), .double(-.nan), Self.nanDecimal],
            [.double(-.infinity)],
            [.int64(.min), .double(-0x1p63)],
            [.int64(.min + 1)],
            [.int32(-1), .int64(-1), .double(-1)],
            [Self.decimal(0, 0), .double(0), .double(-0.0), .int32(0), Self.decimal(0, 500)],
            [Self.decimal(1, -6176)],
            [.double(.leastNonzeroMagnitude)],
            [Self.decimal(494_065_645_841_246_545, -341)],
            [Self.decimal(1, -1)],
            [.double(0.1)],
            [Self.decimal(100_000_000_000_000_006, -18)],
            [.double(0.5), Self.decimal(5, -1), Self.decimal(50, -2)],
            [.int32(1), .int64(1), .double(1), Self.decimal(1, 0), Self.decimal(10, -1)],
            [.double(0x1p53), .int64(1 << 53), Self.decimal(1 << 53, 0)],
            [.int64(1 << 53 + 1), Self.decimal(1 << 53 + 1, 0)],
            [.double(0x1p53 + 2), .int64(1 << 53 + 2)],
            [.int64(.max), Self.decimal(UInt64(Int64.max), 0)],
            [.double(0x1p63), Self.decimal(1 << 63, 0)],
            [.double(1e22), Self.decimal(1, 22)],
            [.double(1e23)],
            [Self.decimal(1, 23)],
            [.double(.greatestFiniteMagnitude)],
            [Self.decimal(1, 309)],
            [Self.decimal(1, 6111)],
            [.double(.infinity), Self.infiniteDecimal],
        ]
        for (i, group) in groups.enumerated() {
            for (j, other) in groups.enumerated() {
                for a in group {
                    for b in other {
                        let expected: BSONOrder = i < j ? .less : i == j ? .equal : .greater
                        #expect(order(a, b) == expected, "\(a) \(b)")
                    }
                }
            }
        }
    }

    @Test(
        arguments: [
            (.string("a"), .symbol("a"), .equal), (.string("a"), .symbol("b"), .less),
            (.string("a"), .string("a\0"), .less), (.string("z"), .string("é"), .less),
            (.string("\u{FFFF}"), .string("\u{10000}"), .less),
            (.binary(BSONBinary([9])), .binary(BSONBinary([1, 1])), .less),
            (.binary(BSONBinary([9], subtype: 1)), .binary(BSONBinary([1], subtype: 3)), .less),
            (.binary(BSONBinary([1])), .binary(BSONBinary([2])), .less),
            (.binary(BSONBinary([200], subtype: 2)), .binary(BSONBinary([1])), .greater),
            (["a": 1], ["a": 1, "b": 1], .less), (["b": 1], ["a": 2], .greater),
            (["b": 1], ["a": "x"], .less), (["a": 1, "b": 1], ["a": .int64(1), "b": 2], .less),
            ([], [.null], .less), ([1, 2], [1, 3], .less), ([1, 2], [1, .double(2)], .equal),
            (
                .timestamp(BSONTimestamp(seconds: 1, increment: 0)),
                .timestamp(BSONTimestamp(seconds: 0xFFFF_FFFF, increment: 0)), .less
            ),
            (
                .datetime(BSONDatetime(milliseconds: -1)), .datetime(BSONDatetime(milliseconds: 0)),
                .less
            ),
            (
                .regularExpression(BSONRegularExpression("a", options: "x")),
                .regularExpression(BSONRegularExpression("b")), .less
            ),
        ] as [(BSONValue, BSONValue, BSONOrder)])
    func `Values of one class come by content`(
        _ left: BSONValue, _ right: BSONValue, _ expected: BSONOrder
    ) {
        #expect(order(left, right) == expected)
    }

    @Test func `The order is total over random values`() {
        var random = RandomBSON(seed: 3)
        for _ in 0..<40 {
            let values = (0..<14).map { _ in random.value() }
            for a in values {
                #expect(order(a, a) == .equal)
                for b in values {
                    let ab = order(a, b)
                    for c in values where ab != .greater {
                        let bc = BSONOrder.compare(b, c)
                        guard bc != .greater else { continue }
                        let ac = BSONOrder.compare(a, c)
                        let expected: BSONOrder = ab == .less || bc == .less ? .less : .equal
                        #expect(ac == expected, "\(a), \(b), \(c)")
                    }
                }
            }
        }
    }

    @Test func `Numbers of all widths keep the order total`() {
        var random = RandomBSON(seed: 4)
        var numbers: [BSONValue] = []
        for _ in 0..<30 {
            numbers += [
                .int64(random.integer()), .double(random.double()), .decimal128(random.decimal()),
            ]
        }
        for a in numbers {
            for b in numbers {
                let ab = order(a, b)
                for c in numbers where ab != .greater {
                    let bc = BSONOrder.compare(b, c)
                    guard bc != .greater else { continue }
                    let expected: BSONOrder = ab == .less || bc == .less ? .less : .equal
                    #expect(BSONOrder.compare(a, c) == expected, "\(a), \(b), \(c)")
                }
            }
        }
    }
}
