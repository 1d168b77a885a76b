/// The `Decoder` of one value, which is read in place from the document's bytes.
///
/// # Ownership
///
/// `Decodable` hands every nested value a decoder and a container, both as existentials. Allocated
/// and retained for each value, they cost as much as ten fields. So a node and its container are
/// reused for the next value of the same type, and while they are in use they borrow what they
/// refer to:
///
/// | object | is kept alive by |
/// |---|---|
/// | the document's bytes | the context, which retains the document |
/// | the context | the frame of the static `BSONDecodingContext.decode` |
/// | a node in use | the frame of the instance's `BSONDecodingContext.decode`, below that one |
/// | its parent and its key | the frame of the parent's `decode(_:from:key:)`, which called it |
/// | an idle node | the context's `BSONNodePool` |
/// | the node's container | the node, in its `BSONContainerBox` |
/// | the node's `search` | the node |
///
/// A node must not retain the context: the context's pool retains the node, and the cycle would
/// never be freed.
///
/// The type's code may store its decoder or its container, and use them when those frames have
/// returned. Such a node has *escaped*. ``endUse(of:)`` finds that out by the reference counts when
/// the type's code returns, while every borrowed object is still alive, and then the node retains
/// them all (`BSONNodeLinks`). Its parent has one more reference from then on and so escapes too,
/// as do all nodes up to the outermost, and the context is not reused. Nodes that are made to
/// outlive a call, those of `superDecoder` and nested containers, retain everything at once.
///
/// One thread uses a context and its nodes, and no access to a property is under way while another
/// one begins: hence `@exclusivity(unchecked)`, which spares a call of the runtime per access.
///
/// All that is for speed. Gate E.1 demands at most 1/6 of the cost of `JSONDecoder`; the rows
/// "decode Codable" of `Benchmarks` count 0.10 to 0.14 of its instructions, the most for lists and
/// nested values, which need the most nodes. `BSONCoderReuseTests` keeps decoders and containers
/// and uses them later, several at once and after failures.
final class BSONDecodingNode: Decoder, BSONReusableNode {
    @exclusivity(unchecked) private var links: BSONNodeLinks<BSONDecodingContext, BSONDecodingNode>
    @exclusivity(unchecked) private(set) var raw: BSONRawValue
    @exclusivity(unchecked) var nextIdle: Unmanaged<BSONDecodingNode>?
    /// Whether the keys are data, as a dictionary's are, so that no strategy changes them.
    @exclusivity(unchecked) var keysAreData: Bool
    /// The node's own memory, which its containers reach without reference counting.
    let search: UnsafeMutablePointer<BSONKeySearch>
    @exclusivity(unchecked) private var box = BSONContainerBox<BSONDecodingNode>()

    private init(
        _ links: BSONNodeLinks<BSONDecodingContext, BSONDecodingNode>, _ raw: BSONRawValue,
        keysAreData: Bool
    ) {
        self.links = links
        self.raw = raw
        self.keysAreData = keysAreData
        search = .allocate(capacity: 1)
        search.initialize(to: BSONKeySearch(raw))
    }

    /// Creates a node for a call of `BSONDecodingContext.decode`, which ends with
    /// ``endUse(of:)``.
    convenience init(
        borrowing context: BSONDecodingContext, _ raw: BSONRawValue, parent: BSONDecodingNode?,
        key: UnsafePointer<any CodingKey>?, keysAreData: Bool
    ) {
        self.init(
            BSONNodeLinks(borrowing: context, parent: parent, key: key), raw,
            keysAreData: keysAreData)
    }

    /// Creates a node that may outlive the call.
    convenience init(
        retaining parent: BSONDecodingNode, _ raw: BSONRawValue, key: some CodingKey
    ) {
        self.init(
            BSONNodeLinks(retaining: parent.context, parent: parent, key: key), raw,
            keysAreData: false)
    }

    deinit {
        search.deinitialize(count: 1)
        search.deallocate()
    }

    /// Begins the use of an idle node for another value of its type.
    ///
    /// The box is not emptied, that is the point. Its container copied `keysAreData`, which stays
    /// the same: a type of keys belongs to dictionaries or to other types, never to both.
    @inline(__always)
    func beginUse(
        _ raw: BSONRawValue, parent: BSONDecodingNode?, key: UnsafePointer<any CodingKey>?,
        keysAreData: Bool
    ) {
        assert(box.isOnlyReference, "A container that code outside holds would read this value.")
        links.borrow(parent: parent, key: key)
        self.raw = raw
        self.keysAreData = keysAreData
        search.pointee = BSONKeySearch(raw)
    }

    /// Ends the use of a node, and returns whether the node is idle: no other reference to it or
    /// its container exists.
    ///
    /// Otherwise the node has escaped, and retains what it borrowed. Every use must end here, a
    /// failed one too, before the caller's frame returns.
    @inline(__always)
    @discardableResult
    static func endUse(of node: inout BSONDecodingNode) -> Bool {
        if isKnownUniquelyReferenced(&node), node.box.isOnlyReference { return true }
        node.retainLinks()
        return false
    }

    @inline(never)
    private func retainLinks() {
        links.retain()
        box.handOver(retaining: self)
    }

    /// The context, for calls that do not retain it.
    var unmanagedContext: Unmanaged<BSONDecodingContext> { links.shared }

    var context: BSONDecodingContext { links.shared.takeUnretainedValue() }

    var codingPath: [any CodingKey] {
        (links.parent?.codingPath ?? []) + (links.key.map { [$0] } ?? [])
    }

    var userInfo: [CodingUserInfoKey: Any] { context.decoder.userInfo }

    func container<Key: CodingKey>(
        keyedBy type: Key.Type
    ) throws -> KeyedDecodingContainer<Key> {
        guard raw.typeByte == BSONType.document.rawValue else {
            throw BSONDecodingError.mismatch([String: BSONValue].self, raw, at: self)
        }
        if box.holdsContainer(for: type) { return box.container() }
        return box.make(for: type, of: self, isReusable: !links.areRetained) { owner in
            KeyedDecodingContainer(BSONKeyedDecodingContainer<Key>(node: self, owner: owner))
        }
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard raw.typeByte == BSONType.array.rawValue else {
            throw BSONDecodingError.mismatch([BSONValue].self, raw, at: self)
        }
        return BSONUnkeyedDecodingContainer(node: self)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }
}
