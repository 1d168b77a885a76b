#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// The bytes of a file that the app attaches, which are read piece by piece.
struct AttachmentSource: Sendable {
    let length: Int64
    private let readBytes: @Sendable (Int64, Int) throws -> [UInt8]

    init(_ bytes: [UInt8]) {
        self.init(length: Int64(bytes.count)) {
            Array(bytes[Int($0)..<min(Int($0) + $1, bytes.count)])
        }
    }

    /// - Parameter read: returns bytes from a place, at most as many as its second argument.
    init(length: Int64, read: @escaping @Sendable (Int64, Int) throws -> [UInt8]) {
        (self.length, readBytes) = (length, read)
    }

    /// - Throws: `SyncError` of code `.fileUnreadable` for a file that cannot be read.
    init(path: String) throws(SyncError) {
        let file = try ReadFile(path)
        length = file.length
        readBytes = { try file.read(at: $0, count: $1) }
    }

    /// Returns bytes from a place, as many as are asked for unless the source ends.
    func read(at offset: Int64, count: Int) throws -> [UInt8] { try readBytes(offset, count) }

    static func tooShort(_ length: Int64, _ found: Int64) -> SyncError {
        SyncError(
            .fileUnreadable,
            "the file had \(length) bytes and has \(found) now: it is being changed")
    }
}

/// A file that is open for reading.
private final class ReadFile: Sendable {
    let length: Int64
    private let path: String
    private let descriptor: CInt

    init(_ path: String) throws(SyncError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw LocalFile.error("open", path) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            let error = LocalFile.error("read", path)
            close(descriptor)
            throw error
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw SyncError(.fileUnreadable, "\(path) is not a file")
        }
        self.path = path
        self.descriptor = descriptor
        length = Int64(status.st_size)
    }

    deinit { close(descriptor) }

    func read(at offset: Int64, count: Int) throws(SyncError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
            let place = filled
            let got = bytes.withUnsafeMutableBytes {
                pread(
                    descriptor, $0.baseAddress?.advanced(by: place), count - place,
                    off_t(offset) + off_t(place))
            }
            if got < 0 {
                if errno == EINTR { continue }
                throw LocalFile.error("read", path)
            }
            if got == 0 { break }
            filled += got
        }
        bytes.removeLast(count - filled)
        return bytes
    }
}

/// The writing of a content to a file of the app's.
enum LocalFile {
    /// Writes pieces to a file, which appears only when it is whole.
    ///
    /// - Throws: `SyncError` of code `.fileUnwritable`; what the pieces throw.
    static func write(to path: String, _ next: () async throws -> [UInt8]?) async throws {
        let partial = "\(path).part-\(UInt32.random(in: 0 ... .max))"
        let descriptor = open(partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw error("write", partial, .fileUnwritable) }
        do {
            while let bytes = try await next() { try write(bytes, to: descriptor, partial) }
            guard fsync(descriptor) == 0 else { throw error("write", partial, .fileUnwritable) }
            guard rename(partial, path) == 0 else { throw error("write", path, .fileUnwritable) }
            close(descriptor)
        } catch {
            close(descriptor)
            unlink(partial)
            throw error
        }
    }

    private static func write(
        _ bytes: [UInt8], to descriptor: CInt, _ path: String
    ) throws(SyncError) {
        var written = 0
        while written < bytes.count {
            let place = written
            #if canImport(Darwin)
                let count = bytes.withUnsafeBytes {
                    Darwin.write(descriptor, $0.baseAddress?.advanced(by: place), $0.count - place)
                }
            #elseif canImport(Glibc)
                let count = bytes.withUnsafeBytes {
                    Glibc.write(descriptor, $0.baseAddress?.advanced(by: place), $0.count - place)
                }
            #else
                let count = bytes.withUnsafeBytes {
                    Musl.write(descriptor, $0.baseAddress?.advanced(by: place), $0.count - place)
                }
            #endif
            if count < 0 {
                if errno == EINTR { continue }
                throw error("write", path, .fileUnwritable)
            }
            written += count
        }
    }

    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    static func error(
        _ verb: String, _ path: String, _ code: SyncError.Code = .fileUnreadable
    ) -> SyncError {
        SyncError(code, "cannot \(verb) \(path): \(String(cString: strerror(errno)))")
    }
}
