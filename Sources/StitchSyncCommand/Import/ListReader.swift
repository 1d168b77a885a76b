/// A reader of the elements of a JSON list, independent of line ends.
struct ListReader {
    /// The bytes read so far, for showing progress.
    var byteCount: Int { bytes.byteCount }

    private var bytes: LineReader
    private var lineNumber = 1
    private var place = Place.front

    /// The position in the list.
    private enum Place {
        case front
        case beforeElement
        case afterElement
        case behind
        /// Reading has stopped after an error.
        case abandoned
    }

    private static let elementBytesMax = LineReader.lineBytesMax

    init(_ bytes: LineReader) { self.bytes = bytes }

    /// Returns the next element with its first line; `nil` at the end of the file.
    mutating func next() throws(CommandError) -> LineReader.Line? {
        if place == .abandoned { return nil }
        while let byte = try nextByte() {
            if LineReader.blanks.contains(byte) { continue }
            switch (place, byte) {
            case (.front, UInt8(ascii: "[")): place = .beforeElement
            case (.front, _): continue  // the byte order mark
            case (.beforeElement, UInt8(ascii: "{")): return try object()
            case (.afterElement, UInt8(ascii: ",")): place = .beforeElement
            case (.beforeElement, UInt8(ascii: "]")), (.afterElement, UInt8(ascii: "]")):
                place = .behind
            case (.beforeElement, _): return broken("an object is expected")
            case (.afterElement, _): return broken("a comma or the list's end is expected")
            case (.behind, _), (.abandoned, _): return broken("there is text after the list")
            }
        }
        return place == .behind ? nil : broken("the list does not end")
    }

    /// Reads the rest of an object whose opening brace was read.
    private mutating func object() throws(CommandError) -> LineReader.Line {
        let number = lineNumber
        var text: [UInt8] = [UInt8(ascii: "{")]
        var (length, depth, isQuoted, isEscaped) = (1, 1, false, false)
        while depth > 0 {
            guard let byte = try nextByte() else { return broken("the list does not end") }
            length += 1
            if length <= Self.elementBytesMax { text.append(byte) } else { text = [] }
            switch byte {
            case _ where isEscaped: isEscaped = false
            case UInt8(ascii: "\\"): isEscaped = isQuoted
            case UInt8(ascii: "\""): isQuoted.toggle()
            case _ where isQuoted: break
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            default: break
            }
        }
        place = .afterElement
        let isTooLong = length > Self.elementBytesMax
        return LineReader.Line(
            number: number, content: isTooLong ? .tooLong(byteCount: length) : .bytes(text))
    }

    private mutating func broken(_ reason: String) -> LineReader.Line {
        place = .abandoned
        return LineReader.Line(number: lineNumber, content: .broken(reason))
    }

    private mutating func nextByte() throws(CommandError) -> UInt8? {
        let byte = try bytes.nextByte()
        if byte == UInt8(ascii: "\n") { lineNumber += 1 }
        return byte
    }
}
