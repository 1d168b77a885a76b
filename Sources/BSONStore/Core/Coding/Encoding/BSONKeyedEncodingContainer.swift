/// A container that writes the elements of a document.
struct BSONKeyedEncodingContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    private let unmanaged: Unmanaged<BSONEncodingNode>
    /// The reference that keeps the node alive when nothing else does.
    private let keeper: BSONNodeOwner<BSONEncodingNode>
    private let buffer: UnsafeMutablePointer<BSONByteBuffer>
    private let hasDefaultKeys: Bool

    init(node: BSONEncodingNode, keeper: BSONNodeOwner<BSONEncodingNode>) {
        unmanaged = .passUnretained(node)
        self.keeper = keeper
        buffer = node.storage.buffer
        hasDefaultKeys = node.storage.hasDefaultKeys || node.keepsKeys
    }

    private var node: BSONEncodingNode { unmanaged.takeUnretainedValue() }

    var codingPath: [any CodingKey] { node.codingPath }

    @inline(__always)
    private func head(_ typeByte: UInt8, _ key: String) -> Bool {
        hasDefaultKeys ? buffer.pointee.head(typeByte, key) : node.storage.head(typeByte, key)
    }

    @inline(__always)
    private func head(_ type: BSONType, _ key: Key) throws {
        guard head(type.rawValue, key.stringValue) else {
            throw BSONEncodingError.nullInKey(node, key)
        }
    }

    func encodeNil(forKey key: Key) throws { try head(.null, key) }

    func encode(_ value: Bool, forKey key: Key) throws {
        try head(.bool, key)
        buffer.pointee.put(value ? 1 as UInt8 : 0)
    }

    func encode(_ value: String, forKey key: Key) throws {
        try head(.string, key)
        buffer.pointee.put(text: value)
    }

    func encode(_ value: Double, forKey key: Key) throws {
        try head(.double, key)
        buffer.pointee.put(little: value.bitPattern)
    }

    func encode(_ value: Float, forKey key: Key) throws { try encode(Double(value), forKey: key) }

    func encode(_ value: Int, forKey key: Key) throws { try encode(Int64(value), forKey: key) }

    func encode(_ value: Int8, forKey key: Key) throws { try encode(Int32(value), forKey: key) }

    func encode(_ value: Int16, forKey key: Key) throws { try encode(Int32(value), forKey: key) }

    func encode(_ value: Int32, forKey key: Key) throws {
        try head(.int32, key)
        buffer.pointee.put(little: value)
    }

    func encode(_ value: Int64, forKey key: Key) throws {
        try head(.int64, key)
        buffer.pointee.put(little: value)
    }

    func encode(_ value: UInt, forKey key: Key) throws {
        guard let signed = Int64(exactly: value) else {
            throw BSONEncodingError.tooLarge(value, node, key)
        }
        try encode(signed, forKey: key)
    }

    func encode(_ value: UInt8, forKey key: Key) throws { try encode(Int32(value), forKey: key) }

    func encode(_ value: UInt16, forKey key: Key) throws { try encode(Int32(value), forKey: key) }

    func encode(_ value: UInt32, forKey key: Key) throws { try encode(Int64(value), forKey: key) }

    func encode(_ value: UInt64, forKey key: Key) throws {
        guard let signed = Int64(exactly: value) else {
            throw BSONEncodingError.tooLarge(value, node, key)
        }
        try encode(signed, forKey: key)
    }

    func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
        let mark = buffer.pointee.count
        guard head(0, key.stringValue) else {
            throw BSONEncodingError.nullInKey(node, key)
        }
        do {
            try unmanaged._withUnsafeGuaranteedRef {
                try $0.encodeElement(value, key, typeIndex: mark)
            }
        } catch {
            buffer.pointee.count = mark
            throw error
        }
    }

    /// Omits an absent optional, or writes null or a mark for it.
    private func encodeAbsent(_ key: Key) throws {
        switch node.storage.encoder.strategies.nils {
        case .encodeNull: try encodeNil(forKey: key)
        case .omit:
            guard node.storage.marksOmitted else { return }
            guard head(BSONEncodingMerge.omittedByte, key.stringValue) else {
                throw BSONEncodingError.nullInKey(node, key)
            }
        }
    }

    func encodeIfPresent<T: Encodable>(_ value: T?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { try encodeAbsent(key) }
    }

    func encodeIfPresent(_ value: Bool?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { try encodeAbsent(key) }
    }

    func encodeIfPresent(_ value: String?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { try encodeAbsent(key) }
    }

    func encodeIfPresent(_ value: Double?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { try encodeAbsent(key) }
    }

    func encodeIfPresent(_ value: Float?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { try encodeAbsent(key) }
    }

    func encodeIfPresent(_ value: Int?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { try encodeAbsent(key) }
    }

    func encodeIfPresent(_ value: Int8?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { try encodeAbsent(key) }
    }

    func encodeIfPresent(_ value: Int16?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { try encodeAbsent(key) }
    }

    func encodeIfPresent(_ value: Int32?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { try encodeAbsent(key) }
    }

    func encodeIfPresent(_ value: Int64?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { try encodeAbsent(key) }
    }

    func encodeIfPresent(_ value: UInt?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { try encodeAbsent(key) }
    }

    func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { try encodeAbsent(key) }
    }

    func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { try encodeAbsent(key) }
    }

    func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { try encodeAbsent(key) }
    }

    func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { try encodeAbsent(key) }
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        detach(key.stringValue, key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        detach(key.stringValue, key).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { detach("super", BSONPositionKey.superclass) }

    func superEncoder(forKey key: Key) -> any Encoder { detach(key.stringValue, key) }

    private func detach(_ name: String, _ key: any CodingKey) -> BSONEncodingNode {
        let mark = buffer.pointee.count
        if !head(0, name) {
            node.storage.failure = BSONEncodingError.nullInKey(node, key)
            buffer.pointee.count = mark
            _ = head(0, "")
        }
        return node.detach(key: key, typeIndex: mark)
    }
}
