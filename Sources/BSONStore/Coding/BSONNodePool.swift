/// Is a node that can serve again for another value of the same type.
protocol BSONPooledNode: AnyObject {
    /// The next idle node for the type, which the pool keeps.
    var next: Unmanaged<Self>? { get set }
}

/// Keeps the nodes of values that were coded, with their containers, for the next values of the
/// same types: making both costs as much as coding ten fields.
struct BSONNodePool<Node: BSONPooledNode>: ~Copyable {
    private struct Slot {
        var type: ObjectIdentifier?
        var first: Unmanaged<Node>?
    }

    private static var slotCount: Int { 128 }
    private static var countMax: Int { 128 }

    private let slots: UnsafeMutablePointer<Slot>
    private var count = 0

    init() {
        slots = .allocate(capacity: Self.slotCount)
        slots.initialize(repeating: Slot(type: nil, first: nil), count: Self.slotCount)
    }

    deinit {
        for slot in 0..<Self.slotCount {
            while let node = slots[slot].first {
                slots[slot].first = node._withUnsafeGuaranteedRef { $0.next }
                node.release()
            }
        }
        slots.deinitialize(count: Self.slotCount)
        slots.deallocate()
    }

    @inline(__always)
    private static func index(_ type: ObjectIdentifier) -> Int {
        let address = UInt(bitPattern: type)
        return Int(truncatingIfNeeded: (address &>> 3 ^ address &>> 10) & UInt(slotCount - 1))
    }

    /// An idle node that served for the type.
    @inline(__always)
    mutating func take(_ type: any Any.Type) -> Node? {
        let type = ObjectIdentifier(type)
        let slot = slots + Self.index(type)
        guard slot.pointee.type == type, let node = slot.pointee.first else { return nil }
        slot.pointee.first = node._withUnsafeGuaranteedRef { $0.next }
        count &-= 1
        return node.takeRetainedValue()
    }

    /// Takes a node that nobody uses any more; lets it go where there is no room.
    @inline(__always)
    mutating func put(_ node: consuming Node, _ type: any Any.Type) {
        let type = ObjectIdentifier(type)
        let slot = slots + Self.index(type)
        if slot.pointee.type != type {
            guard slot.pointee.first == nil else { return }
            slot.pointee.type = type
        }
        guard count < Self.countMax else { return }
        node.next = slot.pointee.first
        slot.pointee.first = Unmanaged.passRetained(node)
        count &+= 1
    }
}
