extension Update {
    /// Returns the document with the numbers of `$inc` and `$set` replaced in place, if the update
    /// only changes existing top-level fields to values of the same type and size.
    ///
    /// Such a document needs no further checks: its depth, its size and its texts are unchanged.
    /// Returns `nil` for any other update, and if nothing changes.
    package func replacingInPlace(in document: BSONDocument) -> BSONDocument? {
        guard case .operators(let tree) = kind, tree.root.matched == nil,
            tree.root.named.count <= Self.branchesMax
        else { return nil }
        var after: [UInt8]?
        for branch in tree.root.named {
            guard case .leaf(let operation, _) = branch.node,
                let place = Self.place(of: branch.name, in: document),
                let bits = Self.bits(operation, place.typeByte, place.bits)
            else { return nil }
            guard bits != place.bits else { continue }
            if after == nil { after = document.withUnsafeBytes { Array($0) } }
            after?.withUnsafeMutableBytes { bytes in
                if place.size == 4 {
                    bytes.storeBytes(
                        of: UInt32(truncatingIfNeeded: bits).littleEndian,
                        toByteOffset: place.offset, as: UInt32.self)
                } else {
                    bytes.storeBytes(
                        of: bits.littleEndian, toByteOffset: place.offset, as: UInt64.self)
                }
            }
        }
        return after.map { BSONDocument(unchecked: $0) }
    }

    /// The maximum number of fields that are searched one by one.
    private static var branchesMax: Int { 16 }

    private typealias Place = (typeByte: UInt8, offset: Int, size: Int, bits: UInt64)

    private static func place(of key: String, in document: BSONDocument) -> Place? {
        guard key != "_id" else { return nil }
        return document.withUnsafeBytes { bytes -> Place? in
            guard let base = bytes.baseAddress else { return nil }
            var cursor = BSONCursor(bytes)
            guard let value = key.withUTF8Bytes({ cursor.next(withKey: $0) }) else { return nil }
            switch value.typeByte {
            case BSONType.int32.rawValue:
                return (
                    value.typeByte, value.start - base, 4,
                    UInt64(UInt32(bitPattern: value.int32))
                )
            case BSONType.int64.rawValue, BSONType.double.rawValue, BSONType.datetime.rawValue:
                return (
                    value.typeByte, value.start - base, 8, UInt64(bitPattern: value.int64)
                )
            default: return nil
            }
        }
    }

    /// Returns the bits of the new value; `nil` for another type or another operator.
    private static func bits(
        _ operation: UpdateOperation, _ typeByte: UInt8, _ old: UInt64
    ) -> UInt64? {
        switch (operation, typeByte) {
        case (.set(.int32(let value)), BSONType.int32.rawValue):
            return UInt64(UInt32(bitPattern: value))
        case (.set(.int64(let value)), BSONType.int64.rawValue):
            return UInt64(bitPattern: value)
        case (.set(.double(let value)), BSONType.double.rawValue): return value.bitPattern
        case (.set(.datetime(let value)), BSONType.datetime.rawValue):
            return UInt64(bitPattern: value.milliseconds)
        case (.increment(.int32(let step)), BSONType.int32.rawValue):
            let (sum, overflow) = Int32(truncatingIfNeeded: old).addingReportingOverflow(step)
            return overflow ? nil : UInt64(UInt32(bitPattern: sum))
        case (.increment(let step), BSONType.int64.rawValue):
            guard let step = whole(step) else { return nil }
            let (sum, overflow) = Int64(bitPattern: old).addingReportingOverflow(step)
            return overflow ? nil : UInt64(bitPattern: sum)
        case (.increment(.double(let step)), BSONType.double.rawValue):
            let number = Double(bitPattern: old)
            let sum = number + step
            // As on the general path, the sign of a zero is no change.
            if sum == number { return old }
            // As on the general path, a NaN has no sign.
            return (sum.isNaN ? .nan : sum).bitPattern
        default: return nil
        }
    }

    private static func whole(_ value: BSONValue) -> Int64? {
        switch value {
        case .int32(let value): Int64(value)
        case .int64(let value): value
        default: nil
        }
    }
}
