/// A container that reads the elements of an array.
struct BSONUnkeyedDecodingContainer: UnkeyedDecodingContainer {
    private let node: BSONDecodingNode
    private var cursor: BSONCursor
    /// The next element; `nil` at the end.
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
    private func next(as type: any Any.Type) throws -> BSONRawValue {
        guard let ahead else {
            throw DecodingError.valueNotFound(
                type,
                DecodingError.Context(
                    codingPath: node.codingPath + [key],
                    debugDescription: "The array ends here."))
        }
        return ahead
    }

    /// Reads the next element with one of the node's readers.
    @inline(__always)
    private mutating func read<V>(_ reader: (BSONRawValue) -> V?) throws -> V {
        let raw = try next(as: V.self)
        guard let value = reader(raw) else {
            throw BSONDecodingError.refused(V.self, raw, at: node, key: key)
        }
        advance()
        return value
    }

    /// Steps over the element that was read.
    @inline(__always)
    private mutating func advance() {
        ahead = cursor.next()?.value
        currentIndex += 1
    }

    mutating func decodeNil() throws -> Bool {
        guard BSONDecodingNode.isNil(try next(as: Never.self)) else { return false }
        advance()
        return true
    }

    mutating func decode(_ type: Bool.Type) throws -> Bool {
        try read { BSONDecodingNode.bool($0) }
    }

    mutating func decode(_ type: String.Type) throws -> String {
        try read { BSONDecodingNode.string($0) }
    }

    mutating func decode(_ type: Double.Type) throws -> Double {
        try read { BSONDecodingNode.double($0) }
    }

    mutating func decode(_ type: Float.Type) throws -> Float {
        try read { BSONDecodingNode.float($0) }
    }

    mutating func decode(_ type: Int.Type) throws -> Int {
        try read { BSONDecodingNode.integer(type, $0) }
    }

    mutating func decode(_ type: Int8.Type) throws -> Int8 {
        try read { BSONDecodingNode.integer(type, $0) }
    }

    mutating func decode(_ type: Int16.Type) throws -> Int16 {
        try read { BSONDecodingNode.integer(type, $0) }
    }

    mutating func decode(_ type: Int32.Type) throws -> Int32 {
        try read { BSONDecodingNode.integer(type, $0) }
    }

    mutating func decode(_ type: Int64.Type) throws -> Int64 {
        try read { BSONDecodingNode.integer(type, $0) }
    }

    mutating func decode(_ type: UInt.Type) throws -> UInt {
        try read { BSONDecodingNode.integer(type, $0) }
    }

    mutating func decode(_ type: UInt8.Type) throws -> UInt8 {
        try read { BSONDecodingNode.integer(type, $0) }
    }

    mutating func decode(_ type: UInt16.Type) throws -> UInt16 {
        try read { BSONDecodingNode.integer(type, $0) }
    }

    mutating func decode(_ type: UInt32.Type) throws -> UInt32 {
        try read { BSONDecodingNode.integer(type, $0) }
    }

    mutating func decode(_ type: UInt64.Type) throws -> UInt64 {
        try read { BSONDecodingNode.integer(type, $0) }
    }

    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
        let value = try node.element(type, from: next(as: type), key: key)
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
        BSONDecodingNode(retaining: node, try next(as: type), key: key)
    }
}
