extension BSONEncodingStorage {
    /// Writes an array of primitives in one go, as its elements would write themselves one by one.
    func put<T>(list value: T, kind: BSONNativeKind, typeIndex: Int) {
        buffer.pointee.base[typeIndex] = BSONType.array.rawValue
        let to = buffer
        switch kind {
        case .strings: elements(value, .string) { to.pointee.put(text: $0) }
        case .ints:
            elements(value, .int64) { (number: Int) in to.pointee.put(little: Int64(number)) }
        case .doubles:
            elements(value, .double) { (number: Double) in
                to.pointee.put(little: number.bitPattern)
            }
        case .bools:
            elements(value, .bool) { (flag: Bool) in to.pointee.put(flag ? 1 as UInt8 : 0) }
        case .int64s: elements(value, .int64) { (number: Int64) in to.pointee.put(little: number) }
        case .int32s: elements(value, .int32) { (number: Int32) in to.pointee.put(little: number) }
        case .int, .string, .double, .bool, .int64, .int32, .date, .uuid, .data, .url, .decimal,
            .value, .document, .array, .objectID, .decimal128, .binary, .datetime, .timestamp,
            .regularExpression, .dbPointer, .javascriptWithScope, .int16, .int8, .uint, .uint64,
            .uint32, .uint16, .uint8, .float:
            preconditionFailure("Only arrays are lists.")
        }
    }

    @inline(__always)
    private func elements<T, V>(_ value: T, _ type: BSONType, _ write: (V) -> Void) {
        let start = buffer.pointee.count
        buffer.pointee.reserve(4)
        buffer.pointee.put(little: 0 as Int32)
        for (index, element) in reinterpret(value, as: [V].self).enumerated() {
            buffer.pointee.head(type.rawValue, index: index)
            write(element)
        }
        buffer.pointee.reserve(1)
        buffer.pointee.put(0 as UInt8)
        buffer.pointee.patch(length: buffer.pointee.count - start, at: start)
    }
}
