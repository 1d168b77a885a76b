/// A container that reads the elements of an array.
struct BSONUnkeyedDecodingContainer: UnkeyedDecodingContainer {
    private let node: BSONDecodingNode
    private var cursor: BSONCursor
    private var ahead: BSONRawValue?
    private(set) var currentIndex = 0

    init(node: BSONDecodingNode) {
        self.node = node
        cursor = BSONCursor(node.raw)
        ahead = cursor.next()?.value
    }

    var codingPath: [any CodingKey] { node.codingPath }

    var count: Int? {
        var rest = BSONCursor(node.raw)
        var count = 0
        while rest.next() != nil { count += 1 }
        return count
    }

    var isAtEnd: Bool { ahead == nil }

    private var key: BSONPositionKey { BSONPositionKey(index: currentIndex) }

    @inline(__always)
    private func next(_ type: any Any.Type) throws -> BSONRawValue {
        guard let ahead else {
            throw DecodingError.valueNotFound(
                type,
                DecodingError.Context(
                    codingPath: node.codingPath + [key],
                    debugDescription: "The array ends here."))
        }
        return ahead
    }

    /// Steps over the element that was read.
    @inline(__always)
    private mutating func advance() {
        ahead = cursor.next()?.value
        currentIndex += 1
    }

    mutating func decodeNil() throws -> Bool {
        guard BSONDecodingNode.isNil(try next(Never.self)) else { return false }
        advance()
        return true
    }

    mutating func decode(_ type: Bool.Type) throws -> Bool {
        let raw = try next(type)
        guard let value = BSONDecodingNode.bool(raw) else {
            throw BSONDecodingError.refused(type, raw, node, key)
        }
        advance()
        return value
    }

    mutating func decode(_ type: String.Type) throws -> String {
        let raw = try next(type)
        guard let value = BSONDecodingNode.string(raw) else {
            throw BSONDecodingError.refused(type, raw, node, key)
        }
        advance()
        return value
    }

    mutating func decode(_ type: Double.Type) throws -> Double {
        let raw = try next(type)
        guard let value = BSONDecodingNode.double(raw) else {
            throw BSONDecodingError.refused(type, raw, node, key)
        }
        advance()
        return value
    }

    mutating func decode(_ type: Float.Type) throws -> Float {
        let raw = try next(type)
        guard let value = BSONDecodingNode.float(raw) else {
            throw BSONDecodingError.refused(type, raw, node, key)
        }
        advance()
        return value
    }

    mutating func decode(_ type: Int.Type) throws -> Int {
        let raw = try next(type)
        guard let value = BSONDecodingNode.integer(type, raw) else {
            throw BSONDecodingError.refused(type, raw, node, key)
        }
        advance()
        return value
    }

    mutating func decode(_ type: Int8.Type) throws -> Int8 {
        let raw = try next(type)
        guard let value = BSONDecodingNode.integer(type, raw) else {
            throw BSONDecodingError.refused(type, raw, node, key)
        }
        advance()
        return value
    }

    mutating func decode(_ type: Int16.Type) throws -> Int16 {
        let raw = try next(type)
        guard let value = BSONDecodingNode.integer(type, raw) else {
            throw BSONDecodingError.refused(type, raw, node, key)
        }
        advance()
        return value
    }

    mutating func decode(_ type: Int32.Type) throws -> Int32 {
        let raw = try next(type)
        guard let value = BSONDecodingNode.integer(type, raw) else {
            throw BSONDecodingError.refused(type, raw, node, key)
        }
        advance()
        return value
    }

    mutating func decode(_ type: Int64.Type) throws -> Int64 {
        let raw = try next(type)
        guard let value = BSONDecodingNode.integer(type, raw) else {
            throw BSONDecodingError.refused(type, raw, node, key)
        }
        advance()
        return value
    }

    mutating func decode(_ type: UInt.Type) throws -> UInt {
        let raw = try next(type)
        guard let value = BSONDecodingNode.integer(type, raw) else {
            throw BSONDecodingError.refused(type, raw, node, key)
        }
        advance()
        return value
    }

    mutating func decode(_ type: UInt8.Type) throws -> UInt8 {
        let raw = try next(type)
        guard let value = BSONDecodingNode.integer(type, raw) else {
            throw BSONDecodingError.refused(type, raw, node, key)
        }
        advance()
        return value
    }

    mutating func decode(_ type: UInt16.Type) throws -> UInt16 {
        let raw = try next(type)
        guard let value = BSONDecodingNode.integer(type, raw) else {
            throw BSONDecodingError.refused(type, raw, node, key)
        }
        advance()
        return value
    }

    mutating func decode(_ type: UInt32.Type) throws -> UInt32 {
        let raw = try next(type)
        guard let value = BSONDecodingNode.integer(type, raw) else {
            throw BSONDecodingError.refused(type, raw, node, key)
        }
        advance()
        return value
    }

    mutating func decode(_ type: UInt64.Type) throws -> UInt64 {
        let raw = try next(type)
        guard let value = BSONDecodingNode.integer(type, raw) else {
            throw BSONDecodingError.refused(type, raw, node, key)
        }
        advance()
        return value
    }

    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
        let value = try node.element(type, next(type), key)
        advance()
        return value
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> {
        let container = try child(type).container(keyedBy: type)
        advance()
        return container
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        let container = try child([BSONValue].self).unkeyedContainer()
        advance()
        return container
    }

    mutating func superDecoder() throws -> any Decoder {
        let decoder = try child((any Decoder).self)
        advance()
        return decoder
    }

    private func child(_ type: any Any.Type) throws -> BSONDecodingNode {
        BSONDecodingNode(keeping: node, try next(type), key: key)
    }
}
