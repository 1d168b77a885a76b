#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// Makes the file of a store and its directory readable for their owner only.
enum StoreFile {
    /// Makes the file with mode 0600 and missing directories with 0700; a file that is there stays.
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

    /// Returns how many bytes the file has, `nil` when it is not there.
    static func size(_ path: String) -> Int? { status(path)?.size }

    /// Says which file lies at a path, and how long it is.
    struct Status: Sendable {
        fileprivate let device: UInt64
        fileprivate let number: UInt64
        let size: Int

        /// Whether both are one file, whatever its size.
        func isSameFile(as other: Self) -> Bool {
            device == other.device && number == other.number
        }
    }

    /// What lies at a path, `nil` when nothing does.
    static func status(_ path: String) -> Status? {
        var found = stat()
        guard stat(path, &found) == 0 else { return nil }
        return Status(
            device: UInt64(truncatingIfNeeded: found.st_dev),
            number: UInt64(truncatingIfNeeded: found.st_ino), size: Int(found.st_size))
    }

    /// Removes a file; one that is not there is no fault.
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
