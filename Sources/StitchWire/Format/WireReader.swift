/// A reader of a message's bytes, which checks every step against the end.
struct WireReader {
    let bytes: UnsafeRawBufferPointer
    private(set) var at: Int
    private(set) var end: Int

    init(_ bytes: UnsafeRawBufferPointer, from at: Int, to end: Int? = nil) {
        self.bytes = bytes
        self.at = at
        self.end = end ?? bytes.count
    }

    var isAtEnd: Bool { at >= end }

    mutating func skip(to offset: Int) { at = offset }

    mutating func byte() throws(WireError) -> UInt8 {
        guard at < end else { throw Self.short }
        defer { at += 1 }
        return bytes[at]
    }

    mutating func uint32() throws(WireError) -> UInt32 {
        guard end - at >= 4 else { throw Self.short }
        defer { at += 4 }
        return UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: at, as: UInt32.self))
    }

    /// Removes the last 4 bytes and returns them.
    mutating func dropLast4() throws(WireError) -> UInt32 {
        guard end - at >= 4 else { throw Self.short }
        end -= 4
        return UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: end, as: UInt32.self))
    }

    mutating func cString() throws(WireError) -> String {
        let rest = UnsafeRawBufferPointer(rebasing: bytes[at..<end])
        guard let length = rest.firstIndex(of: 0) else {
            throw WireError.malformed("a text without end")
        }
        guard let text = String(validating: rest[..<length], as: UTF8.self) else {
            throw WireError.malformed("a text that is not UTF-8")
        }
        at += length + 1
        return text
    }

    /// Returns the bytes of a document after checking that its length fits.
    mutating func document() throws(WireError) -> UnsafeRawBufferPointer {
        guard end - at >= 5 else { throw WireError.malformed("no room for a document") }
        let length = Int(
            Int32(littleEndian: bytes.loadUnaligned(fromByteOffset: at, as: Int32.self)))
        guard length >= 5, length <= end - at else {
            throw WireError.malformed("a document's length")
        }
        defer { at += length }
        return UnsafeRawBufferPointer(rebasing: bytes[at..<(at + length)])
    }

    private static var short: WireError { .malformed("it ends too early") }
}
