/// Is the `Encoder` of one value: knows where in the storage the value goes and what was asked for.
///
/// A value's bytes are written in place while its `encode(to:)` runs. Containers that outlive that
/// call (`nestedContainer`, `superEncoder`) write to a storage of their own, which is put in their
/// place when the enclosing value is finished.
final class BSONEncodingNode: Encoder {
    /// What a value turned out to be.
    enum Shape {
        /// Nothing was asked for yet.
        case open
        case keyed
        case unkeyed
        case single
    }

    /// A container with a storage of its own, and where it goes.
    struct Detached {
        let typeOffset: Int
        let valueOffset: Int
        let node: BSONEncodingNode
    }

    let storage: BSONEncodingStorage
    let parent: BSONEncodingNode?
    let key: (any CodingKey)?
    let typeIndex: Int
    let start: Int
    let depth: Int
    /// Whether the value is a dictionary, all of whose keys are its own.
    let isWhole: Bool
    @exclusivity(unchecked) var shape = Shape.open
    @exclusivity(unchecked) var elementCount = 0
    @exclusivity(unchecked) private var detached: [Detached] = []
    @exclusivity(unchecked) private var hasSeveralContainers = false

    /// Begins the outermost value, or one in a storage of its own.
    init(
        _ storage: BSONEncodingStorage, parent: BSONEncodingNode? = nil,
        key: (any CodingKey)? = nil, isWhole: Bool = false
    ) {
        self.storage = storage
        self.parent = parent
        self.key = key
        self.isWhole = isWhole
        storage.buffer.reserve(1)
        storage.buffer.put(0 as UInt8)
        typeIndex = 0
        start = 1
        depth = (parent?.depth ?? 0) + 1
    }

    /// Begins the value of an element whose type and key were just written.
    init(
        in parent: BSONEncodingNode, key: any CodingKey, typeIndex: Int, isWhole: Bool
    ) {
        storage = parent.storage
        self.parent = parent
        self.key = key
        self.typeIndex = typeIndex
        self.isWhole = isWhole
        start = parent.storage.buffer.count
        depth = parent.depth + 1
    }

    var codingPath: [any CodingKey] {
        (parent?.codingPath ?? []) + (key.map { [$0] } ?? [])
    }

    var userInfo: [CodingUserInfoKey: Any] { storage.encoder.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        openKeyed()
        return KeyedEncodingContainer(BSONKeyedEncodingContainer<Key>(node: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        openUnkeyed()
        return BSONUnkeyedEncodingContainer(node: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    func openKeyed() {
        switch shape {
        case .open:
            shape = .keyed
            open(.document)
            if isWhole, storage.marksOmitted { BSONEncodingMerge.markWhole(&storage.buffer) }
        case .keyed: hasSeveralContainers = true
        case .unkeyed, .single:
            preconditionFailure("A value is encoded as one kind of container only.")
        }
    }

    func openUnkeyed() {
        switch shape {
        case .open:
            shape = .unkeyed
            open(.array)
        case .unkeyed: break
        case .keyed, .single:
            preconditionFailure("A value is encoded as one kind of container only.")
        }
    }

    private func open(_ type: BSONType) {
        set(type)
        storage.buffer.reserve(4)
        storage.buffer.put(little: 0 as Int32)
    }

    /// Patches the type byte of the value.
    @inline(__always)
    func set(_ type: BSONType) { storage.buffer.base[typeIndex] = type.rawValue }

    /// Ends the value; one that wrote nothing is an empty document.
    func finish() {
        switch shape {
        case .single: return
        case .open: openKeyed()
        case .keyed, .unkeyed: break
        }
        storage.buffer.reserve(1)
        storage.buffer.put(0 as UInt8)
        placeDetached()
        storage.buffer.patch(length: storage.buffer.count - start, at: start)
        if hasSeveralContainers { removeRepeatedKeys() }
    }

    /// Writes a stand-in for a container that goes on after others were written.
    func detach(key: any CodingKey, typeIndex: Int) -> BSONEncodingNode {
        let node = BSONEncodingNode(
            BSONEncodingStorage(storage.encoder, marksOmitted: storage.marksOmitted),
            parent: self, key: key)
        detached.append(
            Detached(
                typeOffset: typeIndex - start, valueOffset: storage.buffer.count - start,
                node: node))
        storage.buffer.base[typeIndex] = BSONType.document.rawValue
        storage.buffer.reserve(5)
        storage.buffer.put(little: 5 as Int32)
        storage.buffer.put(0 as UInt8)
        return node
    }

    /// Puts the containers with storages of their own where they belong, the last first.
    private func placeDetached() {
        for place in detached.reversed() {
            place.node.finish()
            let written = place.node.storage.buffer.base
            let value = UnsafeBufferPointer(
                start: UnsafePointer(written) + 1, count: place.node.storage.buffer.count - 1)
            let from = start + place.valueOffset
            storage.buffer.base[start + place.typeOffset] = written[0]
            storage.buffer.replace(from..<from + 5, with: value)
        }
        detached = []
    }

    /// Keeps the last of elements with the same key, where several containers wrote them.
    private func removeRepeatedKeys() {
        let document = BSONDocument(unchecked: storage.buffer.array(start..<storage.buffer.count))
        let clean = BSONEncodingMerge.keepingLast(document)
        if clean.byteCount == document.byteCount { return }
        clean.withUnsafeBytes { bytes in
            storage.buffer.replace(
                start..<storage.buffer.count, with: bytes.bindMemory(to: UInt8.self))
        }
    }

    /// Ends the outermost value, which must be a document.
    func finishedDocument(_ value: Any) throws -> BSONDocument {
        finish()
        guard storage.buffer.base[0] == BSONType.document.rawValue else {
            throw EncodingError.invalidValue(
                value,
                EncodingError.Context(
                    codingPath: [],
                    debugDescription: "The outermost value must encode as a document."))
        }
        return BSONDocument(unchecked: storage.buffer.array(1..<storage.buffer.count))
    }

    /// Ends the outermost value of any type.
    func finishedValue() -> BSONValue {
        finish()
        return BSONValue(
            copying: BSONRawValue(
                typeByte: storage.buffer.base[0],
                start: UnsafeRawPointer(storage.buffer.base) + 1,
                count: storage.buffer.count - 1))
    }
}
