internal import BSONStore

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// The lease on a store's file: only one engine in one process may sync it at a time (rule R13).
///
/// The lease is a lock of the operating system on a file next to the store; it ends with the
/// process at the latest. A store in memory needs none.
final class SyncLease: Sendable {
    private let descriptor: Int32

    /// Acquires the lease.
    ///
    /// - Throws: `SyncError` of code `.storeInUse` when another engine holds it, `.storeFailed`
    ///   when the lock's file cannot be created.
    init(path: String) throws(SyncError) {
        let opened = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard opened >= 0 else {
            throw SyncError(.storeFailed, "\(path): \(String(cString: strerror(errno)))")
        }
        guard flock(opened, LOCK_EX | LOCK_NB) == 0 else {
            // The property is not set yet, so that this is the only close: `deinit` does not run.
            // A second one could hit a file that another thread has opened meanwhile.
            close(opened)
            throw SyncError(.storeInUse, "another engine syncs this store; \(path) is locked")
        }
        descriptor = opened
    }

    /// Acquires the lease on a store's file, under whatever path it was opened.
    convenience init(ofStore path: String) throws(SyncError) {
        let resolved = realpath(path, nil)
        defer { free(resolved) }
        try self.init(path: (resolved.map { String(cString: $0) } ?? path) + "-sync")
    }

    deinit {
        // A process that another thread is just starting has a copy of the descriptor until it runs
        // its program. Closing alone would leave the lock to it.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }
}
