/// Values encoded as bytes that sort in MongoDB's order of values, across all types.
///
/// Values that MongoDB treats as equal have equal keys: numbers of any width, `-0.0` and `0.0`, all
/// NaNs, a symbol and a string. A key marks its own end, so keys can be concatenated.
package enum BSONKey {
    /// Returns the key of one value; that of an ObjectId in one allocation.
    package static func encode(_ value: BSONValue) -> [UInt8] {
        if case .objectID = value { return lend(value) { Array($0) } }
        var key: [UInt8] = []
        key.reserveCapacity(24)
        append(value, to: &key)
        return key
    }

    /// Calls a closure with the key of one value; that of an ObjectId needs no heap memory.
    package static func lend<R, E: Error>(
        _ value: BSONValue, _ body: (UnsafeRawBufferPointer) throws(E) -> R
    ) throws(E) -> R {
        guard case .objectID(let id) = value else { return try encode(value).withLentBytes(body) }
        return try withUnsafeTemporaryAllocation(byteCount: 16, alignment: 8) {
            (key) throws(E) -> R in
            key.storeBytes(of: classByte(of: .objectID), as: UInt8.self)
            key.storeBytes(of: id.high.bigEndian, toByteOffset: 1, as: UInt64.self)
            key.storeBytes(of: id.low.bigEndian, toByteOffset: 9, as: UInt32.self)
            return try body(UnsafeRawBufferPointer(rebasing: key[..<13]))
        }
    }

    /// Appends a value's class byte and its payload.
    package static func append(_ value: BSONValue, to key: inout [UInt8]) {
        key.append(classByte(of: value.type))
        appendPayload(value, to: &key)
    }

    /// Appends the class byte and the payload of a value in a valid document.
    package static func append(_ value: BSONRawValue, to key: inout [UInt8]) {
        switch value.typeByte {
        case BSONType.int32.rawValue:
            key.append(classByte(of: .int32))
            append(number: Double(value.int32), to: &key)
        case BSONType.double.rawValue:
            key.append(classByte(of: .double))
            append(number: value.double, to: &key)
        case BSONType.string.rawValue:
            key.append(classByte(of: .string))
            // Behind the length, before the terminator.
            append(text: value.bytes[4..<value.count - 1], to: &key)
        case BSONType.objectID.rawValue:
            key.append(classByte(of: .objectID))
            key.append(contentsOf: value.bytes)
        default: append(BSONValue(copying: value), to: &key)
        }
    }

    /// Returns the place of a type in MongoDB's order; types that compare by value share it.
    ///
    /// Source: MongoDB manual, "Comparison/Sort Order".
    package static func classByte(of type: BSONType) -> UInt8 {
        switch type {
        case .double, .int32, .int64, .decimal128: 0x20
        case .string, .symbol: 0x28
        case .document: 0x30
        case .array: 0x38
        case .binary: 0x40
        case .undefined: 0x10
        case .objectID: 0x48
        case .bool: 0x50
        case .datetime: 0x58
        case .null: 0x18
        case .regularExpression: 0x68
        case .dbPointer: 0x70
        case .javascript: 0x78
        case .javascriptWithScope: 0x80
        case .timestamp: 0x60
        case .minKey: 0x08
        case .maxKey: 0xF0
        }
    }

    private static func appendPayload(_ value: BSONValue, to key: inout [UInt8]) {
        switch value {
        case .double(let value): append(number: value, to: &key)
        case .string(let value), .javascript(let value), .symbol(let value):
            append(text: value, to: &key)
        case .document(let value): append(document: value, to: &key)
        case .array(let value):
            for element in value {
                _ = WorkBudget.isOver()
                append(element, to: &key)
            }
            key.append(0)
        case .binary(let value):
            // As on the wire, where subtype 2 counts its inner length.
            let count = value.bytes.count + (value.subtype == 2 ? 4 : 0)
            append(bigEndian: UInt32(truncatingIfNeeded: count), to: &key)
            key.append(value.subtype)
            key += value.bytes
        case .undefined, .null, .minKey, .maxKey: break
        case .objectID(let value):
            append(bigEndian: value.high, to: &key)
            append(bigEndian: value.low, to: &key)
        case .bool(let value): key.append(value ? 1 : 0)
        case .datetime(let value):
            append(bigEndian: UInt64(bitPattern: value.milliseconds ^ .min), to: &key)
        case .regularExpression(let value):
            append(text: value.pattern, to: &key)
            append(text: value.options, to: &key)
        case .dbPointer(let value):
            append(bigEndian: UInt32(truncatingIfNeeded: value.namespace.utf8.count), to: &key)
            key += value.namespace.utf8
            key += value.id.bytes
        case .javascriptWithScope(let value):
            append(text: value.code, to: &key)
            append(document: value.scope, to: &key)
        case .int32(let value): append(number: Double(value), to: &key)
        case .timestamp(let value):
            append(bigEndian: value.seconds, to: &key)
            append(bigEndian: value.increment, to: &key)
        case .int64(let value): append(number: value, to: &key)
        case .decimal128(let value): append(number: value, to: &key)
        }
    }

    /// Appends class, name and value of each field: MongoDB compares types, then names, then
    /// values.
    private static func append(document: BSONDocument, to key: inout [UInt8]) {
        for (name, value) in document {
            _ = WorkBudget.isOver()
            key.append(classByte(of: value.type))
            append(text: name, to: &key)
            appendPayload(value, to: &key)
        }
        key.append(0)
    }

    /// Appends UTF-8 with NUL as 00 FF and 00 01 at the end, so that a prefix sorts first.
    private static func append(text: String, to key: inout [UInt8]) {
        append(text: text.utf8, to: &key)
    }

    private static func append(text: some Sequence<UInt8>, to key: inout [UInt8]) {
        for byte in text {
            key.append(byte)
            if byte == 0 { key.append(0xFF) }
        }
        key.append(0)
        key.append(1)
    }

    static func append(bigEndian value: some FixedWidthInteger, to key: inout [UInt8]) {
        withUnsafeBytes(of: value.bigEndian) { key.append(contentsOf: $0) }
    }
}
