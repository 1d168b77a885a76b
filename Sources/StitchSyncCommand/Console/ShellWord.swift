/// A word of a command that a person may paste into a shell.
///
/// Names and ids in it may be other people's, so that none may end the word.
struct ShellWord: Sendable, CustomStringConvertible {
    /// The word as a POSIX shell reads it.
    let description: String

    private static let plainMarks = Set("-_./:@%+=,".utf8)

    /// Makes the word that a shell reads as the text.
    init(_ text: String) {
        let isPlain = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "a")...UInt8(ascii: "z"):
                true
            default: Self.plainMarks.contains(byte)
            }
        }
        description =
            isPlain && !text.isEmpty ? text : "'" + text.replacing("'", with: #"'\''"#) + "'"
    }

    /// Returns an option and its value, which may begin as an option does.
    static func option(_ name: String, _ value: String) -> String {
        "--\(name)\(value.hasPrefix("-") ? "=" : " ")\(ShellWord(value))"
    }
}
