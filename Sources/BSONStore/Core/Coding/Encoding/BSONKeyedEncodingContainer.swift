/// A container that writes the elements of a document.
struct BSONKeyedEncodingContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    /// The node, which its use keeps alive, and `owner` after its escape.
    private let unmanagedNode: Unmanaged<BSONEncodingNode>
    private let owner: BSONNodeOwner<BSONEncodingNode>
    /// The storage's memory, valid as long as the node.
    private let buffer: UnsafeMutablePointer<BSONByteBuffer>
    /// Whether documents use the coding keys unchanged.
    private let usesKeysUnchanged: Bool

    init(node: BSONEncodingNode, owner: BSONNodeOwner<BSONEncodingNode>) {
        unmanagedNode = .passUnretained(node)
        self.owner = owner
        buffer = node.storage.buffer
        usesKeysUnchanged = node.storage.hasDefaultKeys || node.keysAreData
    }

    private var node: BSONEncodingNode { unmanagedNode.takeUnretainedValue() }

    var codingPath: [any CodingKey] { node.codingPath }

    @inline(__always)
    private func head(_ typeByte: UInt8, key: String) -> Bool {
        usesKeysUnchanged
            ? buffer.pointee.head(typeByte, key) : node.storage.head(typeByte, key: key)
    }

    @inline(__always)
    private func head(_ type: BSONType, key: Key) throws {
        guard head(type.rawValue, key: key.stringValue) else {
            throw BSONEncodingError.nullInKey(key, at: node)
        }
    }

    func encodeNil(forKey key: Key) throws { try head(.null, key: key) }

    func encode(_ value: Bool, forKey key: Key) throws {
        try head(.bool, key: key)
        buffer.pointee.put(value ? 1 as UInt8 : 0)
    }

    func encode(_ value: String, forKey key: Key) throws {
        try head(.string, key: key)
        buffer.pointee.put(text: value)
    }

    func encode(_ value: Double, forKey key: Key) throws {
        try head(.double, key: key)
        buffer.pointee.put(little: value.bitPattern)
    }

    func encode(_ value: Float, forKey key: Key) throws {
        try encode(Double(shortest: value), forKey: key)
    }

    func encode(_ value: Int, forKey key: Key) throws { try encode(Int64(value), forKey: key) }

    func encode(_ value: Int8, forKey key: Key) throws { try encode(Int32(value), forKey: key) }

    func encode(_ value: Int16, forKey key: Key) throws { try encode(Int32(value), forKey: key) }

    func encode(_ value: Int32, forKey key: Key) throws {
        try head(.int32, key: key)
        buffer.pointee.put(little: value)
    }

    func encode(_ value: Int64, forKey key: Key) throws {
        try head(.int64, key: key)
        buffer.pointee.put(little: value)
    }

    func encode(_ value: UInt, forKey key: Key) throws {
        guard let signed = Int64(exactly: value) else {
            throw BSONEncodingError.tooLarge(value, at: node, key: key)
        }
        try encode(signed, forKey: key)
    }

    func encode(_ value: UInt8, forKey key: Key) throws { try encode(Int32(value), forKey: key) }

    func encode(_ value: UInt16, forKey key: Key) throws { try encode(Int32(value), forKey: key) }

    func encode(_ value: UInt32, forKey key: Key) throws { try encode(Int64(value), forKey: key) }

    func encode(_ value: UInt64, forKey key: Key) throws {
        guard let signed = Int64(exactly: value) else {
            throw BSONEncodingError.tooLarge(value, at: node, key: key)
        }
        try encode(signed, forKey: key)
    }

    func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
        let mark = buffer.pointee.count
        guard head(0, key: key.stringValue) else {
            throw BSONEncodingError.nullInKey(key, at: node)
        }
        do {
            try unmanagedNode._withUnsafeGuaranteedRef {
                try $0.encodeElement(value, key: key, typeIndex: mark)
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
            guard node.storage.isMarked else { return }
            guard head(BSONEncodingMarks.omittedByte, key: key.stringValue) else {
                throw BSONEncodingError.nullInKey(key, at: node)
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
        detach(key.stringValue, key: key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        detach(key.stringValue, key: key).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { detach("super", key: BSONPositionKey.superclass) }

    func superEncoder(forKey key: Key) -> any Encoder { detach(key.stringValue, key: key) }

    private func detach(_ name: String, key: any CodingKey) -> BSONEncodingNode {
        let mark = buffer.pointee.count
        if !head(0, key: name) {
            node.storage.failure = BSONEncodingError.nullInKey(key, at: node)
            buffer.pointee.count = mark
            _ = head(0, key: "")
        }
        return node.detach(key: key, typeIndex: mark)
    }
}
