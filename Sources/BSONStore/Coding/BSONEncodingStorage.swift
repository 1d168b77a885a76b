/// Collects the bytes that the containers of one encoding write.
final class BSONEncodingStorage {
    let encoder: BSONEncoder
    /// Whether absent optionals and dictionaries leave marks for `BSONEncodingMerge`.
    let marksOmitted: Bool
    let hasDefaultKeys: Bool
    @exclusivity(unchecked) var buffer = BSONByteBuffer(capacity: 1_000)
    @exclusivity(unchecked) private var convertedKeys: [String: String] = [:]

    init(_ encoder: BSONEncoder, marksOmitted: Bool) {
        self.encoder = encoder
        self.marksOmitted = marksOmitted
        hasDefaultKeys = encoder.strategies.keys.isDefault
    }

    /// Writes type and key and makes room for a fixed value; `nil` when the key holds NUL.
    @inline(__always)
    func head(_ typeByte: UInt8, _ key: String) -> Bool {
        var key = hasDefaultKeys ? key : converted(key)
        return key.withUTF8 { utf8 in
            buffer.reserve(utf8.count + 32)
            buffer.put(typeByte)
            guard let start = utf8.baseAddress else {
                buffer.put(0 as UInt8)
                return true
            }
            let isValid = buffer.put(nonzero: start, count: utf8.count)
            buffer.put(0 as UInt8)
            return isValid
        }
    }

    /// Writes type and position and makes room for a fixed value.
    @inline(__always)
    func head(_ typeByte: UInt8, index: Int) {
        buffer.reserve(64)
        buffer.put(typeByte)
        buffer.put(digits: index)
        buffer.put(0 as UInt8)
    }

    private func converted(_ key: String) -> String {
        if let known = convertedKeys[key] { return known }
        let converted = encoder.strategies.keys.documentKey(key)
        convertedKeys[key] = converted
        return converted
    }

    /// Writes a string's value.
    @inline(__always)
    func put(_ text: String) {
        var text = text
        text.withUTF8 { utf8 in
            buffer.reserve(utf8.count + 5)
            buffer.put(little: Int32(truncatingIfNeeded: utf8.count + 1))
            if let start = utf8.baseAddress { buffer.put(start, count: utf8.count) }
            buffer.put(0 as UInt8)
        }
    }

    /// Writes a value of a common type at once; tells whether it was one.
    @inline(__always)
    func put<T>(_ value: T, _ kind: BSONNativeKind, _ typeIndex: Int) -> Bool {
        if kind == .objectID {
            buffer.base[typeIndex] = BSONType.objectID.rawValue
            buffer.reserve(12)
            let id = reinterpret(value, as: BSONObjectID.self)
            _ = BSONWriter.objectID(id, UnsafeMutableRawPointer(buffer.tail))
            buffer.count += 12
            return true
        }
        if kind == .string {
            buffer.base[typeIndex] = BSONType.string.rawValue
            put(reinterpret(value, as: String.self))
            return true
        }
        return false
    }

    /// Writes any value.
    func put(_ value: BSONValue) {
        let count = BSONWriter.count(value)
        buffer.reserve(count)
        _ = BSONWriter.write(value, UnsafeMutableRawPointer(buffer.tail))
        buffer.count += count
    }
}
