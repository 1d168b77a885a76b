/// Keeps a node alive for a container that outlives the node's coding.
final class BSONNodeOwner<Node: AnyObject> {
    @exclusivity(unchecked) var node: Node?

    init(_ node: Node?) { self.node = node }
}

/// Holds a container in a place where it is also seen as the one object that it consists of, to
/// know whether somebody else still has it.
class BSONContainerReference {
    fileprivate let reference: UnsafeMutablePointer<AnyObject>

    fileprivate init(_ reference: UnsafeMutablePointer<AnyObject>) { self.reference = reference }

    deinit {
        reference.deinitialize(count: 1)
        reference.deallocate()
    }
}

private final class BSONTypedContainerReference<Container>: BSONContainerReference {
    /// Not inlined: here the type is at hand, elsewhere the runtime looks it up.
    @inline(never)
    func copy() -> Container { UnsafeRawPointer(reference).load(as: Container.self) }
}

/// Holds the keyed container of a node, which refers to the node without keeping it.
///
/// `KeyedDecodingContainer` and `KeyedEncodingContainer` wrap one object that holds ours. To make
/// that object, the runtime looks up three generic types; handing it out again costs nothing.
struct BSONContainerBox<Node: AnyObject> {
    private var held: BSONContainerReference?
    private var reference: UnsafeMutablePointer<AnyObject>?
    private var keyType: ObjectIdentifier?
    private var keeper: BSONNodeOwner<Node>?

    /// Whether the container for keys of a type is here.
    @inline(__always)
    func holds(_ keys: any Any.Type) -> Bool { keyType == ObjectIdentifier(keys) }

    /// The container that is here, which must be of the type.
    @inline(__always)
    func container<Container>() -> Container {
        guard let held else { preconditionFailure("The container is here.") }
        // A class of its own knows the container's type, which looking up costs most of all.
        return Unmanaged.passUnretained(
            unsafeDowncast(held, to: BSONTypedContainerReference<Container>.self)
        )._withUnsafeGuaranteedRef { $0.copy() }
    }

    /// Makes a container of what it shall hold, and keeps it where there is room for it.
    ///
    /// - Parameter isPassing: Whether the node's coding keeps the node, and not the container.
    mutating func make<Container>(
        for keys: any Any.Type, _ node: Node, isPassing: Bool,
        _ make: (BSONNodeOwner<Node>) -> Container
    ) -> Container {
        guard isPassing, held == nil, Self.isLayoutKnown(Container.self) else {
            return make(BSONNodeOwner(node))
        }
        let keeper = BSONNodeOwner<Node>(nil)
        let container = make(keeper)
        let place = UnsafeMutablePointer<AnyObject>.allocate(capacity: 1)
        place.initialize(to: unsafeBitCast(container, to: AnyObject.self))
        held = BSONTypedContainerReference<Container>(place)
        reference = place
        keyType = ObjectIdentifier(keys)
        self.keeper = keeper
        return container
    }

    /// Whether nobody else has the container.
    var isIdle: Bool {
        @inline(__always) get {
            guard let reference else { return true }
            return isKnownUniquelyReferenced(&reference.pointee)
        }
    }

    /// Gives the container up to those who have it; it keeps the node alive from now on.
    mutating func release(keeping node: Node) {
        keeper?.node = node
        self = Self()
    }

    /// The layout is known where the standard library is built for one compiler only.
    private static func isLayoutKnown<Container>(_ type: Container.Type) -> Bool {
        #if os(Linux)
            MemoryLayout<Container>.size == MemoryLayout<AnyObject>.size
        #else
            false
        #endif
    }
}
