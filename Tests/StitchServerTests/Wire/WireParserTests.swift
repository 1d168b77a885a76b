import BSONStore
import Testing

@testable import StitchWire

/// A server reads what anybody sends: each byte of it may be wrong.
struct WireParserTests {
    private static func message(
        flags: UInt32 = 0, _ sections: [UInt8], opcode: Int32 = 2013
    ) -> [UInt8] {
        let length = UInt32(20 + sections.count)
        let words = [length, 7, 0, UInt32(bitPattern: opcode), flags]
        return words.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) } }
            + sections
    }

    private static let ping: BSONDocument = ["ping": 1, "$db": "admin"]

    private static func parse(_ bytes: [UInt8]) throws -> WireRequest {
        try bytes.withUnsafeBytes { try WireParser().parse($0) }
    }

    @Test func aCommandIsReadWithItsSequences() throws {
        let first: BSONDocument = ["_id": 1]
        let second: BSONDocument = ["_id": 2]
        let name = Array("documents".utf8) + [0]
        let size = UInt8(4 + name.count + first.byteCount + second.byteCount)
        let bytes = Self.message(
            [1, size, 0, 0, 0] + name + first.bytes + second.bytes + [0] + Self.ping.bytes)
        let request = try Self.parse(bytes)
        #expect(request.body == Self.ping)
        #expect(request.requestID == 7)
        #expect(request.sequences.map(\.field) == ["documents"])
        #expect(request.sequences.first?.documents == [first, second])
        #expect(request.wantsReply)
    }

    @Test func aChecksumIsChecked() throws {
        let count = UInt32(20 + 1 + Self.ping.byteCount + 4)
        var bytes = Self.message(flags: 1, [0] + Self.ping.bytes + [0, 0, 0, 0])
        #expect(Int(count) == bytes.count)
        let sum = bytes.withUnsafeBytes {
            CRC32C.checksum(UnsafeRawBufferPointer(rebasing: $0.dropLast(4)))
        }
        #expect(throws: WireError.checksum) { try Self.parse(bytes) }
        for index in 0..<4 {
            bytes[bytes.count - 4 + index] = UInt8(truncatingIfNeeded: sum >> (index * 8))
        }
        #expect(try Self.parse(bytes).body == Self.ping)
    }

    @Test func theChecksumIsCastagnolis() {
        let sum = Array("123456789".utf8).withUnsafeBytes { CRC32C.checksum($0) }
        #expect(sum == 0xE306_9283)
    }

    @Test func everyShortenedMessageIsRefused() {
        let whole = Self.message([0] + Self.ping.bytes)
        for count in 0..<whole.count {
            var bytes = Array(whole.prefix(count))
            if count >= 4 { bytes[0] = UInt8(count) }
            #expect(throws: (any Error).self) { try Self.parse(bytes) }
        }
    }

    @Test func aByteThatIsWrongNeverTraps() {
        let whole = Self.message([0] + Self.ping.bytes)
        var accepted = 0
        for index in 4..<whole.count {
            for value in UInt8.min...UInt8.max {
                var bytes = whole
                bytes[index] = value
                do {
                    _ = try Self.parse(bytes)
                    accepted += 1
                } catch {}
            }
        }
        #expect(accepted > 0)
    }

    @Test func lengthsAndKindsOutOfBoundsAreRefused() throws {
        let parser = WireParser()
        func length(_ bytes: [UInt8]) throws -> Int? {
            try bytes.withUnsafeBytes { try parser.messageLength($0) }
        }
        #expect(try length([20, 0, 0]) == nil)
        #expect(throws: WireError.length(16)) { try length([16, 0, 0, 0]) }
        #expect(throws: WireError.length(-1)) { try length([255, 255, 255, 255]) }
        #expect(throws: WireError.length(48_000_001)) { try length([1, 0x6C, 0xDC, 2]) }
        #expect(try length([0, 0x6C, 0xDC, 2]) == 48_000_000)
        let unknown = Self.message([], opcode: 2010)
        #expect(throws: WireError.opcode(2010)) { try length(unknown) }
        #expect(throws: WireError.flags(4)) {
            try Self.parse(Self.message(flags: 4, [0] + Self.ping.bytes))
        }
    }

    /// Each of these gets an answer, and the connection goes on, as with MongoDB.
    @Test(
        arguments: [
            ([], 40587, "OP_MSG messages must have a body"),
            ([2, 0], 40432, "Unknown section kind 2"),
            ([0] + WireParserTests.ping.bytes + [3], 40432, "Unknown section kind 3"),
            ([0] + WireParserTests.ping.bytes + [255, 1, 2], 40432, "Unknown section kind 255"),
            (
                [0] + WireParserTests.ping.bytes + [0] + WireParserTests.ping.bytes, 40430,
                "Multiple body sections in message"
            ),
            (
                [1, 6, 0, 0, 0, 97, 0, 1, 6, 0, 0, 0, 97, 0], 40431,
                "Duplicate document sequence: a"
            ),
            ([0, 6, 0, 0, 0, 1, 0], 22, nil),
        ] as [([UInt8], Int32, String?)])
    func aSectionThatIsNoneIsAnswered(_ sections: [UInt8], _ code: Int32, _ text: String?) {
        let error = #expect(throws: WireContentError.self) {
            try Self.parse(Self.message(sections))
        }
        #expect(error?.code == code && error?.requestID == 7)
        if let text { #expect(error?.message == text) }
    }

    @Test func aPeekShowsTheCommand() {
        func peek(_ bytes: [UInt8]) -> WirePeek {
            bytes.withUnsafeBytes { WirePeek($0, WireLimits()) }
        }
        let plain = peek(Self.message([0] + Self.ping.bytes))
        #expect(plain.content == .command("ping"))
        #expect(plain.requestID == 7 && plain.wantsReply == true)
        #expect(peek(Self.message(flags: 2, [0] + Self.ping.bytes)).wantsReply == false)
        let onItems: BSONDocument = ["aggregate": "items", "pipeline": []]
        #expect(peek(Self.message([0] + onItems.bytes)).content == .command("aggregate"))
        let onNone: BSONDocument = ["aggregate": 1, "pipeline": []]
        #expect(peek(Self.message([0] + onNone.bytes)).content == .small)
        let long: BSONDocument = ["ping": .string(String(repeating: "x", count: 70_000))]
        #expect(peek(Self.message([0] + long.bytes)).content == .large)
        #expect(peek(Self.message([1, 6, 0, 0, 0, 97, 0])).content == .small)
        for count in 0..<40 {
            let cut = Array(Self.message([0] + Self.ping.bytes).prefix(count))
            #expect(count < 31 ? peek(cut).content == .small : true)
        }
        // A compressed message shows its size only.
        func compressed(_ count: UInt32) -> [UInt8] {
            let words: [UInt32] = [25, 7, 0, 2012, 2013, count]
            return words.flatMap { word in
                (0..<4).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) }
            } + [1]
        }
        #expect(peek(compressed(1_000)).content == .small)
        #expect(peek(compressed(100_000)).content == .large)
        #expect(peek(compressed(1_000)).wantsReply == nil)
    }

    @Test func aQueryIsUnwrapped() throws {
        let hello: BSONDocument = [
            "$query": ["isMaster": 1], "$readPreference": ["mode": "primary"],
        ]
        let sections = Array("admin.$cmd".utf8) + [0, 0, 0, 0, 0, 255, 255, 255, 255] + hello.bytes
        let request = try Self.parse(Self.message(sections, opcode: 2004))
        #expect(request.form == .query(collection: "admin.$cmd"))
        #expect(request.body["isMaster"] == 1)
        #expect(request.body["$db"] == "admin")
    }
}
