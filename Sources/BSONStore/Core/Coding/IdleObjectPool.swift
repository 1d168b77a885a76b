internal import Synchronization

/// Idle objects for reuse by any thread, about as many as there are cores.
///
/// Each place is 0 or the address of an object of which the pool owns one reference. The exchange
/// of the address hands that reference over, so that two threads never take the same object.
final class IdleObjectPool<Object: AnyObject>: Sendable {
    private let first = Atomic<UInt>(0)
    private let second = Atomic<UInt>(0)
    private let third = Atomic<UInt>(0)
    private let fourth = Atomic<UInt>(0)

    /// Removes and returns an object, or `nil` if the pool is empty.
    func take() -> Object? {
        Self.take(first) ?? Self.take(second) ?? Self.take(third) ?? Self.take(fourth)
    }

    /// Keeps an object that has no other references, or releases it if there is no room.
    func put(_ object: consuming Object) {
        let retained = Unmanaged.passRetained(object)
        let address = UInt(bitPattern: retained.toOpaque())
        if Self.put(address, first) || Self.put(address, second) { return }
        if Self.put(address, third) || Self.put(address, fourth) { return }
        retained.release()
    }

    @inline(__always)
    private static func take(_ place: borrowing Atomic<UInt>) -> Object? {
        guard place.load(ordering: .relaxed) != 0 else { return nil }
        return UnsafeRawPointer(bitPattern: place.exchange(0, ordering: .acquiring)).map {
            Unmanaged<Object>.fromOpaque($0).takeRetainedValue()
        }
    }

    @inline(__always)
    private static func put(_ address: UInt, _ place: borrowing Atomic<UInt>) -> Bool {
        guard place.load(ordering: .relaxed) == 0 else { return false }
        return place.compareExchange(expected: 0, desired: address, ordering: .releasing).exchanged
    }
}
