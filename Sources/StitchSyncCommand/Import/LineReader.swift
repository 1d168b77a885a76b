/// Reads a file line by line in bounded memory; of a line that is too long only the length is kept.
struct LineReader {
    /// A line of the file.
    struct Line: Sendable, Equatable {
        /// Its place in the file, counted from 1.
        let number: Int
        /// What it says.
        let content: Content
    }

    /// What a line says.
    enum Content: Sendable, Equatable {
        /// The bytes without the line end.
        case bytes([UInt8])
        /// Longer than the limit; the number of its bytes.
        case tooLong(byteCount: Int)
        /// The file does not go on as it should, for this reason; nothing of it is read any more.
        case broken(String)
    }

    /// The bytes read so far, for showing progress.
    private(set) var byteCount = 0

    private let descriptor: Descriptor
    private let lineBytesMax: Int
    private var chunk: [UInt8]
    private var unread = 0..<0
    private var lineNumber = 0

    /// Four times the largest document: what Extended JSON may need to write one.
    static let lineBytesMax = 64 * 1024 * 1024

    init(
        _ descriptor: Descriptor, lineBytesMax: Int = Self.lineBytesMax,
        chunkBytes: Int = 256 * 1024
    ) {
        self.descriptor = descriptor
        self.lineBytesMax = lineBytesMax
        chunk = [UInt8](repeating: 0, count: chunkBytes)
    }

    /// The next line, `nil` at the end of the file; a last line needs no line end.
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

    /// Whether a list begins here, and no object: what mongoexport writes with --jsonArray.
    mutating func beginsList() throws(CommandError) -> Bool {
        while unread.isEmpty { guard try fill() else { return false } }
        let isMarked = chunk[unread].starts(with: Self.byteOrderMark)
        let first = chunk[unread].dropFirst(isMarked ? 3 : 0).first { !Self.blanks.contains($0) }
        return first == UInt8(ascii: "[")
    }

    /// The next byte, `nil` at the end of the file; only for who reads no lines.
    mutating func nextByte() throws(CommandError) -> UInt8? {
        if unread.isEmpty, try !fill() { return nil }
        defer { unread = unread.dropFirst() }
        return chunk[unread.lowerBound]
    }

    /// Some editors write one in front of UTF-8, where it means nothing.
    static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// What may stand between values.
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

    /// The positions of what belongs to the line, up to its end or the chunk's.
    private mutating func takePiece(_ hasEnded: inout Bool) -> Range<Int> {
        let end = chunk[unread].firstIndex(of: UInt8(ascii: "\n"))
        defer { unread = end.map { $0 + 1..<unread.upperBound } ?? 0..<0 }
        hasEnded = end != nil
        return unread.lowerBound..<(end ?? unread.upperBound)
    }
}
