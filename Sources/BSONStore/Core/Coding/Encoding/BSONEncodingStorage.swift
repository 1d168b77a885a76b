/// The bytes that the containers of one encoding write; reused for one encoding after the other.
///
/// `BSONDecodingNode` explains the ownership of storages and nodes.
final class BSONEncodingStorage {
    @exclusivity(unchecked) private(set) var encoder: BSONEncoder
    /// Whether the encoding holds marks (`BSONEncodingMarks`).
    @exclusivity(unchecked) private(set) var isMarked: Bool
    /// The information of the type of the value that encodes itself next; only in marked encodings.
    @exclusivity(unchecked) var nextContainer: BSONEncodingMarks.Container?
    /// The types that marked encodings met, and whether they are enums.
    @exclusivity(unchecked) private var enumerations: [ObjectIdentifier: Bool] = [:]
    let hasDefaultKeys: Bool
    /// The bytes, in separate memory that containers reach without reference counting.
    let buffer: UnsafeMutablePointer<BSONByteBuffer>
    /// The failure of a container function that cannot throw; the encoding throws it at its end.
    @exclusivity(unchecked) var failure: EncodingError?
    @exclusivity(unchecked) private var convertedKeys: [Name: String] = [:]
    @exclusivity(unchecked) private var pool = BSONNodePool<BSONEncodingNode>()

    private static let idleStorages = IdleObjectPool<BSONEncodingStorage>()
    private static let plainEncoder = BSONEncoder()
    /// The maximum number of bytes that a storage keeps for the next encoding.
    private static let idleCapacityMax = 65_536

    init(_ encoder: BSONEncoder, isMarked: Bool) {
        self.encoder = encoder
        self.isMarked = isMarked
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
        _ value: T, with encoder: BSONEncoder, isMarked: Bool,
        _ result: (UInt8, UnsafeRawBufferPointer) throws -> R
    ) throws -> R {
        var storage: BSONEncodingStorage
        // Idle storages have default keys and a plain encoder, as they are left below.
        if encoder.strategies.keys.isDefault, let idle = idleStorages.take() {
            storage = idle
            if !encoder.isPlain { storage.encoder = encoder }
            storage.isMarked = isMarked
        } else {
            storage = BSONEncodingStorage(encoder, isMarked: isMarked)
        }
        defer {
            // A node that has escaped retains the storage.
            if storage.hasDefaultKeys, isKnownUniquelyReferenced(&storage) {
                if !encoder.isPlain { storage.encoder = plainEncoder }
                storage.failure = nil
                storage.nextContainer = nil
                storage.buffer.pointee.clear(keeping: idleCapacityMax)
                idleStorages.put(storage)
            }
        }
        try storage.encodeOutermost(value)
        if let failure = storage.failure { throw failure }
        return try result(storage.buffer.pointee.base[0], storage.buffer.pointee.bytes(from: 1))
    }

    private func encodeOutermost<T: Encodable>(_ value: T) throws {
        let typeIndex = outermost()
        if BSONNativeKind.of(T.self) == nil {
            return try encode(value, parent: nil, key: nil, typeIndex: typeIndex)
        }
        // The coders' own types never see their encoder: this node cannot escape.
        let node = BSONEncodingNode(
            borrowing: self, parent: nil, key: nil, typeIndex: typeIndex, keysAreData: false)
        try node.encode(value)
        node.finish()
    }

    /// Notes what a type says about the container that its value is about to request.
    @inline(never)
    func noteContainer<T>(of value: T) {
        nextContainer = BSONEncodingMarks.Container(
            T.self, isEnumeration: isEnumeration(value))
    }

    private func isEnumeration<T>(_ value: T) -> Bool {
        let type = ObjectIdentifier(T.self)
        if let known = enumerations[type] { return known }
        let found = Mirror(reflecting: value).displayStyle == .enum
        enumerations[type] = found
        return found
    }

    /// Writes the type byte of an outermost value and returns its offset.
    func outermost() -> Int {
        buffer.pointee.reserve(1)
        buffer.pointee.put(0 as UInt8)
        return 0
    }

    /// Encodes a value with its own code whose type byte has just been written; the one place where
    /// uses of nodes begin and end.
    ///
    /// The caller keeps the storage, the parent and the key's address valid for the duration of the
    /// call, and this frame keeps the node alive.
    @inline(__always)
    func encode<T: Encodable>(
        _ value: T, parent: BSONEncodingNode?, key: UnsafePointer<any CodingKey>?, typeIndex: Int
    ) throws {
        assert(parent.map { $0.storage === self } ?? true, "The parent is of another storage.")
        let keysAreData = !hasDefaultKeys && value is any BSONKeyedCollection
        var node: BSONEncodingNode
        if let idle = pool.take(T.self) {
            node = idle
            node.beginUse(
                parent: parent, key: key, typeIndex: typeIndex, keysAreData: keysAreData)
        } else {
            node = BSONEncodingNode(
                borrowing: self, parent: parent, key: key, typeIndex: typeIndex,
                keysAreData: keysAreData)
        }
        do {
            try value.encode(to: node)
            node.finish()
        } catch {
            BSONEncodingNode.endUse(of: &node)
            throw error
        }
        if BSONEncodingNode.endUse(of: &node) { pool.put(node, T.self) }
    }

    /// Writes type and key and reserves room for a fixed value; returns whether the key holds no
    /// NUL.
    @inline(__always)
    func head(_ typeByte: UInt8, key: String) -> Bool {
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
    func put<T>(_ value: T, kind: BSONNativeKind, typeIndex: Int) -> Bool {
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
