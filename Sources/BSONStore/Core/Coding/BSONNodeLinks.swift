/// The references of a node to its surroundings: the state that the whole coding shares, the
/// enclosing node, and the coding key that leads from there to the node.
///
/// A node in use borrows all three from its callers, which keep them alive. A node that escapes
/// retains them. `BSONDecodingNode` says why and by whom.
struct BSONNodeLinks<Shared: AnyObject, Node: AnyObject> {
    /// The shared state, the same for all uses: a pool belongs to one.
    let shared: Unmanaged<Shared>
    private var unmanagedParent: Unmanaged<Node>?
    /// The address of the key in the caller's frame: a copy of an existential would be retained.
    private var borrowedKey: UnsafePointer<any CodingKey>?
    /// The same objects, once the node has escaped.
    private var retained: Retained?

    private struct Retained {
        let shared: Shared
        let parent: Node?
        let key: (any CodingKey)?
    }

    /// Creates links to objects that the caller keeps alive until the node's use ends.
    @inline(__always)
    init(borrowing shared: Shared, parent: Node?, key: UnsafePointer<any CodingKey>?) {
        self.shared = .passUnretained(shared)
        unmanagedParent = parent.map { .passUnretained($0) }
        borrowedKey = key
    }

    /// Creates links for a node that may outlive its parent's use.
    init(retaining shared: Shared, parent: Node, key: any CodingKey) {
        self.init(borrowing: shared, parent: parent, key: nil)
        retained = Retained(shared: shared, parent: parent, key: key)
    }

    /// Borrows the surroundings of an idle node's next use.
    @inline(__always)
    mutating func borrow(parent: Node?, key: UnsafePointer<any CodingKey>?) {
        // `retained` is not reset here: only nodes that did not escape become idle.
        assert(!areRetained, "A node that escaped is in a pool.")
        unmanagedParent = parent.map { .passUnretained($0) }
        borrowedKey = key
    }

    /// Retains everything that is borrowed, which must still be alive.
    mutating func retain() {
        if retained == nil {
            retained = Retained(
                shared: shared.takeUnretainedValue(), parent: parent, key: borrowedKey?.pointee)
        }
        borrowedKey = nil
    }

    /// Whether the node may outlive its callers.
    var areRetained: Bool { retained != nil }

    var parent: Node? { unmanagedParent?.takeUnretainedValue() }

    var key: (any CodingKey)? { retained?.key ?? borrowedKey?.pointee }
}
