import BSONStore
import Testing

/// Without these, strings that are composed by hand could differ from the library's.
@Suite struct BSONTextTests {
    private static let letters = ["a", "\u{7F}", "\u{E9}", "\u{20AC}", "\u{1F600}", "\u{301}"]

    @Test("texts and keys of any length are the library's strings", arguments: letters)
    func lengths(letter: String) throws {
        for padding in ["", "x", "xyz", "\u{E9}"] {
            for repeats in 0...20 {
                let text = padding + String(repeating: letter, count: repeats) + padding
                let document: BSONDocument = [text: .string(text)]
                let (key, value) = try #require(Array(document).first)
                #expect(value == .string(text))
                guard case .string(let read) = value else { continue }
                for read in [key, read] {
                    #expect(Array(read.utf8) == Array(text.utf8))
                    #expect(read == text)
                    #expect(read.hashValue == text.hashValue)
                    #expect(read.count == text.count)
                    #expect(read + letter == text + letter)
                    #expect(read.unicodeScalars.elementsEqual(text.unicodeScalars))
                    #expect(read.utf16.count == text.utf16.count)
                }
            }
        }
    }

    @Test("strings of up to 15 bytes hold their text in themselves, bit for bit")
    func layout() throws {
        for count in 0...15 {
            for letter in Self.letters where letter.utf8.count <= count {
                // Made at run time: a literal may point to its text instead.
                let text = String(
                    decoding: Array(letter.utf8)
                        + Array(repeating: 0x62, count: count - letter.utf8.count), as: UTF8.self)
                let read = try #require(BSONDocument([(text, .null)]).keys.first)
                #expect(
                    unsafeBitCast(read, to: (UInt64, UInt64).self)
                        == unsafeBitCast(text, to: (UInt64, UInt64).self))
            }
        }
    }
}
