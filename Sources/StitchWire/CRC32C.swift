/// Computes the checksum of OP_MSG: CRC-32 with Castagnoli's polynomial.
///
/// Source: RFC 3720, appendix B.4.
package enum CRC32C {
    /// The checksum; O(n).
    package static func checksum(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        var sum: UInt32 = 0xFFFF_FFFF
        for byte in bytes {
            sum = table[Int((sum ^ UInt32(byte)) & 0xFF)] ^ (sum >> 8)
        }
        return ~sum
    }

    private static let table: [UInt32] = (0..<256).map { start in
        (0..<8).reduce(UInt32(start)) { value, _ in
            value & 1 == 1 ? 0x82F6_3B78 ^ (value >> 1) : value >> 1
        }
    }
}
