/// The Snappy compression format.
///
/// Source: the format's description, `format_description.txt` of google/snappy.
package enum Snappy {
    /// Decompresses a block.
    ///
    /// - Parameter count: the required size of the result in bytes.
    /// - Throws: `WireError.malformed` for an invalid block or another size.
    package static func expand(
        _ bytes: UnsafeRawBufferPointer, count: Int
    ) throws(WireError) -> [UInt8] {
        var at = 0
        guard try number(bytes, &at) == count else { throw .invalidCompression }
        var output: [UInt8] = []
        output.reserveCapacity(min(count, 1 << 20))
        while at < bytes.count {
            let tag = Int(bytes[at])
            at += 1
            if tag & 3 == 0 {
                let length = try literalLength(tag, bytes, &at)
                guard length <= bytes.count - at, length <= count - output.count else {
                    throw .invalidCompression
                }
                output.append(contentsOf: bytes[at..<(at + length)])
                at += length
                continue
            }
            let (length, distance) = try copy(tag, bytes, &at)
            guard distance > 0, distance <= output.count, length <= count - output.count else {
                throw .invalidCompression
            }
            let start = output.count - distance
            for offset in 0..<length { output.append(output[start + offset]) }
        }
        guard output.count == count else { throw .invalidCompression }
        return output
    }

    private static func literalLength(
        _ tag: Int, _ bytes: UnsafeRawBufferPointer, _ at: inout Int
    ) throws(WireError) -> Int {
        let short = tag >> 2
        guard short >= 60 else { return short + 1 }
        return try little(bytes, &at, short - 59) + 1
    }

    private static func copy(
        _ tag: Int, _ bytes: UnsafeRawBufferPointer, _ at: inout Int
    ) throws(WireError) -> (length: Int, distance: Int) {
        switch tag & 3 {
        case 1: (4 + (tag >> 2 & 7), (tag >> 5) << 8 | (try little(bytes, &at, 1)))
        case 2: (1 + tag >> 2, try little(bytes, &at, 2))
        default: (1 + tag >> 2, try little(bytes, &at, 4))
        }
    }

    private static func little(
        _ bytes: UnsafeRawBufferPointer, _ at: inout Int, _ size: Int
    ) throws(WireError) -> Int {
        guard bytes.count - at >= size else { throw .invalidCompression }
        defer { at += size }
        return (0..<size).reduce(0) { $0 | Int(bytes[at + $1]) << (8 * $1) }
    }

    /// Returns a variable-length integer of 7-bit groups, the lowest first.
    private static func number(
        _ bytes: UnsafeRawBufferPointer, _ at: inout Int
    ) throws(WireError) -> Int {
        var value = 0
        for shift in stride(from: 0, through: 28, by: 7) {
            let byte = try little(bytes, &at, 1)
            value |= (byte & 0x7F) << shift
            if byte < 0x80 { return value }
        }
        throw .invalidCompression
    }

    /// Returns the compressed block of some bytes; O(n).
    package static func compress(_ bytes: [UInt8]) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count / 2 + 16)
        var rest = bytes.count
        while rest >= 0x80 {
            output.append(UInt8(rest & 0x7F | 0x80))
            rest >>= 7
        }
        output.append(UInt8(rest))
        var heads = [Int32](repeating: -1, count: 1 << 14)
        var at = 0
        var written = 0
        while at + 4 <= bytes.count {
            let four = (0..<4).reduce(UInt32(0)) { $0 << 8 | UInt32(bytes[at + $1]) }
            let hash = Int((four &* 2_654_435_761) >> 18)
            let before = Int(heads[hash])
            heads[hash] = Int32(at)
            var length = 0
            if before >= 0, at - before <= 0xFFFF {
                let most = min(64, bytes.count - at)
                while length < most, bytes[before + length] == bytes[at + length] { length += 1 }
            }
            guard length >= 4 else {
                at += 1
                continue
            }
            literal(bytes[written..<at], to: &output)
            output.append(UInt8((length - 1) << 2 | 2))
            output.append(UInt8((at - before) & 0xFF))
            output.append(UInt8((at - before) >> 8))
            at += length
            written = at
        }
        literal(bytes[written...], to: &output)
        return output
    }

    private static func literal(_ bytes: ArraySlice<UInt8>, to output: inout [UInt8]) {
        guard !bytes.isEmpty else { return }
        let length = bytes.count - 1
        switch length {
        case 0..<60: output.append(UInt8(length << 2))
        default:
            output.append(63 << 2)
            for shift in [0, 8, 16, 24] { output.append(UInt8(length >> shift & 0xFF)) }
        }
        output.append(contentsOf: bytes)
    }
}
