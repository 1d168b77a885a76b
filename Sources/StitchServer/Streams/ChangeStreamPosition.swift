internal import BSONStore

/// A position in the change feed, as in a change stream's resume token.
struct ChangeStreamPosition: StreamPosition, Hashable {
    /// The last item before the position.
    enum Kind: UInt8, Sendable {
        /// A change that was returned.
        case event = 0
        /// The `invalidate` event that follows the change.
        case invalidate = 1
        /// No event: all changes up to here were returned or filtered out.
        case mark = 2
        /// Some fragments of a split event.
        case pieces = 3
        /// Events that result from changed rules, after the position.
        case turn = 4
    }

    /// The feed position of the last processed change.
    var position: Int64
    /// The last item before the position.
    var kind: Kind

    /// The last processed definition change, in a stream that shows them.
    var definition: Int64?

    /// The number of returned fragments of the change.
    var pieceCount: UInt16 = 0

    /// The fingerprint of the rules that apply to the user; `nil` without rules.
    var rules: UInt64?

    /// The time of the change at the position, if it has one; in another history, such as that of a
    /// restored backup, the position holds another change.
    var time: BSONTimestamp?

    /// The requested start time, before which changes are skipped; `nil` once one at that time or
    /// later was read.
    var start: BSONTimestamp?

    /// The flag in the kind's byte that the time follows at the end.
    private static let withTime: UInt8 = 0x80
    /// The flag in the kind's byte that the start time follows, before the time.
    private static let withStart: UInt8 = 0x40

    /// The first byte of every token, as in MongoDB's tokens.
    private static let prefix: UInt8 = 0x82

    /// The token `{_data: <hexadecimal text>}`; tokens sort like their positions.
    var token: BSONDocument {
        var digits = HexadecimalDigits()
        digits.append(Self.prefix)
        digits.append(position)
        let flags = (time == nil ? 0 : Self.withTime) | (start == nil ? 0 : Self.withStart)
        digits.append(kind.rawValue | flags)
        if kind == .pieces {
            digits.append(definition ?? -1)
            digits.append(UInt8(pieceCount >> 8))
            digits.append(UInt8(pieceCount & 0xFF))
        } else if definition != nil || rules != nil {
            digits.append(definition ?? -1)
        }
        if let rules { digits.append(Int64(bitPattern: rules)) }
        if let start { digits.append(start) }
        if let time { digits.append(time) }
        return ["_data": .string(digits.text)]
    }
}

/// The text of a token, which each event has.
private struct HexadecimalDigits {
    private static let all = Array("0123456789ABCDEF".utf8)

    private var ascii: [UInt8] = []

    init() { ascii.reserveCapacity(72) }

    var text: String { String(decoding: ascii, as: UTF8.self) }

    mutating func append(_ byte: UInt8) {
        ascii.append(Self.all[Int(byte >> 4)])
        ascii.append(Self.all[Int(byte & 0xF)])
    }

    mutating func append(_ number: Int64) {
        for shift in stride(from: 56, through: 0, by: -8) {
            append(UInt8(truncatingIfNeeded: number >> Int64(shift)))
        }
    }

    mutating func append(_ time: BSONTimestamp) {
        append(Int64(bitPattern: UInt64(time.seconds) << 32 | UInt64(time.increment)))
    }
}

extension ChangeStreamPosition {
    /// Parses a token.
    ///
    /// - Throws: 40647 and 40648 for a document that is not a token, 40649 for an empty one, 9
    ///   (FailedToParse) for malformed text, 260 (InvalidResumeToken) for a token of another
    ///   server.
    init(token: BSONDocument) throws(CommandFailure) {
        guard let text = token["_data"]?.stringValue else {
            throw CommandFailure(
                40647,
                "Bad resume token: _data of missing or of wrong type. Expected string, got "
                    + DocumentText.text(of: token))
        }
        if let bits = token["_typeBits"] {
            guard case .binary(let binary) = bits, binary.subtype == 0 else {
                throw CommandFailure(
                    40648,
                    "Bad resume token: _typeBits of wrong type " + DocumentText.text(of: token))
            }
        }
        guard !text.isEmpty else { throw CommandFailure(40649, "invalid empty resume token") }
        var bytes = try Self.bytes(text)
        let time = Self.removeTime(Self.withTime, &bytes)
        let start = Self.removeTime(Self.withStart, &bytes)
        guard bytes.count >= 10, bytes[0] == Self.prefix, bytes[1] < 0x80,
            let kind = Kind(rawValue: bytes[9]),
            (kind == .pieces ? [20, 28] : [10, 18, 26]).contains(bytes.count)
        else {
            throw CommandFailure(260, "the resume token is not one of this server: \(text)")
        }
        let definition = bytes.count > 10 ? Self.number(bytes[10..<18]) : -1
        self.init(
            position: Self.number(bytes[1..<9]), kind: kind,
            definition: definition < 0 ? nil : definition,
            pieceCount: kind == .pieces ? UInt16(bytes[18]) << 8 | UInt16(bytes[19]) : 0,
            rules: bytes.count > 20
                ? UInt64(bitPattern: Self.number(bytes[(bytes.count - 8)...])) : nil,
            time: time, start: start)
    }

    /// Removes and returns the time at the end that a flag announces.
    private static func removeTime(_ flag: UInt8, _ bytes: inout [UInt8]) -> BSONTimestamp? {
        guard bytes.count >= 18, bytes[9] & flag != 0 else { return nil }
        let bits = UInt64(bitPattern: number(bytes.suffix(8)))
        bytes.removeLast(8)
        bytes[9] &= ~flag
        return BSONTimestamp(
            seconds: UInt32(truncatingIfNeeded: bits >> 32),
            increment: UInt32(truncatingIfNeeded: bits))
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> Int64 {
        bytes.reduce(0) { $0 << 8 | Int64($1) }
    }

    private static func bytes(_ text: String) throws(CommandFailure) -> [UInt8] {
        let digits = text.utf8.map(\.hexDigit)
        guard digits.count % 2 == 0, !digits.isEmpty, !digits.contains(nil) else {
            throw CommandFailure(.failedToParse, "resume token string was not a valid hex string")
        }
        return stride(from: 0, to: digits.count, by: 2).map { index in
            (digits[index] ?? 0) << 4 | (digits[index + 1] ?? 0)
        }
    }
}

extension UInt8 {
    /// The value of a hexadecimal digit; `nil` for another character.
    fileprivate var hexDigit: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
