/// A container that reads the elements of a document.
struct BSONKeyedDecodingContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    /// The node, without a reference of its own, since counting references costs more than a read.
    ///
    /// The decoder keeps the node alive while the type's `init(from:)` runs. If the container
    /// outlives that call, `owner` keeps it alive.
    private let unmanagedNode: Unmanaged<BSONDecodingNode>
    private let owner: BSONNodeOwner<BSONDecodingNode>
    /// The search for keys, which is part of the node and lives as long.
    ///
    /// It remembers where the last key was found, so finding a key changes it.
    private let search: UnsafeMutablePointer<BSONKeySearch>
    /// Whether documents use the coding keys unchanged: without a key strategy, and in
    /// dictionaries, whose keys are data.
    private let usesKeysUnchanged: Bool

    init(node: BSONDecodingNode, owner: BSONNodeOwner<BSONDecodingNode>) {
        unmanagedNode = .passUnretained(node)
        self.owner = owner
        search = node.search
        usesKeysUnchanged = node.context.hasDefaultKeys || node.keysAreData
    }

    private var node: BSONDecodingNode { unmanagedNode.takeUnretainedValue() }

    @inline(__always)
    private func find(_ key: String) -> BSONRawValue? {
        usesKeysUnchanged
            ? search.pointee.find(key) : search.pointee.find(node.context.documentKey(key))
    }

    var codingPath: [any CodingKey] { node.codingPath }

    /// The keys of the document that are coding keys.
    ///
    /// The names that a key strategy made are not translated back, so with a strategy this may lack
    /// keys for which ``contains(_:)`` is true.
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
            throw BSONDecodingError.missing(key, at: node)
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

    /// Reads the value of a key with one of the node's readers.
    @inline(__always)
    private func read<V>(_ key: Key, _ reader: (BSONRawValue) -> V?) throws -> V {
        let raw = try value(key)
        guard let value = reader(raw) else { throw mismatch(V.self, raw, key) }
        return value
    }

    /// Reads the value of a key, unless it is missing or null, with one of the node's readers.
    @inline(__always)
    private func readIfPresent<V>(_ key: Key, _ reader: (BSONRawValue) -> V?) throws -> V? {
        guard let raw = present(key) else { return nil }
        guard let value = reader(raw) else { throw mismatch(V.self, raw, key) }
        return value
    }

    @inline(never)
    private func mismatch(_ type: any Any.Type, _ raw: BSONRawValue, _ key: Key) -> DecodingError {
        BSONDecodingError.refused(type, raw, at: node, key: key)
    }

    func decodeNil(forKey key: Key) throws -> Bool { BSONDecodingNode.isNil(try value(key)) }

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
        try read(key) { BSONDecodingNode.bool($0) }
    }

    func decode(_ type: String.Type, forKey key: Key) throws -> String {
        try read(key) { BSONDecodingNode.string($0) }
    }

    func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
        try read(key) { BSONDecodingNode.double($0) }
    }

    func decode(_ type: Float.Type, forKey key: Key) throws -> Float {
        try read(key) { BSONDecodingNode.float($0) }
    }

    func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
        try read(key) { BSONDecodingNode.integer(type, $0) }
    }

    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 {
        try read(key) { BSONDecodingNode.integer(type, $0) }
    }

    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 {
        try read(key) { BSONDecodingNode.integer(type, $0) }
    }

    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 {
        try read(key) { BSONDecodingNode.integer(type, $0) }
    }

    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 {
        try read(key) { BSONDecodingNode.integer(type, $0) }
    }

    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt {
        try read(key) { BSONDecodingNode.integer(type, $0) }
    }

    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 {
        try read(key) { BSONDecodingNode.integer(type, $0) }
    }

    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 {
        try read(key) { BSONDecodingNode.integer(type, $0) }
    }

    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 {
        try read(key) { BSONDecodingNode.integer(type, $0) }
    }

    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 {
        try read(key) { BSONDecodingNode.integer(type, $0) }
    }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        let raw = try value(key)
        return try unmanagedNode._withUnsafeGuaranteedRef {
            try $0.element(type, from: raw, key: key)
        }
    }

    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
        try readIfPresent(key) { BSONDecodingNode.bool($0) }
    }

    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
        try readIfPresent(key) { BSONDecodingNode.string($0) }
    }

    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
        try readIfPresent(key) { BSONDecodingNode.double($0) }
    }

    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? {
        try readIfPresent(key) { BSONDecodingNode.float($0) }
    }

    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
        try readIfPresent(key) { BSONDecodingNode.integer(type, $0) }
    }

    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? {
        try readIfPresent(key) { BSONDecodingNode.integer(type, $0) }
    }

    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? {
        try readIfPresent(key) { BSONDecodingNode.integer(type, $0) }
    }

    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? {
        try readIfPresent(key) { BSONDecodingNode.integer(type, $0) }
    }

    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
        try readIfPresent(key) { BSONDecodingNode.integer(type, $0) }
    }

    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? {
        try readIfPresent(key) { BSONDecodingNode.integer(type, $0) }
    }

    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? {
        try readIfPresent(key) { BSONDecodingNode.integer(type, $0) }
    }

    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? {
        try readIfPresent(key) { BSONDecodingNode.integer(type, $0) }
    }

    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? {
        try readIfPresent(key) { BSONDecodingNode.integer(type, $0) }
    }

    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? {
        try readIfPresent(key) { BSONDecodingNode.integer(type, $0) }
    }

    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
        guard let raw = present(key) else { return nil }
        return try unmanagedNode._withUnsafeGuaranteedRef {
            try $0.element(type, from: raw, key: key)
        }
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> { try child(key).container(keyedBy: type) }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try child(key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder {
        guard let raw = find(BSONPositionKey.superclass.stringValue) else {
            throw BSONDecodingError.missing(BSONPositionKey.superclass, at: node)
        }
        return BSONDecodingNode(retaining: node, raw, key: BSONPositionKey.superclass)
    }

    func superDecoder(forKey key: Key) throws -> any Decoder { try child(key) }

    private func child(_ key: Key) throws -> BSONDecodingNode {
        BSONDecodingNode(retaining: node, try value(key), key: key)
    }
}
