/// The `Decoder` of one value in place.
///
/// A node and its container are reused for the next value of the type. While its value is decoded,
/// the caller keeps context and parent alive. If the type's code kept the node, the node retains
/// them itself.
final class BSONDecodingNode: Decoder, BSONReusableNode {
    let unmanagedContext: Unmanaged<BSONDecodingContext>
    @exclusivity(unchecked) private(set) unowned(unsafe) var parent: BSONDecodingNode?
    /// The address of the key while the node is in use.
    @exclusivity(unchecked) private var passedKey: UnsafePointer<any CodingKey>?
    @exclusivity(unchecked) private(set) var raw: BSONRawValue
    @exclusivity(unchecked) var next: Unmanaged<BSONDecodingNode>?
    /// Whether keys are data, so that no strategy changes them.
    @exclusivity(unchecked) var keepsKeys = false
    let search: UnsafeMutablePointer<BSONKeySearch>
    /// The keyed container of the node's type, see `BSONContainerBox`.
    @exclusivity(unchecked) private var box = BSONContainerBox<BSONDecodingNode>()
    @exclusivity(unchecked) private var kept: Kept?

    /// The objects that a node retains once its decoding has ended.
    private struct Kept {
        let context: BSONDecodingContext
        let parent: BSONDecodingNode?
        let key: (any CodingKey)?
    }

    init(
        _ context: BSONDecodingContext, _ raw: BSONRawValue, parent: BSONDecodingNode?,
        key: UnsafePointer<any CodingKey>?
    ) {
        unmanagedContext = .passUnretained(context)
        self.raw = raw
        self.parent = parent
        passedKey = key
        search = .allocate(capacity: 1)
        search.initialize(to: BSONKeySearch(raw))
    }

    deinit { search.deallocate() }

    var context: BSONDecodingContext { unmanagedContext.takeUnretainedValue() }

    /// Creates a node that lives as long as it has references.
    convenience init(
        keeping parent: BSONDecodingNode, _ raw: BSONRawValue, key: some CodingKey
    ) {
        self.init(parent.context, raw, parent: parent, key: nil)
        kept = Kept(context: parent.context, parent: parent, key: key)
    }

    /// Reuses the node for another value.
    @inline(__always)
    func reuse(
        _ raw: BSONRawValue, parent: BSONDecodingNode?, key: UnsafePointer<any CodingKey>?
    ) {
        self.raw = raw
        self.parent = parent
        passedKey = key
        search.pointee = BSONKeySearch(raw)
    }

    /// Whether there are no other references to the node or its container; a node that has them
    /// retains what it needs.
    @inline(__always)
    static func isIdle(_ node: inout BSONDecodingNode) -> Bool {
        if isKnownUniquelyReferenced(&node), node.box.isIdle { return true }
        node.keep()
        return false
    }

    @inline(never)
    private func keep() {
        if kept == nil { kept = Kept(context: context, parent: parent, key: passedKey?.pointee) }
        passedKey = nil
        box.release(keeping: self)
    }

    private var key: (any CodingKey)? { kept?.key ?? passedKey?.pointee }

    var codingPath: [any CodingKey] {
        (parent?.codingPath ?? []) + (key.map { [$0] } ?? [])
    }

    var userInfo: [CodingUserInfoKey: Any] { context.decoder.userInfo }

    func container<Key: CodingKey>(
        keyedBy type: Key.Type
    ) throws -> KeyedDecodingContainer<Key> {
        guard raw.typeByte == BSONType.document.rawValue else {
            throw BSONDecodingError.mismatch([String: BSONValue].self, raw, self)
        }
        if box.holds(type) { return box.container() }
        return box.make(for: type, self, isPassing: kept == nil) { keeper in
            KeyedDecodingContainer(BSONKeyedDecodingContainer<Key>(node: self, keeper: keeper))
        }
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard raw.typeByte == BSONType.array.rawValue else {
            throw BSONDecodingError.mismatch([BSONValue].self, raw, self)
        }
        return BSONUnkeyedDecodingContainer(node: self)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }
}
