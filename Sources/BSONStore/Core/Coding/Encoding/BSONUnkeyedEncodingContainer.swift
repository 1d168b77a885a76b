/// A container that writes the elements of an array.
struct BSONUnkeyedEncodingContainer: UnkeyedEncodingContainer {
    let node: BSONEncodingNode

    var codingPath: [any CodingKey] { node.codingPath }
    var count: Int { node.elementCount }

    private var nextKey: BSONPositionKey { BSONPositionKey(index: node.elementCount) }

    func encodeNil() throws { node.head(.null) }

    func encode(_ value: Bool) throws {
        node.head(.bool)
        node.buffer.pointee.put(value ? 1 as UInt8 : 0)
    }

    func encode(_ value: String) throws {
        node.head(.string)
        node.buffer.pointee.put(text: value)
    }

    func encode(_ value: Double) throws {
        node.head(.double)
        node.buffer.pointee.put(little: value.bitPattern)
    }

    func encode(_ value: Float) throws { try encode(Double(shortest: value)) }

    func encode(_ value: Int) throws { try encode(Int64(value)) }

    func encode(_ value: Int8) throws { try encode(Int32(value)) }

    func encode(_ value: Int16) throws { try encode(Int32(value)) }

    func encode(_ value: Int32) throws {
        node.head(.int32)
        node.buffer.pointee.put(little: value)
    }

    func encode(_ value: Int64) throws {
        node.head(.int64)
        node.buffer.pointee.put(little: value)
    }

    func encode(_ value: UInt) throws {
        guard let signed = Int64(exactly: value) else {
            throw BSONEncodingError.tooLarge(value, at: node, key: nextKey)
        }
        try encode(signed)
    }

    func encode(_ value: UInt8) throws { try encode(Int32(value)) }

    func encode(_ value: UInt16) throws { try encode(Int32(value)) }

    func encode(_ value: UInt32) throws { try encode(Int64(value)) }

    func encode(_ value: UInt64) throws {
        guard let signed = Int64(exactly: value) else {
            throw BSONEncodingError.tooLarge(value, at: node, key: nextKey)
        }
        try encode(signed)
    }

    func encode<T: Encodable>(_ value: T) throws {
        let mark = node.buffer.pointee.count
        node.buffer.pointee.head(0, index: node.elementCount)
        do {
            try node.encodeElement(value, key: nextKey, typeIndex: mark)
        } catch {
            node.buffer.pointee.count = mark
            throw error
        }
        node.elementCount += 1
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) -> KeyedEncodingContainer<Nested> { detach().container(keyedBy: type) }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { detach().unkeyedContainer() }

    func superEncoder() -> any Encoder { detach() }

    private func detach() -> BSONEncodingNode {
        let mark = node.buffer.pointee.count
        let key = nextKey
        node.buffer.pointee.head(0, index: node.elementCount)
        node.elementCount += 1
        return node.detach(key: key, typeIndex: mark)
    }
}

extension BSONEncodingNode {
    /// Begins the next element of an array.
    @inline(__always)
    func head(_ type: BSONType) {
        buffer.pointee.head(type.rawValue, index: elementCount)
        elementCount += 1
    }
}
