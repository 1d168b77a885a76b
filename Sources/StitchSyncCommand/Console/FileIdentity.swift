#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The identity of a file, equal for all paths and links to it.
struct FileIdentity: Equatable {
    private let device: UInt64
    private let number: UInt64

    /// The suffixes of the files that SQLite and the sync engine keep next to a store's file.
    private static let suffixes = ["", "-wal", "-shm", "-journal", "-sync"]

    /// Returns `nil` if the file does not exist.
    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        device = UInt64(truncatingIfNeeded: status.st_dev)
        number = UInt64(truncatingIfNeeded: status.st_ino)
    }

    /// Whether both paths exist and name the same file.
    static func isSame(_ path: String, _ other: String) -> Bool {
        guard let file = FileIdentity(path) else { return false }
        return file == FileIdentity(other)
    }

    /// Whether a path names a store's file, or a file that may exist next to it.
    static func isOfStore(_ path: String, _ store: String) -> Bool {
        suffixes.contains { path == store + $0 || isSame(path, store + $0) }
    }
}
