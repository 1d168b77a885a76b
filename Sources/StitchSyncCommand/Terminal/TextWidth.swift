/// The number of columns that characters take at a terminal.
enum TextWidth {
    /// Returns the columns of a text.
    static func columns(of text: some Sequence<Character>) -> Int {
        text.reduce(0) { $0 + columns(of: $1) }
    }

    /// Returns the columns of a character: two for the scripts of East Asia and for emoji.
    static func columns(of character: Character) -> Int {
        guard let scalar = character.unicodeScalars.first else { return 0 }
        switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF,
            0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F,
            0x1F680...0x1F6FF, 0x1F900...0x1F9FF, 0x20000...0x3FFFD:
            return 2
        default: return 1
        }
    }
}
