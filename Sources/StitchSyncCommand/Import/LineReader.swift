/// A reader of lines in bounded memory; of a line that is too long it keeps only the length.
struct LineReader {
    /// A line of the file.
    struct Line: Sendable, Equatable {
        /// The line number, counted from 1.
        let number: Int
        /// The content.
        let content: Content
    }

    /// The content of a line.
    enum Content: Sendable, Equatable {
        /// The bytes without the line end.
        case bytes([UInt8])
        /// Longer than the limit; the number of its bytes.
        case tooLong(byteCount: Int)
        /// The file is malformed from here on, for this reason; the rest is not read.
        case broken(String)
    }

    /// The bytes read so far, for showing progress.
    private(set) var byteCount = 0

    private let descriptor: Descriptor
    private let lineBytesMax: Int
    private var chunk: [UInt8]
    private var unread = 0..<0
    private var lineNumber = 0

    /// Four times the largest document, which its Extended JSON may need.
    static let lineBytesMax = 64 * 1024 * 1024

    init(
        _ descriptor: Descriptor, lineBytesMax: Int = Self.lineBytesMax,
        chunkBytes: Int = 256 * 1024
    ) {
        self.descriptor = descriptor
        self.lineBytesMax = lineBytesMax
        chunk = [UInt8](repeating: 0, count: chunkBytes)
    }

    /// Returns the next line; `nil` at the end of the file.
    ///
    /// The last line needs no line end.
    mutating func next() throws(CommandError) -> Line? {
        var bytes: [UInt8] = []
        var length = 0
        var hasEnded = false
        while !hasEnded {
            if unread.isEmpty, try !fill() {
                guard length > 0 else { return nil }
                break
            }
            let piece = takePiece(&hasEnded)
            length += piece.count
            if length <= lineBytesMax { bytes += chunk[piece] } else { bytes = [] }
        }
        lineNumber += 1
        let content: Content =
            length <= lineBytesMax ? .bytes(bytes) : .tooLong(byteCount: length)
        return Line(number: lineNumber, content: content)
    }

    /// Whether the file starts with a list, as written by `mongoexport --jsonArray`, and not with
    /// an object.
    mutating func beginsList() throws(CommandError) -> Bool {
        while unread.isEmpty { guard try fill() else { return false } }
        let isMarked = chunk[unread].starts(with: Self.byteOrderMark)
        let first = chunk[unread].dropFirst(isMarked ? 3 : 0).first { !Self.blanks.contains($0) }
        return first == UInt8(ascii: "[")
    }

    /// Skips a byte order mark at the beginning of the file.
    mutating func skipByteOrderMark() throws(CommandError) {
        while unread.isEmpty { guard try fill() else { return } }
        if chunk[unread].starts(with: Self.byteOrderMark) { unread = unread.dropFirst(3) }
    }

    /// Returns the next byte; `nil` at the end of the file.
    ///
    /// It must not be mixed with `next()`.
    mutating func nextByte() throws(CommandError) -> UInt8? {
        if unread.isEmpty, try !fill() { return nil }
        defer { unread = unread.dropFirst() }
        return chunk[unread.lowerBound]
    }

    /// The byte order mark that some editors write before UTF-8.
    static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// The whitespace between values.
    static let blanks: [UInt8] = [0x20, 0x09, 0x0D, 0x0A]

    private mutating func fill() throws(CommandError) -> Bool {
        let descriptor = descriptor
        let count = try chunk.withUnsafeMutableBufferPointer { (buffer) throws(CommandError) in
            try descriptor.read(into: UnsafeMutableRawBufferPointer(buffer))
        }
        byteCount += count
        unread = 0..<count
        return count > 0
    }

    /// Returns the range of the line in the chunk, up to the end of the line or chunk.
    private mutating func takePiece(_ hasEnded: inout Bool) -> Range<Int> {
        let end = chunk[unread].firstIndex(of: UInt8(ascii: "\n"))
        defer { unread = end.map { $0 + 1..<unread.upperBound } ?? 0..<0 }
        hasEnded = end != nil
        return unread.lowerBound..<(end ?? unread.upperBound)
    }
}
