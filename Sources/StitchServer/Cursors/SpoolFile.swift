internal import BSONStore
#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// A temporary file without a name, readable for its process only; it ends with the last user.
final class SpoolFile: Sendable {
    private let descriptor: CInt
    private let byteCountNow = Locked(0)

    /// Creates a file in a folder and removes its name at once.
    ///
    /// - Throws: 39 (FileStreamFailed) when that fails, 14031 for a full disk.
    convenience init(in folder: String) throws(StoreError) {
        let path = "\(folder)/.stitchsync-\(UInt64.random(in: .min ... .max))"
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.failure("create a file in \(folder)", errno) }
        guard unlink(path) == 0 else {
            let reason = errno
            close(descriptor)
            throw Self.failure("remove the name of a file in \(folder)", reason)
        }
        self.init(owning: descriptor)
    }

    /// Takes an open file, and closes it in the end.
    init(owning descriptor: CInt) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// The size in bytes.
    var byteCount: Int { byteCountNow.withLock { $0 } }

    /// Writes bytes at the end; only one thread may write.
    ///
    /// - Throws: 14031 for a full disk, 39 (FileStreamFailed) for other failures.
    func append(_ bytes: [UInt8]) throws(StoreError) {
        let start = byteCount
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes { buffer in
                pwrite(
                    descriptor, buffer.baseAddress.map { $0 + done }, bytes.count - done,
                    off_t(start + done))
            }
            if count > 0 {
                done += count
            } else if count == 0 || errno != EINTR {
                throw Self.failure("write", count == 0 ? ENOSPC : errno)
            }
        }
        byteCountNow.withLock { $0 = start + done }
    }

    /// Reads bytes; fewer only at the end of the file.
    ///
    /// - Throws: 39 (FileStreamFailed).
    func read(at offset: Int, count: Int) throws(StoreError) -> [UInt8] {
        let count = min(count, max(0, byteCount - offset))
        var reason: CInt?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, done in
            done = 0
            while done < count {
                let read = pread(
                    descriptor, buffer.baseAddress.map { $0 + done }, count - done,
                    off_t(offset + done))
                if read > 0 {
                    done += read
                } else if read == 0 || errno != EINTR {
                    reason = read == 0 ? EIO : errno
                    return
                }
            }
        }
        if let reason { throw Self.failure("read", reason) }
        return bytes
    }

    private static func failure(_ what: String, _ reason: CInt) -> StoreError {
        let isFull = [ENOSPC, EDQUOT, EFBIG].contains(reason)
        return StoreError(
            isFull ? .diskFull : .ioError,
            "cannot \(what) for a large result: \(String(cString: strerror(reason)))"
                + (isFull ? " (free space on the disk, or ask for fewer documents)" : ""))
    }
}
