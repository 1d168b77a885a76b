extension BSONDocument {
    /// Appends an element without looking whether the key is there already.
    public mutating func append(_ key: String, _ value: BSONValue) {
        var bytes = self.bytes
        bytes.removeLast()
        Self.write(key, value, to: &bytes)
        self = Self.closing(bytes)
    }

    /// Replaces the value of a key in place, appends a new key, or removes it for `nil`.
    mutating func set(_ key: String, to value: BSONValue?) {
        var written = false
        var bytes: [UInt8] = [0, 0, 0, 0]
        for element in self {
            guard element.key == key else {
                Self.write(element.key, element.value, to: &bytes)
                continue
            }
            if let value, !written { Self.write(key, value, to: &bytes) }
            written = true
        }
        if let value, !written { Self.write(key, value, to: &bytes) }
        self = Self.closing(bytes)
    }

    /// Removes a top-level key and returns its value.
    @discardableResult
    public mutating func removeValue(forKey key: String) -> BSONValue? {
        guard let value = self[key] else { return nil }
        self[key] = nil
        return value
    }

    private static func closing(_ open: [UInt8]) -> BSONDocument {
        var bytes = open
        bytes.append(0)
        Swift.withUnsafeBytes(of: Int32(bytes.count).littleEndian) { length in
            for (index, byte) in length.enumerated() { bytes[index] = byte }
        }
        return BSONDocument(unchecked: bytes)
    }

    private static func write(_ key: String, _ value: BSONValue, to bytes: inout [UInt8]) {
        bytes.append(value.type.rawValue)
        writeCString(key, to: &bytes)
        switch value {
        case .double(let value): write(value.bitPattern, to: &bytes)
        case .string(let value), .javascript(let value), .symbol(let value):
            writeString(value, to: &bytes)
        case .document(let value): bytes += value.bytes
        case .array(let value): bytes += value.document.bytes
        case .binary(let value):
            let inner = value.subtype == 2 ? value.bytes.count + 4 : value.bytes.count
            write(Int32(inner), to: &bytes)
            bytes.append(value.subtype)
            if value.subtype == 2 { write(Int32(value.bytes.count), to: &bytes) }
            bytes += value.bytes
        case .undefined, .null, .minKey, .maxKey: break
        case .objectID(let value): bytes += value.bytes
        case .bool(let value): bytes.append(value ? 1 : 0)
        case .datetime(let value): write(value.milliseconds, to: &bytes)
        case .regularExpression(let value):
            writeCString(value.pattern, to: &bytes)
            writeCString(value.options, to: &bytes)
        case .dbPointer(let value):
            writeString(value.namespace, to: &bytes)
            bytes += value.id.bytes
        case .javascriptWithScope(let value):
            write(Int32(4 + 4 + value.code.utf8.count + 1 + value.scope.byteCount), to: &bytes)
            writeString(value.code, to: &bytes)
            bytes += value.scope.bytes
        case .int32(let value): write(value, to: &bytes)
        case .timestamp(let value):
            write(value.increment, to: &bytes)
            write(value.seconds, to: &bytes)
        case .int64(let value): write(value, to: &bytes)
        case .decimal128(let value):
            write(value.low, to: &bytes)
            write(value.high, to: &bytes)
        }
    }

    private static func write(_ value: some FixedWidthInteger, to bytes: inout [UInt8]) {
        Swift.withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    private static func writeString(_ value: String, to bytes: inout [UInt8]) {
        write(Int32(value.utf8.count + 1), to: &bytes)
        bytes.append(contentsOf: value.utf8)
        bytes.append(0)
    }

    private static func writeCString(_ value: String, to bytes: inout [UInt8]) {
        bytes.append(contentsOf: value.utf8.prefix { $0 != 0 })
        bytes.append(0)
    }
}
