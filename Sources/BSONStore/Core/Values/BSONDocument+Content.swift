extension BSONDocument {
    /// Hashes the content without regard to the order of fields; may exclude a top-level field.
    ///
    /// One pass over the bytes, no allocation.
    public func contentHash(excluding field: String? = nil) -> BSONContentHash {
        guard var field else { return withUnsafeBytes { BSONContentHash.hashing($0) } }
        return field.withUTF8 { name in
            withUnsafeBytes {
                BSONContentHash.hashing($0, excluding: UnsafeRawBufferPointer(name))
            }
        }
    }

    /// Whether both hold the same fields with the same values in any order, at all depths.
    ///
    /// Types must match and doubles compare by bits; the order of array values matters. A top-level
    /// field may be excluded. Fields that differ in bytes or place are compared by their hashes as
    /// in ``contentHash(excluding:)``, so equality is certain up to the collisions of 128 bits.
    public func contentEquals(_ other: BSONDocument, excluding field: String? = nil) -> Bool {
        if self == other { return true }
        guard var field else {
            // Fields in another order take as many bytes.
            guard length == other.length else { return false }
            return withUnsafeBytes { left in
                other.withUnsafeBytes { BSONContentHash.areEqual(left, $0, excluding: nil) }
            }
        }
        return field.withUTF8 { name in
            withUnsafeBytes { left in
                other.withUnsafeBytes {
                    BSONContentHash.areEqual(left, $0, excluding: UnsafeRawBufferPointer(name))
                }
            }
        }
    }
}

extension BSONArray {
    /// Whether both hold the same values in the same order; field order inside them is ignored.
    public func contentEquals(_ other: BSONArray) -> Bool {
        document == other.document || contentHash == other.contentHash
    }

    private var contentHash: BSONContentHash {
        document.withUnsafeBytes { bytes in
            var hash = BSONContentHash(0, 0)
            if let start = bytes.baseAddress {
                hash = BSONContentHash.hashing(
                    BSONRawValue(
                        typeByte: BSONType.array.rawValue, start: start, count: bytes.count))
            }
            return hash
        }
    }
}
