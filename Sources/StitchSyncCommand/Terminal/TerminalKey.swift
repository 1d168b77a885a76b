/// A key that a person pressed.
enum TerminalKey: Equatable {
    case text(String)
    /// A key together with Ctrl, by its small letter.
    case control(Character)
    /// A key together with Alt, or after Escape.
    case meta(Character)
    case enter
    case tab
    case backspace
    case delete
    case up
    case down
    case left
    case right
    case wordLeft
    case wordRight
    case home
    case end
    /// The beginning of a text from the clipboard, in which no key has its own meaning.
    case pasteStart
    case pasteEnd
    /// A key without a meaning here.
    case unknown

    /// Reads one key from the bytes of a terminal.
    ///
    /// - Returns: `nil` at the end of the bytes.
    static func read<E: Error>(_ next: () throws(E) -> UInt8?) throws(E) -> TerminalKey? {
        guard let byte = try next() else { return nil }
        switch byte {
        case 0x0A, 0x0D: return .enter
        case 0x09: return .tab
        case 0x08, 0x7F: return .backspace
        case 0x1B: return try escape(next)
        case 0x01...0x1A: return .control(Character(Unicode.Scalar(byte + 0x60)))
        case 0x20..<0x80: return .text(String(Unicode.Scalar(byte)))
        case 0xC2..<0xF5:
            var bytes = [byte]
            let count = byte < 0xE0 ? 1 : byte < 0xF0 ? 2 : 3
            for _ in 0..<count {
                guard let more = try next() else { return nil }
                bytes.append(more)
            }
            return .text(String(decoding: bytes, as: UTF8.self))
        default: return .unknown
        }
    }

    /// Reads the rest of a key that begins with Escape.
    private static func escape<E: Error>(
        _ next: () throws(E) -> UInt8?
    ) throws(E) -> TerminalKey? {
        guard let byte = try next() else { return nil }
        switch byte {
        case UInt8(ascii: "["), UInt8(ascii: "O"): break
        case 0x08, 0x7F: return .meta("\u{7f}")
        case 0x20..<0x7F: return .meta(Character(Unicode.Scalar(byte)))
        default: return .unknown
        }
        var numbers = ""
        while let byte = try next() {
            switch byte {
            case 0x30...0x3F: numbers.unicodeScalars.append(Unicode.Scalar(byte))
            case 0x40...0x7E: return key(numbers, Character(Unicode.Scalar(byte)))
            default: return .unknown
            }
        }
        return nil
    }

    /// Returns the key of a sequence of numbers and a last letter.
    private static func key(_ numbers: String, _ last: Character) -> TerminalKey {
        // 3, 5 and 9 stand for Alt, Ctrl and Meta.
        let isWord = numbers.utf8.last.map { [0x33, 0x35, 0x39].contains($0) } ?? false
        switch last {
        case "A": return .up
        case "B": return .down
        case "C": return isWord ? .wordRight : .right
        case "D": return isWord ? .wordLeft : .left
        case "H": return .home
        case "F": return .end
        case "~":
            switch numbers {
            case "1", "7": return .home
            case "4", "8": return .end
            case "3": return .delete
            case "200": return .pasteStart
            case "201": return .pasteEnd
            default: return .unknown
            }
        default: return .unknown
        }
    }
}
