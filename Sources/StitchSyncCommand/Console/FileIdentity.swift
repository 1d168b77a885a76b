#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Tells whether two paths name one file, by whatever links and detours.
struct FileIdentity: Equatable {
    private let device: UInt64
    private let number: UInt64

    /// What SQLite and the sync engine keep beside a store's file.
    private static let suffixes = ["", "-wal", "-shm", "-journal", "-sync"]

    /// `nil` where there is no file.
    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        device = UInt64(truncatingIfNeeded: status.st_dev)
        number = UInt64(truncatingIfNeeded: status.st_ino)
    }

    /// Whether both are there, and one file.
    static func isSame(_ path: String, _ other: String) -> Bool {
        guard let file = FileIdentity(path) else { return false }
        return file == FileIdentity(other)
    }

    /// Whether a path names a store's file, or one that is or may come to be beside it.
    static func isOfStore(_ path: String, _ store: String) -> Bool {
        suffixes.contains { path == store + $0 || isSame(path, store + $0) }
    }
}
