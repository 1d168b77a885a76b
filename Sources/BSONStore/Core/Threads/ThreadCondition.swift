#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// A value behind a lock, with a condition: threads wait until the value changes.
///
/// ```swift
/// let jobs = ThreadCondition<[Job]>([])
/// jobs.withLock(waking: .one) { $0.append(job) }  // one thread
/// let job = jobs.wait { jobs in                   // another one
///     jobs.isEmpty ? .forSignal : .done(jobs.removeFirst())
/// }
/// ```
///
/// The value may hold objects that only one thread at a time may use, such as a connection. A body
/// that returns one hands it over: the value does not hold it any more, or its owner makes sure that
/// no other body uses it until it is put back.
package final class ThreadCondition<State>: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    // The lock is what excludes a second access: the runtime's own check would be a second one.
    @exclusivity(unchecked) @usableFromInline var state: State

    /// Creates a condition around a value.
    package init(_ state: sending State) {
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
        condition = .allocate(capacity: 1)
        condition.initialize(to: pthread_cond_t())
        #if canImport(Darwin)
            pthread_cond_init(condition, nil)
        #else
            var attributes = pthread_condattr_t()
            pthread_condattr_init(&attributes)
            pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
            pthread_cond_init(condition, &attributes)
            pthread_condattr_destroy(&attributes)
        #endif
        self.state = state
    }

    deinit {
        pthread_cond_destroy(condition)
        condition.deallocate()
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }
}

extension ThreadCondition {
    /// Runs a body with exclusive access to the value, then wakes waiting threads.
    ///
    /// - Parameter waking: the threads to wake if the body does not throw.
    @inlinable
    package func withLock<R, E: Error>(
        waking: ThreadWaking = .none, _ body: (inout State) throws(E) -> R
    ) throws(E) -> R {
        lock()
        defer { unlock() }
        let result = try body(&state)
        wake(waking)
        return result
    }

    /// Runs a body with exclusive access to the value, again after each wait that it asks for,
    /// until it is done.
    ///
    /// The body runs at least once. A wait may also end without a signal.
    @inlinable
    package func wait<R, E: Error>(
        until body: (inout State) throws(E) -> ThreadWait<R>
    ) throws(E) -> R {
        lock()
        defer { unlock() }
        while true {
            // The access to the value ends before the wait, which lets other threads change it.
            switch try body(&state) {
            case .done(let result): return result
            case .forSignal: waitForSignal()
            case .forSignalOr(let milliseconds): waitForSignal(milliseconds: milliseconds)
            }
        }
    }

    /// Wakes waiting threads; a body may call it, too.
    @inlinable
    package func wake(_ threads: ThreadWaking) {
        switch threads {
        case .none: break
        case .one: signal()
        case .all: broadcast()
        }
    }

    /// Waits for a signal, or until the time is over.
    package func pause(milliseconds: Int) {
        lock()
        defer { unlock() }
        waitForSignal(milliseconds: milliseconds)
    }
}

// MARK: - The lock and the condition in C

extension ThreadCondition {
    @usableFromInline
    func lock() { pthread_mutex_lock(mutex) }

    @usableFromInline
    func unlock() { pthread_mutex_unlock(mutex) }

    @usableFromInline
    func signal() { pthread_cond_signal(condition) }

    @usableFromInline
    func broadcast() { pthread_cond_broadcast(condition) }

    @usableFromInline
    func waitForSignal() { pthread_cond_wait(condition, mutex) }

    @usableFromInline
    func waitForSignal(milliseconds: Int) {
        #if canImport(Darwin)
            var time = timespec(
                tv_sec: milliseconds / 1_000, tv_nsec: milliseconds % 1_000 * 1_000_000)
            pthread_cond_timedwait_relative_np(condition, mutex, &time)
        #else
            var time = timespec()
            clock_gettime(CLOCK_MONOTONIC, &time)
            let nanoseconds = time.tv_nsec + milliseconds % 1_000 * 1_000_000
            time.tv_sec += milliseconds / 1_000 + nanoseconds / 1_000_000_000
            time.tv_nsec = nanoseconds % 1_000_000_000
            pthread_cond_timedwait(condition, mutex, &time)
        #endif
    }
}
