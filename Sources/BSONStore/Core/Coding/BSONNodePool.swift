/// A node that can be reused for another value of the same type.
protocol BSONReusableNode: AnyObject {
    /// The next idle node for the type, in the pool's list.
    var nextIdle: Unmanaged<Self>? { get set }
}

/// Idle nodes of earlier values, with their containers, for reuse by values of the same types:
/// making both costs as much as coding ten fields.
///
/// The pool owns one reference to each node, which `put` takes over and `take` hands on; the lists
/// are unmanaged so that neither changes a reference count of another node.
struct BSONNodePool<Node: BSONReusableNode>: ~Copyable {
    private struct Slot {
        var type: ObjectIdentifier?
        var first: Unmanaged<Node>?
    }

    private static var slotCount: Int { 128 }
    private static var countMax: Int { 128 }
    /// If another type occupies a type's own slot, the type may use one of the next slots.
    private static var neighbours: Int { 7 }

    private let slots: UnsafeMutablePointer<Slot>
    private var count = 0

    init() {
        slots = .allocate(capacity: Self.slotCount)
        slots.initialize(repeating: Slot(type: nil, first: nil), count: Self.slotCount)
    }

    deinit {
        for slot in 0..<Self.slotCount {
            while let node = slots[slot].first {
                slots[slot].first = node._withUnsafeGuaranteedRef { $0.nextIdle }
                node.release()
            }
        }
        slots.deinitialize(count: Self.slotCount)
        slots.deallocate()
    }

    @inline(__always)
    static func index(_ type: ObjectIdentifier) -> Int {
        let address = UInt(bitPattern: type)
        return Int(truncatingIfNeeded: (address &>> 3 ^ address &>> 10) & UInt(slotCount - 1))
    }

    /// Returns the slot that holds the nodes of a type, or `nil`.
    @inline(__always)
    private func slot(_ type: ObjectIdentifier) -> UnsafeMutablePointer<Slot>? {
        let own = slots + Self.index(type)
        return own.pointee.type == type ? own : neighbour(type) { $0.type == type }
    }

    @inline(never)
    private func neighbour(
        _ type: ObjectIdentifier, where isIt: (Slot) -> Bool
    ) -> UnsafeMutablePointer<Slot>? {
        let index = Self.index(type)
        for step in 1...Self.neighbours {
            let slot = slots + ((index + step) & (Self.slotCount - 1))
            if isIt(slot.pointee) { return slot }
        }
        return nil
    }

    /// Assigns a slot to a type that has none: a free one, or one whose type has no idle node.
    @inline(never)
    private func newSlot(_ type: ObjectIdentifier) -> UnsafeMutablePointer<Slot>? {
        let own = slots + Self.index(type)
        if own.pointee.type == nil { return own }
        // A node in use returns to its slot later.
        if let unused = neighbour(type, where: { $0.type == nil }) { return unused }
        return own.pointee.first == nil ? own : neighbour(type) { $0.first == nil }
    }

    /// Returns an idle node that was used for the type.
    @inline(__always)
    mutating func take(_ type: any Any.Type) -> Node? {
        guard let slot = slot(ObjectIdentifier(type)), let node = slot.pointee.first else {
            return nil
        }
        slot.pointee.first = node._withUnsafeGuaranteedRef { $0.nextIdle }
        count &-= 1
        return node.takeRetainedValue()
    }

    /// Keeps a node whose use has ended without its escape, or releases it if there is no room.
    @inline(__always)
    mutating func put(_ node: consuming Node, _ type: any Any.Type) {
        let type = ObjectIdentifier(type)
        guard count < Self.countMax, let slot = slot(type) ?? newSlot(type) else { return }
        slot.pointee.type = type
        node.nextIdle = slot.pointee.first
        slot.pointee.first = Unmanaged.passRetained(node)
        count &+= 1
    }
}
