/// The decompression of zlib streams.
///
/// Every length and distance is checked, and the result has at most the size that the caller gives.
/// Source: RFC 1950 and RFC 1951.
package enum Inflate {
    /// Decompresses a zlib stream.
    ///
    /// - Parameter count: the required size of the result in bytes.
    /// - Throws: `WireError.malformed` for an invalid stream, another size or a wrong checksum.
    package static func zlib(
        _ bytes: UnsafeRawBufferPointer, count: Int
    ) throws(WireError) -> [UInt8] {
        guard bytes.count >= 6, bytes[0] & 0x0F == 8, bytes[0] >> 4 <= 7,
            (Int(bytes[0]) << 8 | Int(bytes[1])) % 31 == 0, bytes[1] & 0x20 == 0
        else { throw broken }
        var bits = DeflateReader(UnsafeRawBufferPointer(rebasing: bytes[2...]))
        var output: [UInt8] = []
        output.reserveCapacity(min(count, 1 << 20))
        var isLast = false
        while !isLast {
            isLast = try bits.take(1) == 1
            switch try bits.take(2) {
            case 0: try stored(&bits, &output, count)
            case 1: try block(&bits, &output, count, .fixedLengths, .fixedDistances)
            case 2:
                let (lengths, distances) = try tables(&bits)
                try block(&bits, &output, count, lengths, distances)
            default: throw broken
            }
        }
        bits.alignToByte()
        var sum: UInt32 = 0
        for _ in 0..<4 { sum = sum << 8 | UInt32(try bits.take(8)) }
        guard output.count == count, sum == Adler32.checksum(output) else { throw broken }
        return output
    }

    static var broken: WireError { .malformed("compressed data that is not valid") }

    private static func stored(
        _ bits: inout DeflateReader, _ output: inout [UInt8], _ count: Int
    ) throws(WireError) {
        bits.alignToByte()
        let length = try bits.take(16)
        guard try bits.take(16) == ~length & 0xFFFF, output.count + length <= count else {
            throw broken
        }
        for _ in 0..<length { output.append(UInt8(try bits.take(8))) }
    }

    private static func block(
        _ bits: inout DeflateReader, _ output: inout [UInt8], _ count: Int,
        _ lengths: HuffmanTable, _ distances: HuffmanTable
    ) throws(WireError) {
        while true {
            let symbol = try lengths.symbol(&bits)
            if symbol == 256 { return }
            if symbol < 256 {
                guard output.count < count else { throw broken }
                output.append(UInt8(symbol))
                continue
            }
            guard symbol - 257 < DeflateCodes.lengths.count else { throw broken }
            let form = DeflateCodes.lengths[symbol - 257]
            let length = form.base + (try bits.take(form.extraBits))
            let place = try distances.symbol(&bits)
            guard place < DeflateCodes.distances.count else { throw broken }
            let away = DeflateCodes.distances[place]
            let distance = away.base + (try bits.take(away.extraBits))
            guard distance <= output.count, output.count + length <= count else { throw broken }
            let start = output.count - distance
            for offset in 0..<length { output.append(output[start + offset]) }
        }
    }

    /// Reads the code tables at the start of a block.
    private static func tables(
        _ bits: inout DeflateReader
    ) throws(WireError) -> (HuffmanTable, HuffmanTable) {
        let lengthCount = try bits.take(5) + 257
        let distanceCount = try bits.take(5) + 1
        let orderCount = try bits.take(4) + 4
        guard lengthCount <= 286, distanceCount <= 30 else { throw broken }
        var orderLengths = [UInt8](repeating: 0, count: 19)
        for place in DeflateCodes.order.prefix(orderCount) {
            orderLengths[place] = UInt8(try bits.take(3))
        }
        let order = try HuffmanTable(orderLengths)
        var all: [UInt8] = []
        while all.count < lengthCount + distanceCount {
            let symbol = try order.symbol(&bits)
            let repeated: (value: UInt8, count: Int)
            switch symbol {
            case 0..<16: repeated = (UInt8(symbol), 1)
            case 16:
                guard let last = all.last else { throw broken }
                repeated = (last, 3 + (try bits.take(2)))
            case 17: repeated = (0, 3 + (try bits.take(3)))
            default: repeated = (0, 11 + (try bits.take(7)))
            }
            for _ in 0..<repeated.count { all.append(repeated.value) }
        }
        guard all.count == lengthCount + distanceCount, all[256] != 0 else { throw broken }
        return (
            try HuffmanTable(Array(all[..<lengthCount])),
            try HuffmanTable(Array(all[lengthCount...]))
        )
    }
}

/// A reader of bits, the lowest of a byte first.
struct DeflateReader {
    private let bytes: UnsafeRawBufferPointer
    private var at = 0
    private var held: UInt64 = 0
    private var heldCount = 0

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// Returns the next bits, at most 16, as a number.
    mutating func take(_ count: Int) throws(WireError) -> Int {
        while heldCount < count {
            guard at < bytes.count else { throw Inflate.broken }
            held |= UInt64(bytes[at]) << UInt64(heldCount)
            at += 1
            heldCount += 8
        }
        let value = Int(held & ((1 << UInt64(count)) - 1))
        held >>= UInt64(count)
        heldCount -= count
        return value
    }

    /// Skips to the next byte boundary.
    mutating func alignToByte() {
        let rest = heldCount % 8
        held >>= UInt64(rest)
        heldCount -= rest
    }
}

/// A decoder of canonical Huffman codes: codes of equal length are in symbol order.
struct HuffmanTable: Sendable {
    private static let lengthMax = 15
    /// The number of symbols by code length.
    private var counts = [Int](repeating: 0, count: lengthMax + 1)
    /// The symbols, those with short codes first.
    private var symbols: [UInt16]

    /// Makes a table from the code lengths of all symbols; 0 for absent symbols.
    ///
    /// - Throws: `WireError.malformed` for lengths that no code set has.
    init(_ lengths: [UInt8]) throws(WireError) {
        symbols = []
        guard Self.areCodes(lengths) else { throw Inflate.broken }
        fill(lengths)
    }

    private init(fixed lengths: [UInt8]) {
        symbols = []
        fill(lengths)
    }

    private mutating func fill(_ lengths: [UInt8]) {
        for length in lengths where length > 0 { counts[Int(length)] += 1 }
        symbols = lengths.indices.filter { lengths[$0] > 0 }
            .sorted { (lengths[$0], $0) < (lengths[$1], $1) }.map { UInt16($0) }
    }

    /// Whether no length has more codes than possible; an incomplete set is allowed only with a
    /// single code.
    private static func areCodes(_ lengths: [UInt8]) -> Bool {
        var left = 1 << lengthMax
        for length in lengths where length > 0 { left -= 1 << (lengthMax - Int(length)) }
        return left == 0 || left > 0 && lengths.count(where: { $0 > 0 }) <= 1
    }

    /// Reads the next symbol.
    func symbol(_ bits: inout DeflateReader) throws(WireError) -> Int {
        var code = 0
        var first = 0
        var index = 0
        for length in 1...Self.lengthMax {
            code |= try bits.take(1)
            let count = counts[length]
            if code - first < count { return Int(symbols[index + code - first]) }
            index += count
            first = (first + count) << 1
            code <<= 1
        }
        throw Inflate.broken
    }

    /// The literal and length codes of blocks without tables.
    static let fixedLengths = HuffmanTable(
        fixed: (0..<288).map { $0 < 144 ? 8 : $0 < 256 ? 9 : $0 < 280 ? 7 : 8 })
    /// The distance codes of blocks without tables.
    static let fixedDistances = HuffmanTable(fixed: Array(repeating: 5, count: 30))
}
