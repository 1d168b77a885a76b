/// The `Encoder` of one value: its position in the storage and the container that was requested.
///
/// A value's bytes are written in place while its `encode(to:)` runs. Containers that outlive that
/// call (`nestedContainer`, `superEncoder`) write to a separate storage, which is inserted in their
/// place when the enclosing value is finished.
///
/// Nodes and their containers are reused, and own what they refer to only if they escape, as those
/// of decoding are; `BSONDecodingNode` explains the ownership model. The storage has the place of
/// the context there. Gate E.1 demands at most 1/5 of the cost of `JSONEncoder`; the rows "encode
/// Codable" of `Benchmarks` count 0.08 to 0.13 of its instructions.
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

    private typealias Links = BSONNodeLinks<BSONEncodingStorage, BSONEncodingNode>

    @exclusivity(unchecked) private var links: Links
    /// The storage's memory, valid as long as the storage.
    let buffer: UnsafeMutablePointer<BSONByteBuffer>
    @exclusivity(unchecked) private(set) var typeIndex: Int
    @exclusivity(unchecked) private(set) var start: Int
    @exclusivity(unchecked) private(set) var depth: Int
    @exclusivity(unchecked) var nextIdle: Unmanaged<BSONEncodingNode>?
    /// Whether the keys are data, as a dictionary's are, so that no strategy changes them.
    @exclusivity(unchecked) var keysAreData: Bool
    @exclusivity(unchecked) var shape = Shape.open
    @exclusivity(unchecked) var elementCount = 0
    @exclusivity(unchecked) private var detached: [Detached] = []
    @exclusivity(unchecked) private var hasSeveralContainers = false
    @exclusivity(unchecked) private var box = BSONContainerBox<BSONEncodingNode>()

    private init(
        _ links: Links, typeIndex: Int, keysAreData: Bool, depth: Int
    ) {
        self.links = links
        buffer = links.shared._withUnsafeGuaranteedRef { $0.buffer }
        self.typeIndex = typeIndex
        self.keysAreData = keysAreData
        self.depth = depth
        start = buffer.pointee.count
    }

    /// Begins a value whose type byte has just been written, for a call of
    /// `BSONEncodingStorage.encode`, which ends with ``endUse(of:)``.
    convenience init(
        borrowing storage: BSONEncodingStorage, parent: BSONEncodingNode?,
        key: UnsafePointer<any CodingKey>?, typeIndex: Int, keysAreData: Bool
    ) {
        self.init(
            Links(borrowing: storage, parent: parent, key: key), typeIndex: typeIndex,
            keysAreData: keysAreData, depth: (parent?.depth ?? 0) + 1)
    }

    /// Begins a value in a separate storage that lives as long as the node has references.
    convenience init(retaining parent: BSONEncodingNode, key: any CodingKey) {
        let storage = BSONEncodingStorage(
            parent.storage.encoder, isMarked: parent.storage.isMarked)
        self.init(
            Links(retaining: storage, parent: parent, key: key), typeIndex: storage.outermost(),
            keysAreData: false, depth: parent.depth + 1)
    }

    /// Begins the use of an idle node for another value of its type.
    ///
    /// The box keeps its container, which copied `keysAreData`; that stays the same, as in
    /// `BSONDecodingNode.beginUse`.
    @inline(__always)
    func beginUse(
        parent: BSONEncodingNode?, key: UnsafePointer<any CodingKey>?, typeIndex: Int,
        keysAreData: Bool
    ) {
        assert(detached.isEmpty, "endUse(of:) removes what finish() left.")
        assert(box.isOnlyReference, "A container that code outside holds would write this value.")
        links.borrow(parent: parent, key: key)
        self.typeIndex = typeIndex
        self.keysAreData = keysAreData
        start = buffer.pointee.count
        depth = (parent?.depth ?? 0) &+ 1
        shape = .open
        elementCount = 0
        hasSeveralContainers = false
    }

    /// Ends the use of a node, and returns whether the node is idle: no other reference to it or
    /// its container exists.
    ///
    /// Otherwise the node has escaped, and retains what it borrowed. Every use must end here, a
    /// failed one too, before the caller's frame returns.
    @inline(__always)
    @discardableResult
    static func endUse(of node: inout BSONEncodingNode) -> Bool {
        // Remains of a failed encoding; they refer to the node.
        if !node.detached.isEmpty { node.detached = [] }
        if isKnownUniquelyReferenced(&node), node.box.isOnlyReference { return true }
        node.retainLinks()
        return false
    }

    @inline(never)
    private func retainLinks() {
        links.retain()
        box.handOver(retaining: self)
    }

    /// The storage, for calls that do not retain it.
    var unmanagedStorage: Unmanaged<BSONEncodingStorage> { links.shared }

    var storage: BSONEncodingStorage { links.shared.takeUnretainedValue() }

    var codingPath: [any CodingKey] {
        (links.parent?.codingPath ?? []) + (links.key.map { [$0] } ?? [])
    }

    var userInfo: [CodingUserInfoKey: Any] { storage.encoder.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        openKeyed()
        if box.holdsContainer(for: type) { return box.container() }
        return box.make(for: type, of: self, isReusable: !links.areRetained) { owner in
            KeyedEncodingContainer(BSONKeyedEncodingContainer<Key>(node: self, owner: owner))
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
            mark(isArray: false)
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
            mark(isArray: true)
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

    /// Writes what the value's type says about the container that has just begun.
    @inline(__always)
    private func mark(isArray: Bool) {
        if unmanagedStorage._withUnsafeGuaranteedRef({ $0.isMarked }) { markNext(isArray) }
    }

    @inline(never)
    private func markNext(_ isArray: Bool) {
        guard let container = storage.nextContainer else { return }
        storage.nextContainer = nil
        BSONEncodingMarks.mark(container, isArray: isArray, &buffer.pointee)
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
        let node = BSONEncodingNode(retaining: self, key: key)
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
        let clean = document.keepingLastOfRepeatedKeys
        if clean.byteCount == document.byteCount { return }
        clean.withUnsafeBytes { bytes in
            buffer.pointee.replace(
                start..<buffer.pointee.count, with: bytes.bindMemory(to: UInt8.self))
        }
    }
}

extension BSONDocument {
    /// The document with only the last of the elements that have the same key.
    fileprivate var keepingLastOfRepeatedKeys: BSONDocument {
        let elements = Array(self)
        var last: [Name: Int] = [:]
        for (index, element) in elements.enumerated() { last[element.key] = index }
        var result = BSONDocument()
        for (index, element) in elements.enumerated() where last[element.key] == index {
            result.append(element.key, element.value)
        }
        return result
    }
}
