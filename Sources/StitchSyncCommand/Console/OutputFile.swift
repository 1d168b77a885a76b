#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The output of a command, which replaces a file only once it is complete.
///
/// A failing command leaves the file unchanged; a killed one leaves a `.partial` file. Pipes,
/// devices and standard output (`-`) are written directly.
struct OutputFile: ~Copyable {
    /// The descriptor to write to.
    let descriptor: Descriptor
    /// The partial file and its final path; `nil` when written directly.
    private let move: (from: String, to: String)?

    /// Opens a path for writing.
    ///
    /// - Parameter store: the path of a store that is being read; its files are not overwritten.
    init(_ path: String, sparing store: String) throws(CommandError) {
        var status = stat()
        let isThere = path != "-" && stat(path, &status) == 0
        guard path != "-", !isThere || status.st_mode & S_IFMT == S_IFREG else {
            descriptor = try Descriptor.writing(path, sparing: store)
            move = nil
            return
        }
        if FileIdentity.isOfStore(path, store) {
            throw CommandError("\(path) belongs to the store itself; name another file")
        }
        let target = isThere ? Self.resolved(path) : path
        let partial = "\(target).\(getpid()).partial"
        descriptor = try Descriptor.making(partial, for: path)
        move = (partial, target)
        if isThere { fchmod(descriptor.number, status.st_mode & 0o7777) }
    }

    deinit {
        descriptor.close()
        // After `keep()` the file has another name.
        if let move { unlink(move.from) }
    }

    /// Renames the complete file to its final path.
    func keep() throws(CommandError) {
        guard let move, rename(move.from, move.to) != 0 else { return }
        throw CommandError("cannot write \(move.to): \(String(cString: strerror(errno)))")
    }

    /// Returns the target of a symbolic link, so that the link itself stays.
    private static func resolved(_ path: String) -> String {
        guard let resolved = realpath(path, nil) else { return path }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}
