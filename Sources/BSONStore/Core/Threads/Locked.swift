#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// A value behind a lock that the thread sanitizer can see, unlike `Synchronization.Mutex`.
///
/// The body is synchronous, so the lock is never held across an `await`.
package final class Locked<State>: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    // The lock is what excludes a second access: the runtime's own check would be a second one.
    @exclusivity(unchecked) @usableFromInline var state: State

    /// Creates a lock around a value.
    package init(_ state: sending State) {
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
        self.state = state
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Runs a body with exclusive access to the value.
    @inlinable
    package func withLock<R, E: Error>(
        _ body: (inout sending State) throws(E) -> sending R
    ) throws(E) -> sending R {
        lock()
        defer { unlock() }
        return try body(&state)
    }

    @usableFromInline
    func lock() { pthread_mutex_lock(mutex) }

    @usableFromInline
    func unlock() { pthread_mutex_unlock(mutex) }
}
