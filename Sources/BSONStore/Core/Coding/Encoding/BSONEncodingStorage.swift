/// The bytes that the containers of one encoding write; reused for one encoding after the other.
final class BSONEncodingStorage {
    @exclusivity(unchecked) private(set) var encoder: BSONEncoder
    /// Whether absent optionals and dictionaries leave marks for `BSONEncodingMerge`.
    @exclusivity(unchecked) private(set) var marksOmitted: Bool
    let hasDefaultKeys: Bool
    /// The bytes, in separate memory that containers reach without reference counting.
    let buffer: UnsafeMutablePointer<BSONByteBuffer>
    /// The failure of a container function that cannot throw; the encoding throws it at its end.
    @exclusivity(unchecked) var failure: EncodingError?
    @exclusivity(unchecked) private var convertedKeys: [Name: String] = [:]
    @exclusivity(unchecked) private var pool = BSONNodePool<BSONEncodingNode>()

    private static let lot = IdleObjectPool<BSONEncodingStorage>()
    private static let plain = BSONEncoder()
    /// The maximum number of bytes that a storage keeps for the next encoding.
    private static let idleCapacityMax = 65_536

    init(_ encoder: BSONEncoder, marksOmitted: Bool) {
        self.encoder = encoder
        self.marksOmitted = marksOmitted
        hasDefaultKeys = encoder.strategies.keys.isDefault
        buffer = .allocate(capacity: 1)
        buffer.initialize(to: BSONByteBuffer(capacity: 1_000))
    }

    deinit {
        buffer.deinitialize(count: 1)
        buffer.deallocate()
    }

    /// Encodes an outermost value and returns a result made from its type byte and bytes.
    static func encode<T: Encodable, R>(
        _ value: T, _ encoder: BSONEncoder, marksOmitted: Bool,
        _ result: (UInt8, UnsafeRawBufferPointer) throws -> R
    ) throws -> R {
        var storage: BSONEncodingStorage
        if encoder.strategies.keys.isDefault, let parked = lot.take() {
            storage = parked
            if !encoder.isPlain { storage.encoder = encoder }
            storage.marksOmitted = marksOmitted
        } else {
            storage = BSONEncodingStorage(encoder, marksOmitted: marksOmitted)
        }
        defer {
            // An encoder that the value's code kept retains the storage.
            if storage.hasDefaultKeys, isKnownUniquelyReferenced(&storage) {
                if !encoder.isPlain { storage.encoder = plain }
                storage.failure = nil
                storage.buffer.pointee.clear(keeping: idleCapacityMax)
                lot.leave(storage)
            }
        }
        try storage.encodeOutermost(value)
        if let failure = storage.failure { throw failure }
        return try result(storage.buffer.pointee.base[0], storage.buffer.pointee.bytes(from: 1))
    }

    private func encodeOutermost<T: Encodable>(_ value: T) throws {
        let typeIndex = outermost()
        if BSONNativeKind.of(T.self) == nil {
            return try encode(value, parent: nil, key: nil, typeIndex: typeIndex, isWhole: false)
        }
        let node = BSONEncodingNode(
            self, parent: nil, key: nil, typeIndex: typeIndex, isWhole: false)
        try node.encode(value)
        node.finish()
    }

    /// Writes the type byte of an outermost value and returns its offset.
    func outermost() -> Int {
        buffer.pointee.reserve(1)
        buffer.pointee.put(0 as UInt8)
        return 0
    }

    /// Encodes a value with its own code whose type byte has just been written; the key is valid
    /// for the duration of the call.
    @inline(__always)
    func encode<T: Encodable>(
        _ value: T, parent: BSONEncodingNode?, key: UnsafePointer<any CodingKey>?, typeIndex: Int,
        isWhole: Bool
    ) throws {
        var node: BSONEncodingNode
        if let idle = pool.take(T.self) {
            node = idle
            node.reuse(parent: parent, key: key, typeIndex: typeIndex, isWhole: isWhole)
        } else {
            node = BSONEncodingNode(
                self, parent: parent, key: key, typeIndex: typeIndex, isWhole: isWhole)
        }
        if !hasDefaultKeys { node.keepsKeys = value is any BSONKeyedCollection }
        do {
            try value.encode(to: node)
            node.finish()
        } catch {
            _ = BSONEncodingNode.isIdle(&node)
            throw error
        }
        if BSONEncodingNode.isIdle(&node) { pool.put(node, T.self) }
    }

    /// Writes type and key and reserves room for a fixed value; returns whether the key holds no
    /// NUL.
    @inline(__always)
    func head(_ typeByte: UInt8, _ key: String) -> Bool {
        buffer.pointee.head(typeByte, hasDefaultKeys ? key : converted(key))
    }

    private func converted(_ key: String) -> String {
        if let known = convertedKeys[key] { return known }
        let converted = encoder.strategies.keys.documentKey(key)
        convertedKeys[key] = converted
        return converted
    }

    /// Writes a value of a common type directly; returns whether it was one.
    @inline(__always)
    func put<T>(_ value: T, _ kind: BSONNativeKind, _ typeIndex: Int) -> Bool {
        if kind == .objectID {
            buffer.pointee.base[typeIndex] = BSONType.objectID.rawValue
            buffer.pointee.reserve(12)
            let id = reinterpret(value, as: BSONObjectID.self)
            _ = BSONWriter.objectID(id, UnsafeMutableRawPointer(buffer.pointee.tail))
            buffer.pointee.count += 12
            return true
        }
        if kind == .string {
            buffer.pointee.base[typeIndex] = BSONType.string.rawValue
            buffer.pointee.put(text: reinterpret(value, as: String.self))
            return true
        }
        return false
    }

    /// Writes any value.
    func put(_ value: BSONValue) {
        let count = BSONWriter.count(value)
        buffer.pointee.reserve(count)
        _ = BSONWriter.write(value, UnsafeMutableRawPointer(buffer.pointee.tail))
        buffer.pointee.count += count
    }
}
