#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Takes what a command writes, and puts it in the place of a file once it is whole.
///
/// A command that fails midway leaves the file as it was; one that is killed leaves a `.partial` file.
/// Pipes and devices, and standard output for `-`, are written to as they are.
struct OutputFile: ~Copyable {
    /// Where to write.
    let descriptor: Descriptor
    /// The file that is written, and the one it becomes; `nil` where it is written to as it is.
    private let move: (from: String, to: String)?

    /// Opens what a path names for writing.
    ///
    /// - Parameter store: the path of a store that is read; its own files are not written over.
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
        // After `keep()` it has another name.
        if let move { unlink(move.from) }
    }

    /// Puts what was written in its place.
    func keep() throws(CommandError) {
        guard let move, rename(move.from, move.to) != 0 else { return }
        throw CommandError("cannot write \(move.to): \(String(cString: strerror(errno)))")
    }

    /// The path behind links, so that a link stays one.
    private static func resolved(_ path: String) -> String {
        guard let resolved = realpath(path, nil) else { return path }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}
