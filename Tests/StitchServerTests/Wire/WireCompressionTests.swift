import BSONStore
import Testing

@testable import StitchWire

/// What a client compressed is read as it was, and what anybody made up is refused.
struct WireCompressionTests {
    /// Bytes of several kinds: none, equal ones, text, and such as nothing can be said of.
    private static let samples: [[UInt8]] = {
        var state: UInt64 = 7
        let random = (0..<70_000).map { _ -> UInt8 in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: state >> 33)
        }
        let text = Array(String(repeating: "the quick brown fox, 12345; ", count: 3_000).utf8)
        return [
            [], [1], Array("abc".utf8), [UInt8](repeating: 9, count: 100_000), random, text,
            text + random + text, Array(0...255) + Array(0...255),
        ]
    }()

    /// What Python's zlib makes of "hello hello hello hello world" at level 6.
    private static let stream = "789ccb48cdc9c957c8c020cbf38b725200a38a0af9"

    private static func bytes(_ hex: String) -> [UInt8] {
        let digits = Array(hex.utf8).map { $0 < 58 ? $0 - 48 : $0 - 87 }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    private static func expand(
        _ compressor: WireCompressor, _ bytes: [UInt8], _ count: Int
    ) throws -> [UInt8] {
        try bytes.withUnsafeBytes { try compressor.expand($0, count: count) }
    }

    @Test("What is compressed here is expanded to what it was", arguments: WireCompressor.allCases)
    func roundTrip(compressor: WireCompressor) throws {
        for sample in Self.samples {
            let compressed = try #require(compressor.compress(sample))
            #expect(try Self.expand(compressor, compressed, sample.count) == sample)
            #expect(compressed.count <= sample.count * 9 / 8 + 64)
        }
        let equal = Self.samples[3]
        let shorter = try #require(compressor.compress(equal))
        if compressor != .none { #expect(shorter.count < equal.count / 15) }
    }

    @Test("What another zlib made is expanded, and no other format of it")
    func foreignStreams() throws {
        let stream = Self.bytes(Self.stream)
        let text = Array("hello hello hello hello world".utf8)
        #expect(try Self.expand(.zlib, stream, text.count) == text)
        // Raw DEFLATE, and a stream that names a dictionary.
        for foreign in [Array(stream[2..<(stream.count - 4)]), [0x78, 0xBB] + stream[2...]] {
            #expect(throws: WireError.self) { try Self.expand(.zlib, foreign, text.count) }
        }
    }

    @Test(
        "A stream that expands to more than is declared, or declares more than it can, is refused")
    func bombs() throws {
        let zeros = [UInt8](repeating: 0, count: 10_000_000)
        let bomb = try #require(WireCompressor.zlib.compress(zeros))
        #expect(bomb.count < 100_000)
        #expect(try Self.expand(.zlib, bomb, zeros.count) == zeros)
        for wrong in [0, 1, 1_000, zeros.count - 1, zeros.count + 1, bomb.count * 1_033, .max] {
            #expect(throws: WireError.self) { try Self.expand(.zlib, bomb, wrong) }
        }
        #expect(throws: WireError.self) { try Self.expand(.zlib, [], 0) }
        #expect(throws: WireError.self) { try Self.expand(.zlib, [], 1) }
    }

    @Test("A block of Snappy with every kind of copy is expanded")
    func snappyCopies() throws {
        // "abcd", four bytes from 4 before, five from 8 before, six from 4 before.
        let block: [UInt8] =
            [19, 3 << 2] + Array("abcd".utf8) + [1, 4] + [4 << 2 | 2, 8, 0]
            + [5 << 2 | 3, 4, 0, 0, 0]
        let expanded = try Self.expand(.snappy, block, 19)
        #expect(String(decoding: expanded, as: UTF8.self) == "abcdabcdabcdabcdabc")
    }

    @Test(
        "What is cut off, or changed, or of another size is refused or expanded, and nothing else",
        arguments: [WireCompressor.zlib, .snappy])
    func damage(compressor: WireCompressor) throws {
        let sample = Array(Self.samples[5].prefix(2_000)) + Array(Self.samples[4].prefix(200))
        let compressed = try #require(compressor.compress(sample))
        for count in 0..<compressed.count {
            #expect(throws: WireError.self) {
                try Self.expand(compressor, Array(compressed.prefix(count)), sample.count)
            }
        }
        for wrong in [0, sample.count - 1, sample.count + 1, 1 << 30] {
            #expect(throws: WireError.self) {
                try Self.expand(compressor, compressed, wrong)
            }
        }
        for place in compressed.indices {
            for bit in 0..<8 {
                var changed = compressed
                changed[place] ^= 1 << bit
                do {
                    let expanded = try Self.expand(compressor, changed, sample.count)
                    // zlib has a checksum, which tells.
                    #expect(expanded.count == sample.count && compressor == .snappy)
                } catch is WireError {}
            }
        }
    }

    @Test("A compressed command is read and answered as it came")
    func message() throws {
        let command: BSONDocument = [
            "insert": "items", "$db": "shop", "text": .string(String(repeating: "-", count: 999)),
        ]
        let plain = WireEncoder.bytes(
            command, to: .message([]), requestID: 7, responseTo: 0)
        for compressor in WireCompressor.allCases where compressor != .none {
            let bytes = WireEncoder.bytes(
                command, to: .message([]), requestID: 7, responseTo: 0, compressor: compressor)
            #expect(bytes.count < plain.count / 5)
            let request = try bytes.withUnsafeBytes { try WireParser().parse($0) }
            #expect(request.body == command && request.requestID == 7)
            #expect(request.compressor == compressor)
        }
        let small: BSONDocument = ["ok": 1.0]
        #expect(
            WireEncoder.bytes(
                small, to: .message([]), requestID: 1, responseTo: 2, compressor: .zlib)
                == WireEncoder.bytes(small, to: .message([]), requestID: 1, responseTo: 2))
    }

    @Test("A compressed message in a compressed message, or one that is too large, is refused")
    func hostileMessages() throws {
        func message(_ opcode: Int32, _ size: Int32, _ compressor: UInt8) -> [UInt8] {
            var bytes = WireEncoder.header(26, 1, 0, WireOpcode.compressed.rawValue)
            for number in [opcode, size] {
                withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
            }
            return bytes + [compressor, 0]
        }
        for bytes in [
            message(2012, 1, 0), message(2013, -1, 0), message(2013, 48_000_000, 2),
            message(2013, .max, 2), message(2013, 1, 3), message(2013, 1, 2), message(77, 1, 0),
        ] {
            #expect(throws: (any Error).self) {
                try bytes.withUnsafeBytes { try WireParser().parse($0) }
            }
        }
    }
}
