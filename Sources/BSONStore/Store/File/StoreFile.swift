#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// Functions on a store's file, which only its owner can read.
enum StoreFile {
    /// Creates the file with mode 0600 and missing directories with 0700; an existing file stays.
    ///
    /// SQLite gives `-wal` and `-shm` the mode of the file. The modes do not depend on the umask.
    ///
    /// - Throws: `cannotOpen` with the system's reason.
    static func create(_ path: String) throws(StoreError) {
        try createDirectories(of: path)
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            if errno == EEXIST || errno == EROFS || errno == EACCES { return }
            throw failure("make", path)
        }
        defer { close(descriptor) }
        guard fchmod(descriptor, 0o600) == 0 else { throw failure("protect", path) }
    }

    /// Returns the file's size in bytes; `nil` when it does not exist.
    static func size(_ path: String) -> Int? { status(path)?.size }

    /// The identity and size of the file at a path.
    struct Status: Sendable {
        fileprivate let device: UInt64
        fileprivate let number: UInt64
        let size: Int

        /// Whether both are the same file, whatever its size.
        func isSameFile(as other: Self) -> Bool {
            device == other.device && number == other.number
        }
    }

    /// Returns the status of the file at a path, or `nil`.
    static func status(_ path: UnsafePointer<CChar>) -> Status? {
        var found = stat()
        guard stat(path, &found) == 0 else { return nil }
        return Status(
            device: UInt64(truncatingIfNeeded: found.st_dev),
            number: UInt64(truncatingIfNeeded: found.st_ino), size: Int(found.st_size))
    }

    /// Removes a file; does nothing when it does not exist.
    static func remove(_ path: String) { unlink(path) }

    private static func createDirectories(of path: String) throws(StoreError) {
        guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return }
        let directory = String(path[..<slash])
        guard size(directory) == nil else { return }
        try createDirectories(of: directory)
        guard mkdir(directory, 0o700) == 0 else {
            if errno == EEXIST { return }
            throw failure("make", directory)
        }
        guard chmod(directory, 0o700) == 0 else { throw failure("protect", directory) }
    }

    private static func failure(_ action: String, _ path: String) -> StoreError {
        let reason = String(cString: strerror(errno))
        return StoreError(.cannotOpen, "Cannot \(action) \(path): \(reason)")
    }
}
