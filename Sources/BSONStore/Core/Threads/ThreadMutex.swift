#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif
internal import Synchronization

/// A lock around code of the user that knows which thread holds it.
package final class ThreadMutex: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let owner = Atomic<UInt>(0)

    package init() {
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Waits until no other thread holds the lock, and takes it.
    package func lock() {
        pthread_mutex_lock(mutex)
        owner.store(Self.currentThread, ordering: .relaxed)
    }

    /// Waits as ``lock()`` does, within this thread's work budget.
    ///
    /// - Throws: the reason why the work must end; the thread does not hold the lock then.
    package func lockWithinBudget() throws(StoreError) {
        if pthread_mutex_trylock(mutex) != 0 {
            guard WorkBudget.current != nil else { return lock() }
            while !isTakenSoon() { try WorkBudget.check() }
        }
        owner.store(Self.currentThread, ordering: .relaxed)
    }

    /// Waits some milliseconds and returns whether the thread now holds the lock.
    private func isTakenSoon() -> Bool {
        #if canImport(Darwin)
            var pause = timespec(tv_sec: 0, tv_nsec: 2_000_000)
            nanosleep(&pause, nil)
            return pthread_mutex_trylock(mutex) == 0
        #else
            var time = timespec()
            clock_gettime(CLOCK_REALTIME, &time)
            time.tv_nsec += 10_000_000
            if time.tv_nsec >= 1_000_000_000 {
                time.tv_sec += 1
                time.tv_nsec -= 1_000_000_000
            }
            return pthread_mutex_timedlock(mutex, &time) == 0
        #endif
    }

    /// Releases the lock; the thread that locked must call it.
    package func unlock() {
        owner.store(0, ordering: .relaxed)
        pthread_mutex_unlock(mutex)
    }

    /// Whether the calling thread holds the lock, so that locking again would deadlock.
    package var isHeldByThisThread: Bool { owner.load(ordering: .relaxed) == Self.currentThread }

    private static var currentThread: UInt {
        #if canImport(Darwin)
            UInt(bitPattern: pthread_self())
        #else
            UInt(pthread_self())
        #endif
    }
}
