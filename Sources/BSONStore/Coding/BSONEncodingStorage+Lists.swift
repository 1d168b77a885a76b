extension BSONEncodingStorage {
    /// Writes an array of primitives in one go, as its elements would write themselves.
    func put<T>(list value: T, _ kind: BSONNativeKind, _ typeIndex: Int) {
        buffer.base[typeIndex] = BSONType.array.rawValue
        switch kind {
        case .strings: elements(value, .string) { (text: String) in put(text) }
        case .ints: elements(value, .int64) { (number: Int) in buffer.put(little: Int64(number)) }
        case .doubles:
            elements(value, .double) { (number: Double) in buffer.put(little: number.bitPattern) }
        case .bools: elements(value, .bool) { (flag: Bool) in buffer.put(flag ? 1 as UInt8 : 0) }
        case .int64s: elements(value, .int64) { (number: Int64) in buffer.put(little: number) }
        case .int32s: elements(value, .int32) { (number: Int32) in buffer.put(little: number) }
        case .int, .string, .double, .bool, .int64, .int32, .date, .uuid, .data, .url, .decimal,
            .value, .document, .array, .objectID, .decimal128, .binary, .datetime, .timestamp,
            .regularExpression, .dbPointer, .javascriptWithScope, .int16, .int8, .uint, .uint64,
            .uint32, .uint16, .uint8, .float:
            preconditionFailure("Only arrays are lists.")
        }
    }

    @inline(__always)
    private func elements<T, V>(_ value: T, _ type: BSONType, _ write: (V) -> Void) {
        let start = buffer.count
        buffer.reserve(4)
        buffer.put(little: 0 as Int32)
        for (index, element) in reinterpret(value, as: [V].self).enumerated() {
            head(type.rawValue, index: index)
            write(element)
        }
        buffer.reserve(1)
        buffer.put(0 as UInt8)
        buffer.patch(length: buffer.count - start, at: start)
    }
}
