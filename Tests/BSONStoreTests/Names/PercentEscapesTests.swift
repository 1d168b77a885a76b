import BSONStore
import Testing

/// A sign among the digits, or a digit that is missing, must not become a byte.
@Suite("escapes of URIs")
struct PercentEscapesTests {
    @Test("two hexadecimal digits are a byte, all else is kept or refused")
    func table() {
        let cases: [(String, [UInt8]?)] = [
            ("", []), ("a+b", Array("a+b".utf8)), ("%41%c3%A9", [0x41, 0xc3, 0xa9]),
            ("%", nil), ("a%4", nil), ("%4g", nil), ("%+f", nil), ("%-1", nil), ("%%41", nil),
            ("%25", [0x25]), ("é%00", [0xc3, 0xa9, 0]),
        ]
        for (text, bytes) in cases { #expect(PercentEscapes.decoded(text) == bytes, "\(text)") }
    }
}
