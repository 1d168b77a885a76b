/// Collects the bytes that the containers of one encoding write.
final class BSONEncodingStorage {
    let encoder: BSONEncoder
    /// Whether absent optionals and dictionaries leave marks for `BSONEncodingMerge`.
    let marksOmitted: Bool
    let hasDefaultKeys: Bool
    @exclusivity(unchecked) var buffer = BSONByteBuffer(capacity: 2_048)
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
            var hasNull = false
            for index in 0..<utf8.count {
                hasNull = hasNull || start[index] == 0
                buffer.put(start[index])
            }
            buffer.put(0 as UInt8)
            return !hasNull
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

    /// Writes any value.
    func put(_ value: BSONValue) {
        let count = BSONWriter.count(value)
        buffer.reserve(count)
        _ = BSONWriter.write(value, UnsafeMutableRawPointer(buffer.tail))
        buffer.count += count
    }
}
