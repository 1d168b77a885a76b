internal import BSONCoreC

/// CRC-32 with Castagnoli's polynomial: the checksum of stored documents, and of OP_MSG.
///
/// Source: RFC 3720, appendix B.4.
package enum CRC32C {
    /// Computes the checksum; O(n).
    package static func checksum(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        guard isBuiltIn else { return byTables(bytes) }
        return ~bsonstore_crc32c(.max, bytes.baseAddress, bytes.count)
    }

    /// Whether the processor has instructions for the checksum.
    private static let isBuiltIn = bsonstore_has_crc32c()

    /// Computes the checksum in software, eight bytes at a time; O(n).
    static func byTables(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        tables.withUnsafeBufferPointer { tables in
            var sum = UInt32.max
            var at = 0
            while bytes.count - at >= 8 {
                let word = bytes.loadUnaligned(fromByteOffset: at, as: UInt64.self).littleEndian
                let mixed = word ^ UInt64(sum)
                sum = 0
                for lane in 0..<8 {
                    let byte = Int(truncatingIfNeeded: mixed >> (8 * lane)) & 0xFF
                    sum ^= tables[(7 - lane) * 256 + byte]
                }
                at += 8
            }
            while at < bytes.count {
                sum = tables[Int((sum ^ UInt32(bytes[at])) & 0xFF)] ^ (sum >> 8)
                at += 1
            }
            return ~sum
        }
    }

    /// Eight tables of 256 entries: entry `b` of table `n` is the checksum of byte `b` followed by
    /// `n` zero bytes.
    private static let tables: [UInt32] = {
        var tables: [UInt32] = (0..<256).map { start in
            (0..<8).reduce(UInt32(start)) { value, _ in
                value & 1 == 1 ? 0x82F6_3B78 ^ (value >> 1) : value >> 1
            }
        }
        for index in 256..<8 * 256 {
            let before = tables[index - 256]
            tables.append(tables[Int(before & 0xFF)] ^ (before >> 8))
        }
        return tables
    }()
}
