internal import Synchronization

/// Idle objects for reuse by any thread, about as many as there are cores.
final class IdleObjectPool<Parked: AnyObject>: Sendable {
    private let first = Atomic<UInt>(0)
    private let second = Atomic<UInt>(0)
    private let third = Atomic<UInt>(0)
    private let fourth = Atomic<UInt>(0)

    /// Removes and returns an object, or `nil` if the pool is empty.
    func take() -> Parked? {
        Self.take(first) ?? Self.take(second) ?? Self.take(third) ?? Self.take(fourth)
    }

    /// Keeps an object that has no other references, or releases it if there is no room.
    func leave(_ parked: consuming Parked) {
        let retained = Unmanaged.passRetained(parked)
        let address = UInt(bitPattern: retained.toOpaque())
        if Self.leave(address, first) || Self.leave(address, second) { return }
        if Self.leave(address, third) || Self.leave(address, fourth) { return }
        retained.release()
    }

    @inline(__always)
    private static func take(_ place: borrowing Atomic<UInt>) -> Parked? {
        guard place.load(ordering: .relaxed) != 0 else { return nil }
        return UnsafeRawPointer(bitPattern: place.exchange(0, ordering: .acquiring)).map {
            Unmanaged<Parked>.fromOpaque($0).takeRetainedValue()
        }
    }

    @inline(__always)
    private static func leave(_ address: UInt, _ place: borrowing Atomic<UInt>) -> Bool {
        guard place.load(ordering: .relaxed) == 0 else { return false }
        return place.compareExchange(expected: 0, desired: address, ordering: .releasing).exchanged
    }
}
