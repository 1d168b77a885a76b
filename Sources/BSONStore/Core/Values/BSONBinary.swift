/// Bytes with a subtype.
public struct BSONBinary: Sendable, Hashable {
    /// The subtype's byte, for example 0 generic, 4 UUID, 0x80 and above user-defined.
    public let subtype: UInt8
    /// The content.
    public let bytes: [UInt8]

    /// Creates a binary of a subtype, generic by default.
    public init(_ bytes: [UInt8], subtype: UInt8 = 0) {
        self.bytes = bytes
        self.subtype = subtype
    }

    /// The bytes as they are stored: those of the old subtype 2 begin with their count.
    package var storedBytes: [UInt8] {
        guard subtype == 2 else { return bytes }
        let count = UInt32(truncatingIfNeeded: bytes.count).littleEndian
        return withUnsafeBytes(of: count) { Array($0) } + bytes
    }
}

// Texts compare by their bytes: Swift's `==` on String treats two encodings of "é" as equal.
