#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// Guards a value by a lock that the thread sanitizer can see, which `Synchronization.Mutex` is not.
///
/// The lock is never held across an `await`: the body is synchronous.
package final class Locked<State>: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private var state: State

    /// Takes the value to guard.
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

    /// Runs a body that alone may see and change the value.
    package func withLock<R, E: Error>(
        _ body: (inout sending State) throws(E) -> sending R
    ) throws(E) -> sending R {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&state)
    }
}
