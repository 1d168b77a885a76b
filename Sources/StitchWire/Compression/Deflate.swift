/// The compression to zlib streams with fixed codes, which is fast and compresses well enough.
///
/// Source: RFC 1950 and RFC 1951.
package enum Deflate {
    /// The largest distance of a repetition in bytes.
    private static let windowMax = 32_768
    /// The largest length of a repetition in bytes.
    private static let matchMax = 258
    /// The number of hash bits for finding equal beginnings.
    private static let hashBits = 14

    /// Returns the zlib stream of some bytes; O(n).
    package static func zlib(_ bytes: [UInt8]) -> [UInt8] {
        var writer = DeflateWriter(reserving: bytes.count / 2 + 64)
        // A window of 32 KiB, the fastest level.
        writer.bytes += [0x78, 0x01]
        writer.put(1, 1)
        writer.put(1, 2)
        var heads = [Int32](repeating: -1, count: 1 << hashBits)
        var at = 0
        while at < bytes.count {
            let found = match(bytes, at, &heads)
            guard found.length >= 4 else {
                writer.putLiteral(Int(bytes[at]))
                at += 1
                continue
            }
            writer.putMatch(length: found.length, distance: found.distance)
            at += found.length
        }
        writer.putLiteral(256)
        writer.flush()
        let sum = Adler32.checksum(bytes)
        for shift in stride(from: UInt32(24), through: 0, by: -8) {
            writer.bytes.append(UInt8(truncatingIfNeeded: sum >> shift))
        }
        return writer.bytes
    }

    /// Returns the last position with the same beginning, and the length of the match.
    private static func match(
        _ bytes: [UInt8], _ at: Int, _ heads: inout [Int32]
    ) -> (length: Int, distance: Int) {
        guard at + 4 <= bytes.count else { return (0, 0) }
        let four = (0..<4).reduce(UInt32(0)) { $0 << 8 | UInt32(bytes[at + $1]) }
        let hash = Int((four &* 2_654_435_761) >> UInt32(32 - hashBits))
        let before = Int(heads[hash])
        heads[hash] = Int32(at)
        guard before >= 0, at - before <= windowMax else { return (0, 0) }
        let most = min(matchMax, bytes.count - at)
        var length = 0
        while length < most, bytes[before + length] == bytes[at + length] { length += 1 }
        return (length, at - before)
    }
}

/// A writer of bits, the lowest of a byte first.
private struct DeflateWriter {
    var bytes: [UInt8] = []
    private var held: UInt64 = 0
    private var heldCount = 0

    init(reserving count: Int) { bytes.reserveCapacity(count) }

    mutating func put(_ value: Int, _ count: Int) {
        held |= UInt64(value) << UInt64(heldCount)
        heldCount += count
        while heldCount >= 8 {
            bytes.append(UInt8(truncatingIfNeeded: held))
            held >>= 8
            heldCount -= 8
        }
    }

    /// Writes a code, its highest bit first.
    private mutating func putCode(_ code: Int, _ count: Int) {
        var reversed = 0
        for bit in 0..<count where code >> bit & 1 == 1 { reversed |= 1 << (count - 1 - bit) }
        put(reversed, count)
    }

    mutating func putLiteral(_ symbol: Int) {
        switch symbol {
        case 0..<144: putCode(0x30 + symbol, 8)
        case 144..<256: putCode(0x190 + symbol - 144, 9)
        case 256..<280: putCode(symbol - 256, 7)
        default: putCode(0xC0 + symbol - 280, 8)
        }
    }

    mutating func putMatch(length: Int, distance: Int) {
        let lengths = DeflateCodes.lengths
        let place = lengths.lastIndex { $0.base <= length } ?? 0
        putLiteral(257 + place)
        put(length - lengths[place].base, lengths[place].extraBits)
        let distances = DeflateCodes.distances
        let away = distances.lastIndex { $0.base <= distance } ?? 0
        putCode(away, 5)
        put(distance - distances[away].base, distances[away].extraBits)
    }

    mutating func flush() {
        if heldCount > 0 { put(0, 8 - heldCount) }
    }
}

/// The codes of lengths and distances: a base, and the extra bits added to it.
enum DeflateCodes {
    typealias Code = (base: Int, extraBits: Int)

    /// The codes of the symbols 257 to 285.
    static let lengths: [Code] =
        codes(
            [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5], 3)
        + [(258, 0)]
    /// The codes of the symbols 0 to 29.
    static let distances: [Code] = codes(
        [
            0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12,
            12, 13, 13,
        ], 1)
    /// The order in which a block lists the lengths of the code-length codes.
    static let order = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]

    private static func codes(_ extraBits: [Int], _ first: Int) -> [Code] {
        var base = first
        return extraBits.map { bits in
            defer { base += 1 << bits }
            return (base, bits)
        }
    }
}

/// The checksum of zlib streams.
///
/// Source: RFC 1950, section 9.
enum Adler32 {
    /// Returns the checksum of some bytes; O(n).
    static func checksum(_ bytes: [UInt8]) -> UInt32 {
        var low: UInt32 = 1
        var high: UInt32 = 0
        var at = 0
        while at < bytes.count {
            // The largest number of bytes whose sums fit into 32 bits.
            let end = min(at + 5_552, bytes.count)
            while at < end {
                low &+= UInt32(bytes[at])
                high &+= low
                at += 1
            }
            low %= 65_521
            high %= 65_521
        }
        return high << 16 | low
    }
}
