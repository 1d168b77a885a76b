#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

extension BSONOrder {
    /// Compares two values in place, without decoding or allocating.
    public static func compare(_ left: BSONRawValue, _ right: BSONRawValue) -> BSONOrder {
        let (a, b) = (rank(left.type), rank(right.type))
        guard a == b else { return BSONOrder(a, b) }
        switch left.type {
        case .double, .int32, .int64, .decimal128:
            guard let a = BSONNumber(left), let b = BSONNumber(right) else { return .equal }
            return BSONNumber.compare(a, b)
        case .string, .javascript, .symbol: return compareBytes(left.text, right.text)
        case .document: return compareDocuments(left.bytes, right.bytes)
        case .array: return compareArrays(left.bytes, right.bytes)
        case .binary: return compareBinaries(left, right)
        case .undefined, .null, .minKey, .maxKey: return .equal
        case .objectID, .bool: return compareBytes(left.bytes, right.bytes)
        case .datetime: return BSONOrder(left.int64, right.int64)
        case .regularExpression: return compareExpressions(left, right)
        case .dbPointer:
            let counts = BSONOrder(left.count, right.count)
            return counts == .equal ? compareBytes(left.bytes, right.bytes) : counts
        case .javascriptWithScope:
            let (a, b) = (left.codeAndScope, right.codeAndScope)
            let order = compareBytes(a.code, b.code)
            return order == .equal ? compareDocuments(a.scope, b.scope) : order
        case .timestamp:
            return BSONOrder(UInt64(bitPattern: left.int64), UInt64(bitPattern: right.int64))
        }
    }

    /// Compares two valid documents in place by type, key and value of each element.
    static func compareDocuments(
        _ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer
    ) -> BSONOrder {
        var (a, b) = (BSONCursor(left), BSONCursor(right))
        while true {
            guard let first = a.next() else { return b.next() == nil ? .equal : .less }
            guard let second = b.next() else { return .greater }
            let types = BSONOrder(rank(first.value.type), rank(second.value.type))
            if types != .equal { return types }
            let keys = compareBytes(first.key, second.key)
            if keys != .equal { return keys }
            let values = compare(first.value, second.value)
            if values != .equal { return values }
        }
    }

    /// Compares two valid arrays in place, value by value; keys are ignored.
    static func compareArrays(
        _ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer
    ) -> BSONOrder {
        var (a, b) = (BSONCursor(left), BSONCursor(right))
        while true {
            guard let first = a.next() else { return b.next() == nil ? .equal : .less }
            guard let second = b.next() else { return .greater }
            let values = compare(first.value, second.value)
            if values != .equal { return values }
        }
    }

    /// Compares bytes as unsigned numbers; a prefix sorts first.
    package static func compareBytes(
        _ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer
    ) -> BSONOrder {
        let shared = min(left.count, right.count)
        if shared > 0, let a = left.baseAddress, let b = right.baseAddress {
            let order = memcmp(a, b, shared)
            if order != 0 { return order < 0 ? .less : .greater }
        }
        return BSONOrder(left.count, right.count)
    }

    private static func compareBinaries(
        _ left: BSONRawValue, _ right: BSONRawValue
    ) -> BSONOrder {
        let counts = BSONOrder(left.count, right.count)
        guard counts == .equal else { return counts }
        let subtypes = BSONOrder(left.binarySubtype, right.binarySubtype)
        return subtypes == .equal
            ? compareBytes(left.binaryContent, right.binaryContent) : subtypes
    }

    private static func compareExpressions(
        _ left: BSONRawValue, _ right: BSONRawValue
    ) -> BSONOrder {
        let (a, b) = (left.expressionParts, right.expressionParts)
        let patterns = compareBytes(a.pattern, b.pattern)
        return patterns == .equal ? compareBytes(a.options, b.options) : patterns
    }
}

extension BSONRawValue {
    /// The pattern and options of a regular expression; only for values of that type.
    @inlinable
    public var expressionParts:
        (
            pattern: UnsafeRawBufferPointer, options: UnsafeRawBufferPointer
        )
    {
        let count = BSONCursor.textCount(start, start + self.count)
        return (
            UnsafeRawBufferPointer(start: start, count: count),
            UnsafeRawBufferPointer(start: start + count + 1, count: self.count - count - 2)
        )
    }
}
