public import BSONStore

/// The name of one upload attempt: its instance and a number that the instance never uses twice.
///
/// It is stored as 16 bytes of BSON binary, the instance first, both parts big-endian. The engine
/// stores the name before it sends the attempt, and the remote stores it in the document's version
/// field. So after a lost answer the engine recognizes its own write.
///
/// ```swift
/// let attempt = OperationID(instance: 7, sequence: 1)
/// print(OperationID(attempt.value) == attempt)  // true
/// ```
public struct OperationID: Sendable, Hashable, CustomStringConvertible {
    /// The instance that made the attempt.
    public let instance: UInt64
    /// The attempt's number in the instance, from 1.
    public let sequence: UInt64

    /// Makes a name from its two parts.
    public init(instance: UInt64, sequence: UInt64) {
        self.instance = instance
        self.sequence = sequence
    }

    /// Reads the 16 bytes; `nil` for any other value, such as another tool's operation.
    public init?(_ value: BSONValue) {
        guard case .binary(let binary) = value, binary.bytes.count == 16 else { return nil }
        self = binary.bytes.withUnsafeBytes { Self(bytes: $0) }
    }

    /// Reads the 16 bytes of a value in a valid document, as ``init(_:)-(BSONValue)`` does.
    init?(_ value: BSONRawValue) {
        // The value consists of its length, the subtype and the bytes; subtype 2 has a length of its own.
        guard value.type == .binary, value.count == 21,
            value.start.load(fromByteOffset: 4, as: UInt8.self) != 2
        else {
            self.init(BSONValue(copying: value))
            return
        }
        self.init(bytes: UnsafeRawBufferPointer(start: value.start + 5, count: 16))
    }

    private init(bytes: UnsafeRawBufferPointer) {
        instance = UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))
        sequence = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    }

    /// The instance as hexadecimal digits and the attempt's number: `7.1`.
    public var description: String { "\(String(instance, radix: 16)).\(sequence)" }

    /// The 16 bytes as a BSON value.
    public var value: BSONValue {
        let bytes = [UInt8](unsafeUninitializedCapacity: 16) { bytes, count in
            let bytes = UnsafeMutableRawBufferPointer(bytes)
            bytes.storeBytes(of: instance.bigEndian, as: UInt64.self)
            bytes.storeBytes(of: sequence.bigEndian, toByteOffset: 8, as: UInt64.self)
            count = 16
        }
        return .binary(BSONBinary(bytes))
    }

    /// The UUID of the lineage that begins with this attempt: version 8 of RFC 9562, made of both
    /// parts, so that it is as unique as the attempt's name and needs no randomness.
    var lineage: String {
        let parts = [
            instance & 0xFFFF_FFFF_FFFF_0FFF | 0x8000,
            sequence & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000,
        ]
        return String(unsafeUninitializedCapacity: 36) { text in
            var count = 0
            for digit in 0..<32 {
                if digit == 8 || digit == 12 || digit == 16 || digit == 20 {
                    text[count] = UInt8(ascii: "-")
                    count += 1
                }
                let nibble =
                    UInt8(truncatingIfNeeded: parts[digit / 16] >> UInt64(60 - digit % 16 * 4)) & 15
                text[count] =
                    nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "a") - 10 + nibble
                count += 1
            }
            return count
        }
    }
}
