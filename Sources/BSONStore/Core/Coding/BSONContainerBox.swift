/// A reference from a container to its node, empty while the node is sure to outlive the container.
final class BSONNodeOwner<Node: AnyObject> {
    @exclusivity(unchecked) var node: Node?

    init(_ node: Node?) { self.node = node }
}

/// Memory of its own for the one object that a container consists of.
///
/// Code that does not know the container's type reads the object's reference count there.
class BSONContainerMemory {
    fileprivate let object: UnsafeMutablePointer<AnyObject>

    fileprivate init(_ object: AnyObject) {
        self.object = .allocate(capacity: 1)
        self.object.initialize(to: object)
    }

    deinit {
        object.deinitialize(count: 1)
        object.deallocate()
    }
}

private final class BSONTypedContainerMemory<Container>: BSONContainerMemory {
    /// Returns the container.
    ///
    /// Not inlined: the type is known here; elsewhere the runtime would look it up, which costs most
    /// of all.
    @inline(never)
    func copy() -> Container { StandardLibraryLayout.container(at: object) }
}

/// The keyed container of a node, which refers to the node without retaining it.
///
/// `KeyedDecodingContainer` and `KeyedEncodingContainer` wrap one object that holds ours. To make
/// that object, the runtime looks up three generic types; reusing the object costs nothing.
struct BSONContainerBox<Node: AnyObject> {
    private var memory: BSONContainerMemory?
    /// The address in `memory`, to be read without its class.
    private var object: UnsafeMutablePointer<AnyObject>?
    private var keyType: ObjectIdentifier?
    private var owner: BSONNodeOwner<Node>?

    /// Whether the box holds the container for a key type.
    @inline(__always)
    func holdsContainer(for keys: any Any.Type) -> Bool { keyType == ObjectIdentifier(keys) }

    /// Returns the container, of the type that `make` put into the box: the box must hold the
    /// container for its keys.
    @inline(__always)
    func container<Container>() -> Container {
        guard let memory else { preconditionFailure("The box is empty.") }
        // A debug build checks the downcast.
        return Unmanaged.passUnretained(
            unsafeDowncast(memory, to: BSONTypedContainerMemory<Container>.self)
        )._withUnsafeGuaranteedRef { $0.copy() }
    }

    /// Creates a container, and puts it into the box if the box is empty and the node reusable.
    ///
    /// - Parameter isReusable: Whether the node's use will end, with a look at the box. A container
    ///   of any other node, or a second one, retains the node itself.
    mutating func make<Container>(
        for keys: any Any.Type, of node: Node, isReusable: Bool,
        _ make: (BSONNodeOwner<Node>) -> Container
    ) -> Container {
        guard isReusable, memory == nil, StandardLibraryLayout.isOneObject(Container.self) else {
            return make(BSONNodeOwner(node))
        }
        let owner = BSONNodeOwner<Node>(nil)
        let container = make(owner)
        let memory = BSONTypedContainerMemory<Container>(
            StandardLibraryLayout.object(of: container))
        object = memory.object
        self.memory = memory
        keyType = ObjectIdentifier(keys)
        self.owner = owner
        return container
    }

    /// Whether no reference to the container exists but the box's.
    var isOnlyReference: Bool {
        @inline(__always) get {
            guard let object else { return true }
            return isKnownUniquelyReferenced(&object.pointee)
        }
    }

    /// Leaves the container to its other owners, and makes it retain the node.
    mutating func handOver(retaining node: Node) {
        owner?.node = node
        self = Self()
    }
}
