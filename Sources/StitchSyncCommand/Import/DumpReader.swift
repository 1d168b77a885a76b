/// A reader of a BSON dump in the format of mongodump: documents one after another.
struct DumpReader {
    /// The bytes read so far, for showing progress.
    private(set) var byteCount = 0

    private let descriptor: Descriptor
    private var number = 0
    private var hasEnded = false

    /// MongoDB's document limit, plus its allowance for internal fields.
    private static let documentBytesMax = 16 * 1024 * 1024 + 16 * 1024

    init(_ descriptor: Descriptor) { self.descriptor = descriptor }

    /// Returns the next document's bytes and its number, from 1; `nil` at the end of the file.
    mutating func next() throws(CommandError) -> LineReader.Line? {
        guard !hasEnded else { return nil }
        let place = byteCount
        let head = try read(4)
        guard !head.isEmpty else { return nil }
        number += 1
        guard head.count == 4 else { return broken("the file ends inside this document") }
        let length = head.reversed().reduce(0) { $0 << 8 | Int($1) }
        guard (5...Self.documentBytesMax).contains(length) else {
            return broken("no BSON document begins at byte \(place)")
        }
        let rest = try read(length - 4)
        guard rest.count == length - 4 else { return broken("the file ends inside this document") }
        return LineReader.Line(number: number, content: .bytes(head + rest))
    }

    private mutating func broken(_ reason: String) -> LineReader.Line {
        hasEnded = true
        return LineReader.Line(number: number, content: .broken(reason))
    }

    /// Returns the requested bytes, or fewer at the end of the file.
    private mutating func read(_ count: Int) throws(CommandError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        let descriptor = descriptor
        while filled < count {
            let more = try bytes.withUnsafeMutableBufferPointer { (buffer) throws(CommandError) in
                let rest = UnsafeMutableBufferPointer(rebasing: buffer[filled...])
                return try descriptor.read(into: UnsafeMutableRawBufferPointer(rest))
            }
            guard more > 0 else { break }
            filled += more
        }
        byteCount += filled
        return Array(bytes.prefix(filled))
    }
}
