/// A container that reads the elements of a document.
struct BSONKeyedDecodingContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    private let unmanaged: Unmanaged<BSONDecodingNode>
    /// The reference that keeps the node alive when nothing else does.
    private let keeper: BSONNodeOwner<BSONDecodingNode>
    private let search: UnsafeMutablePointer<BSONKeySearch>
    private let hasDefaultKeys: Bool

    init(node: BSONDecodingNode, keeper: BSONNodeOwner<BSONDecodingNode>) {
        unmanaged = .passUnretained(node)
        self.keeper = keeper
        search = node.search
        hasDefaultKeys = node.context.hasDefaultKeys || node.keepsKeys
    }

    private var node: BSONDecodingNode { unmanaged.takeUnretainedValue() }

    @inline(__always)
    private func find(_ key: String) -> BSONRawValue? {
        hasDefaultKeys
            ? search.pointee.find(key) : search.pointee.find(node.context.documentKey(key))
    }

    var codingPath: [any CodingKey] { node.codingPath }

    /// The keys that the type knows; a strategy that renames keys leaves them as in the document.
    var allKeys: [Key] {
        var keys: [Key] = []
        var cursor = BSONCursor(node.raw)
        while let element = cursor.next() {
            if let key = Key(stringValue: String(validUTF8: element.key)) { keys.append(key) }
        }
        return keys
    }

    func contains(_ key: Key) -> Bool { find(key.stringValue) != nil }

    @inline(__always)
    private func value(_ key: Key) throws -> BSONRawValue {
        guard let raw = find(key.stringValue) else {
            throw BSONDecodingError.missing(node, key)
        }
        return raw
    }

    /// Returns the value of a key, unless it is missing or null.
    @inline(__always)
    private func present(_ key: Key) -> BSONRawValue? {
        guard let raw = find(key.stringValue), !BSONDecodingNode.isNil(raw) else {
            return nil
        }
        return raw
    }

    @inline(never)
    private func refused(_ type: any Any.Type, _ raw: BSONRawValue, _ key: Key) -> DecodingError {
        BSONDecodingError.refused(type, raw, node, key)
    }

    func decodeNil(forKey key: Key) throws -> Bool { BSONDecodingNode.isNil(try value(key)) }

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
        let raw = try value(key)
        guard let value = BSONDecodingNode.bool(raw) else { throw refused(type, raw, key) }
        return value
    }

    func decode(_ type: String.Type, forKey key: Key) throws -> String {
        let raw = try value(key)
        guard let value = BSONDecodingNode.string(raw) else { throw refused(type, raw, key) }
        return value
    }

    func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
        let raw = try value(key)
        guard let value = BSONDecodingNode.double(raw) else { throw refused(type, raw, key) }
        return value
    }

    func decode(_ type: Float.Type, forKey key: Key) throws -> Float {
        let raw = try value(key)
        guard let value = BSONDecodingNode.float(raw) else { throw refused(type, raw, key) }
        return value
    }

    func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
        let raw = try value(key)
        guard let value = BSONDecodingNode.integer(type, raw) else { throw refused(type, raw, key) }
        return value
    }

    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 {
        let raw = try value(key)
        guard let value = BSONDecodingNode.integer(type, raw) else { throw refused(type, raw, key) }
        return value
    }

    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 {
        let raw = try value(key)
        guard let value = BSONDecodingNode.integer(type, raw) else { throw refused(type, raw, key) }
        return value
    }

    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 {
        let raw = try value(key)
        guard let value = BSONDecodingNode.integer(type, raw) else { throw refused(type, raw, key) }
        return value
    }

    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 {
        let raw = try value(key)
        guard let value = BSONDecodingNode.integer(type, raw) else { throw refused(type, raw, key) }
        return value
    }

    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt {
        let raw = try value(key)
        guard let value = BSONDecodingNode.integer(type, raw) else { throw refused(type, raw, key) }
        return value
    }

    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 {
        let raw = try value(key)
        guard let value = BSONDecodingNode.integer(type, raw) else { throw refused(type, raw, key) }
        return value
    }

    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 {
        let raw = try value(key)
        guard let value = BSONDecodingNode.integer(type, raw) else { throw refused(type, raw, key) }
        return value
    }

    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 {
        let raw = try value(key)
        guard let value = BSONDecodingNode.integer(type, raw) else { throw refused(type, raw, key) }
        return value
    }

    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 {
        let raw = try value(key)
        guard let value = BSONDecodingNode.integer(type, raw) else { throw refused(type, raw, key) }
        return value
    }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        let raw = try value(key)
        return try unmanaged._withUnsafeGuaranteedRef { try $0.element(type, raw, key) }
    }

    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
        guard let raw = present(key) else { return nil }
        guard let value = BSONDecodingNode.bool(raw) else { throw refused(type, raw, key) }
        return value
    }

    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
        guard let raw = present(key) else { return nil }
        guard let value = BSONDecodingNode.string(raw) else { throw refused(type, raw, key) }
        return value
    }

    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
        guard let raw = present(key) else { return nil }
        guard let value = BSONDecodingNode.double(raw) else { throw refused(type, raw, key) }
        return value
    }

    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? {
        guard let raw = present(key) else { return nil }
        guard let value = BSONDecodingNode.float(raw) else { throw refused(type, raw, key) }
        return value
    }

    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
        guard let raw = present(key) else { return nil }
        guard let value = BSONDecodingNode.integer(type, raw) else { throw refused(type, raw, key) }
        return value
    }

    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? {
        guard let raw = present(key) else { return nil }
        guard let value = BSONDecodingNode.integer(type, raw) else { throw refused(type, raw, key) }
        return value
    }

    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? {
        guard let raw = present(key) else { return nil }
        guard let value = BSONDecodingNode.integer(type, raw) else { throw refused(type, raw, key) }
        return value
    }

    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? {
        guard let raw = present(key) else { return nil }
        guard let value = BSONDecodingNode.integer(type, raw) else { throw refused(type, raw, key) }
        return value
    }

    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
        guard let raw = present(key) else { return nil }
        guard let value = BSONDecodingNode.integer(type, raw) else { throw refused(type, raw, key) }
        return value
    }

    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? {
        guard let raw = present(key) else { return nil }
        guard let value = BSONDecodingNode.integer(type, raw) else { throw refused(type, raw, key) }
        return value
    }

    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? {
        guard let raw = present(key) else { return nil }
        guard let value = BSONDecodingNode.integer(type, raw) else { throw refused(type, raw, key) }
        return value
    }

    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? {
        guard let raw = present(key) else { return nil }
        guard let value = BSONDecodingNode.integer(type, raw) else { throw refused(type, raw, key) }
        return value
    }

    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? {
        guard let raw = present(key) else { return nil }
        guard let value = BSONDecodingNode.integer(type, raw) else { throw refused(type, raw, key) }
        return value
    }

    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? {
        guard let raw = present(key) else { return nil }
        guard let value = BSONDecodingNode.integer(type, raw) else { throw refused(type, raw, key) }
        return value
    }

    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
        guard let raw = present(key) else { return nil }
        return try unmanaged._withUnsafeGuaranteedRef { try $0.element(type, raw, key) }
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> { try child(key).container(keyedBy: type) }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try child(key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder {
        guard let raw = find("super") else {
            throw BSONDecodingError.missing(node, BSONPositionKey.superclass)
        }
        return BSONDecodingNode(keeping: node, raw, key: BSONPositionKey.superclass)
    }

    func superDecoder(forKey key: Key) throws -> any Decoder { try child(key) }

    private func child(_ key: Key) throws -> BSONDecodingNode {
        BSONDecodingNode(keeping: node, try value(key), key: key)
    }
}
