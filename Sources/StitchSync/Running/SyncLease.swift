internal import BSONStore

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// Holds the right to sync a store's file: one engine at a time, in one process (rule R13).
///
/// The right is a lock of the operating system on a file beside the store; it ends with the process
/// at the latest. A store in memory needs none.
final class SyncLease: Sendable {
    private let descriptor: Int32

    /// Takes the right.
    ///
    /// - Throws: `SyncError` of code `.storeInUse` when another engine has it, `.storeFailed` when
    ///   the lock's file cannot be made.
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

    /// Takes the right to sync a store's file, under whatever name it was opened.
    convenience init(ofStore path: String) throws(SyncError) {
        let resolved = realpath(path, nil)
        defer { free(resolved) }
        try self.init(path: (resolved.map { String(cString: $0) } ?? path) + "-sync")
    }

    deinit { close(descriptor) }
}
