/// Writes the elements of a document.
struct BSONKeyedEncodingContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let node: BSONEncodingNode

    var codingPath: [any CodingKey] { node.codingPath }

    @inline(__always)
    private func head(_ type: BSONType, _ key: Key) throws {
        guard node.storage.head(type.rawValue, key.stringValue) else {
            throw BSONEncodingError.nullInKey(node, key)
        }
    }

    func encodeNil(forKey key: Key) throws { try head(.null, key) }

    func encode(_ value: Bool, forKey key: Key) throws {
        try head(.bool, key)
        node.storage.buffer.put(value ? 1 as UInt8 : 0)
    }

    func encode(_ value: String, forKey key: Key) throws {
        try head(.string, key)
        node.storage.put(value)
    }

    func encode(_ value: Double, forKey key: Key) throws {
        try head(.double, key)
        node.storage.buffer.put(little: value.bitPattern)
    }

    func encode(_ value: Float, forKey key: Key) throws { try encode(Double(value), forKey: key) }

    func encode(_ value: Int, forKey key: Key) throws { try encode(Int64(value), forKey: key) }

    func encode(_ value: Int8, forKey key: Key) throws { try encode(Int32(value), forKey: key) }

    func encode(_ value: Int16, forKey key: Key) throws { try encode(Int32(value), forKey: key) }

    func encode(_ value: Int32, forKey key: Key) throws {
        try head(.int32, key)
        node.storage.buffer.put(little: value)
    }

    func encode(_ value: Int64, forKey key: Key) throws {
        try head(.int64, key)
        node.storage.buffer.put(little: value)
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
        let mark = node.storage.buffer.count
        guard node.storage.head(0, key.stringValue) else {
            throw BSONEncodingError.nullInKey(node, key)
        }
        do {
            try node.encodeElement(value, key, typeIndex: mark)
        } catch {
            node.storage.buffer.count = mark
            throw error
        }
    }

    /// Leaves an absent optional out, or writes null or a mark for it.
    private func encodeAbsent(_ key: Key) throws {
        switch node.storage.encoder.strategies.nils {
        case .encodeNull: try encodeNil(forKey: key)
        case .omit:
            guard node.storage.marksOmitted else { return }
            guard node.storage.head(BSONEncodingMerge.omittedByte, key.stringValue) else {
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
        let mark = node.storage.buffer.count
        let isValid = node.storage.head(0, name)
        precondition(isValid, "A key cannot hold NUL.")
        return node.detach(key: key, typeIndex: mark)
    }
}
