import Testing

@testable import BSONCore
@testable import BSONStore

/// Errors would show values otherwise than MongoDB's do, or fill a log with one long value.
struct ShellTextTests {
    @Test(
        "values are printed as the server prints them",
        arguments: [
            (
                .decimal128(BSONDecimal128(isNegative: false, coefficient: 150, exponent: -2)),
                "1.50"
            ),
            (
                .binary(BSONBinary(Array(0..<16), subtype: 4)),
                "UUID(\"00010203-0405-0607-0809-0a0b0c0d0e0f\")"
            ),
            (.binary(BSONBinary([0xAB], subtype: 0)), "BinData(0, AB)"),
            (.string(String(repeating: "x", count: 159)), nil),
            (
                .string(String(repeating: "x", count: 160)),
                "\"" + String(repeating: "x", count: 150) + "...\""
            ),
            (
                .binary(BSONBinary(Array(repeating: 1, count: 81))),
                "BinData(0, " + String(repeating: "01", count: 70) + "...)"
            ),
            (
                .javascript(String(repeating: "y", count: 80)),
                String(repeating: "y", count: 70) + "..."
            ),
        ] as [(BSONValue, String?)])
    func texts(value: BSONValue, text: String?) {
        #expect(ShellText.text(of: value) == text ?? "\"\(value.stringValue ?? "")\"")
    }
}
