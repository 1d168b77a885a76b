/// The `Encoder` of one value: its position in the storage and the container that was requested.
///
/// A value's bytes are written in place while its `encode(to:)` runs. Containers that outlive that
/// call (`nestedContainer`, `superEncoder`) write to a separate storage, which is inserted in their
/// place when the enclosing value is finished.
///
/// A node and its container are reused for the next value of the type. While its value is encoded,
/// the caller keeps storage and parent alive. If the type's code kept the node, the node retains
/// them itself.
final class BSONEncodingNode: Encoder, BSONReusableNode {
    /// The kind of container that a value requested.
    enum Shape {
        /// No container was requested yet.
        case open
        case keyed
        case unkeyed
        case single
    }

    /// A container with a separate storage, and the place where it will be inserted.
    struct Detached {
        let typeOffset: Int
        let valueOffset: Int
        let node: BSONEncodingNode
    }

    let unmanagedStorage: Unmanaged<BSONEncodingStorage>
    let buffer: UnsafeMutablePointer<BSONByteBuffer>
    @exclusivity(unchecked) private(set) unowned(unsafe) var parent: BSONEncodingNode?
    /// The address of the key while the node is in use.
    @exclusivity(unchecked) private var passedKey: UnsafePointer<any CodingKey>?
    @exclusivity(unchecked) private(set) var typeIndex: Int
    @exclusivity(unchecked) private(set) var start: Int
    @exclusivity(unchecked) private(set) var depth: Int
    @exclusivity(unchecked) var next: Unmanaged<BSONEncodingNode>?
    /// Whether the value is a dictionary: all its keys are its own.
    @exclusivity(unchecked) private(set) var isWhole: Bool
    /// Whether keys are data, so that no strategy changes them.
    @exclusivity(unchecked) var keepsKeys = false
    @exclusivity(unchecked) var shape = Shape.open
    @exclusivity(unchecked) var elementCount = 0
    @exclusivity(unchecked) private var detached: [Detached] = []
    @exclusivity(unchecked) private var hasSeveralContainers = false
    /// The keyed container of the node's type, see `BSONContainerBox`.
    @exclusivity(unchecked) private var box = BSONContainerBox<BSONEncodingNode>()
    @exclusivity(unchecked) private var kept: Kept?

    /// The objects that a node retains once its encoding has ended.
    private struct Kept {
        let storage: BSONEncodingStorage
        let parent: BSONEncodingNode?
        let key: (any CodingKey)?
    }

    /// Begins a value whose type byte has just been written.
    init(
        _ storage: BSONEncodingStorage, parent: BSONEncodingNode?,
        key: UnsafePointer<any CodingKey>?,
        typeIndex: Int, isWhole: Bool
    ) {
        unmanagedStorage = .passUnretained(storage)
        buffer = storage.buffer
        self.parent = parent
        passedKey = key
        self.typeIndex = typeIndex
        self.isWhole = isWhole
        start = buffer.pointee.count
        depth = (parent?.depth ?? 0) + 1
    }

    /// Begins a value in a separate storage that lives as long as the node has references.
    convenience init(keeping parent: BSONEncodingNode, key: any CodingKey) {
        let storage = BSONEncodingStorage(
            parent.storage.encoder, marksOmitted: parent.storage.marksOmitted)
        self.init(
            storage, parent: parent, key: nil, typeIndex: storage.outermost(), isWhole: false)
        kept = Kept(storage: storage, parent: parent, key: key)
    }

    /// Reuses the node for another value.
    @inline(__always)
    func reuse(
        parent: BSONEncodingNode?, key: UnsafePointer<any CodingKey>?, typeIndex: Int, isWhole: Bool
    ) {
        self.parent = parent
        passedKey = key
        self.typeIndex = typeIndex
        self.isWhole = isWhole
        start = buffer.pointee.count
        depth = (parent?.depth ?? 0) &+ 1
        shape = .open
        elementCount = 0
        hasSeveralContainers = false
    }

    /// Whether there are no other references to the node or its container; a node that has them
    /// retains what it needs.
    @inline(__always)
    static func isIdle(_ node: inout BSONEncodingNode) -> Bool {
        // Remains of a failed encoding; they refer to the node.
        if !node.detached.isEmpty { node.detached = [] }
        if isKnownUniquelyReferenced(&node), node.box.isIdle { return true }
        node.keep()
        return false
    }

    @inline(never)
    private func keep() {
        if kept == nil { kept = Kept(storage: storage, parent: parent, key: passedKey?.pointee) }
        passedKey = nil
        box.release(keeping: self)
    }

    private var key: (any CodingKey)? { kept?.key ?? passedKey?.pointee }

    var storage: BSONEncodingStorage { unmanagedStorage.takeUnretainedValue() }

    var codingPath: [any CodingKey] {
        (parent?.codingPath ?? []) + (key.map { [$0] } ?? [])
    }

    var userInfo: [CodingUserInfoKey: Any] { storage.encoder.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        openKeyed()
        if box.holds(type) { return box.container() }
        return box.make(for: type, self, isPassing: kept == nil) { keeper in
            KeyedEncodingContainer(BSONKeyedEncodingContainer<Key>(node: self, keeper: keeper))
        }
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
            if isWhole, storage.marksOmitted { BSONEncodingMerge.markWhole(&buffer.pointee) }
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
        buffer.pointee.reserve(4)
        buffer.pointee.put(little: 0 as Int32)
    }

    /// Patches the type byte of the value.
    @inline(__always)
    func set(_ type: BSONType) { buffer.pointee.base[typeIndex] = type.rawValue }

    /// Ends the value; a value that wrote nothing becomes an empty document.
    func finish() {
        switch shape {
        case .single: return
        case .open: openKeyed()
        case .keyed, .unkeyed: break
        }
        buffer.pointee.reserve(1)
        buffer.pointee.put(0 as UInt8)
        placeDetached()
        buffer.pointee.patch(length: buffer.pointee.count - start, at: start)
        if hasSeveralContainers { removeRepeatedKeys() }
    }

    /// Writes a placeholder for a container that continues after others were written.
    func detach(key: any CodingKey, typeIndex: Int) -> BSONEncodingNode {
        let node = BSONEncodingNode(keeping: self, key: key)
        detached.append(
            Detached(
                typeOffset: typeIndex - start, valueOffset: buffer.pointee.count - start,
                node: node))
        buffer.pointee.base[typeIndex] = BSONType.document.rawValue
        buffer.pointee.reserve(5)
        buffer.pointee.put(little: 5 as Int32)
        buffer.pointee.put(0 as UInt8)
        return node
    }

    /// Inserts the containers with separate storages in their places, the last first.
    private func placeDetached() {
        for place in detached.reversed() {
            place.node.finish()
            if storage.failure == nil { storage.failure = place.node.storage.failure }
            let written = place.node.buffer.pointee.base
            let value = UnsafeBufferPointer(
                start: UnsafePointer(written) + 1, count: place.node.buffer.pointee.count - 1)
            let from = start + place.valueOffset
            buffer.pointee.base[start + place.typeOffset] = written[0]
            buffer.pointee.replace(from..<from + 5, with: value)
        }
        if !detached.isEmpty { detached = [] }
    }

    /// Keeps the last of the elements with the same key, if several containers wrote them.
    private func removeRepeatedKeys() {
        let document = BSONDocument(unchecked: buffer.pointee.array(start..<buffer.pointee.count))
        let clean = BSONEncodingMerge.keepingLast(document)
        if clean.byteCount == document.byteCount { return }
        clean.withUnsafeBytes { bytes in
            buffer.pointee.replace(
                start..<buffer.pointee.count, with: bytes.bindMemory(to: UInt8.self))
        }
    }
}
