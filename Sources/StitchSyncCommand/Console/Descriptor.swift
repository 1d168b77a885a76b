#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// An open file, pipe or terminal.
struct Descriptor: Sendable {
    /// The file descriptor.
    let number: Int32
    /// The name in errors.
    let name: String

    static let input = Descriptor(number: 0, name: "standard input")
    static let output = Descriptor(number: 1, name: "standard output")
    static let error = Descriptor(number: 2, name: "standard error")

    init(number: Int32, name: String = "a pipe") {
        self.number = number
        self.name = name
    }

    /// Whether a person may be watching.
    var isTerminal: Bool { isatty(number) == 1 }

    /// Opens a file for reading; `-` is standard input.
    static func reading(_ path: String) throws(CommandError) -> Descriptor {
        if path == "-" { return .input }
        let number = open(path, O_RDONLY | O_CLOEXEC)
        guard number >= 0 else { throw CommandError("cannot read \(path): \(Self.reason)") }
        return Descriptor(number: number, name: path)
    }

    /// Returns a path from the root of the file system on.
    static func absolute(_ path: String) -> String {
        guard path.utf8.first != UInt8(ascii: "/"), let folder = getcwd(nil, 0) else { return path }
        defer { free(folder) }
        return String(cString: folder) + "/" + path
    }

    /// Returns the text of a file.
    ///
    /// - Throws: `CommandError` if it cannot be read.
    static func text(of path: String) throws(CommandError) -> String {
        let descriptor = try reading(path)
        defer { descriptor.close() }
        var bytes: [UInt8] = []
        while case let part = try descriptor.read(countMax: 65_536), !part.isEmpty {
            bytes += part
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Creates or truncates a file for writing; `-` is standard output.
    ///
    /// - Parameter store: the path of a store that is being read; its files are not overwritten.
    static func writing(
        _ path: String, sparing store: String? = nil
    ) throws(CommandError) -> Descriptor {
        if path == "-" { return .output }
        if let store, FileIdentity.isOfStore(path, store) {
            throw CommandError("\(path) belongs to the store itself; name another file")
        }
        let number = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard number >= 0 else { throw CommandError("cannot write \(path): \(Self.reason)") }
        return Descriptor(number: number, name: path)
    }

    /// Creates a new file for writing; `-` is standard output.
    ///
    /// - Parameter name: the name in errors; the path by default.
    static func making(
        _ path: String, for name: String? = nil
    ) throws(CommandError) -> Descriptor {
        if path == "-" { return .output }
        let number = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard number >= 0 else {
            throw CommandError(
                errno == EEXIST
                    ? "\(path) exists already; name another file"
                    : "cannot write \(name ?? path): \(Self.reason)")
        }
        return Descriptor(number: number, name: name ?? path)
    }

    /// The size of a regular file in bytes; `nil` for pipes and terminals.
    var byteCount: Int? {
        var status = stat()
        guard fstat(number, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return Int(status.st_size)
    }

    /// Reads the available bytes and waits for at least one; returns 0 at the end.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(CommandError) -> Int {
        while true {
            #if canImport(Darwin)
                let count = Darwin.read(number, buffer.baseAddress, buffer.count)
            #else
                let count = Glibc.read(number, buffer.baseAddress, buffer.count)
            #endif
            if count >= 0 { return count }
            guard errno == EINTR else { throw CommandError("cannot read \(name): \(Self.reason)") }
        }
    }

    /// Reads the available bytes and waits for at least one; returns none at the end.
    func read(countMax: Int) throws(CommandError) -> [UInt8] {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: countMax, alignment: 1)
        defer { buffer.deallocate() }
        return Array(buffer[..<(try read(into: buffer))])
    }

    /// Writes all bytes.
    func write(_ bytes: [UInt8]) throws(CommandError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { buffer in
                #if canImport(Darwin)
                    Darwin.write(number, buffer.baseAddress, buffer.count)
                #else
                    Glibc.write(number, buffer.baseAddress, buffer.count)
                #endif
            }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno != EINTR {
                throw CommandError("cannot write \(name): \(Self.reason)")
            }
        }
    }

    /// Closes the descriptor, except standard input, output and error.
    func close() {
        guard number > 2 else { return }
        #if canImport(Darwin)
            _ = Darwin.close(number)
        #else
            _ = Glibc.close(number)
        #endif
    }

    private static var reason: String { String(cString: strerror(errno)) }
}
