import BSONStore

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The lines that a person has typed, kept in a file that only its owner can read.
///
/// A statement that may hold a password is not kept.
struct LineHistory {
    /// The lines, the newest last.
    private(set) var lines: [String] = []
    /// The file; `nil` to keep the lines in memory only.
    private let path: String?

    /// The largest number of lines.
    static let linesMax = 1_000

    /// Names of methods and fields whose statements may hold a password.
    private static let secrets = [
        "password", "passwd", "pwd", "passphrase", "secret", "createuser", "updateuser", ".auth(",
        "token", "apikey", "credential",
    ]

    /// Reads the lines of a file, which may be missing.
    ///
    /// - Throws: `CommandError` if it cannot be read.
    init(at path: String?) throws(CommandError) {
        self.path = path
        guard let path, access(path, F_OK) == 0 else { return }
        for line in try Descriptor.text(of: path).split(separator: "\n") { keep(String(line)) }
    }

    /// The file in the home folder of the person; `nil` without one.
    static var usualPath: String? {
        guard let home = getenv("HOME").map({ String(cString: $0) }), !home.isEmpty else {
            return nil
        }
        return home + "/.stitchsync_history"
    }

    /// Whether a text may hold a password, in an address or as an argument.
    static func isSecret(_ text: String) -> Bool {
        let small = text.lowercased()
        return secrets.contains { small.contains($0) }
            || HiddenPassword.hidden(in: text, given: []) != text
    }

    /// Adds the lines of a statement, unless they may hold a password.
    ///
    /// - Throws: `CommandError` if the file cannot be written.
    mutating func add(_ statement: String) throws(CommandError) {
        guard !Self.isSecret(statement) else { return }
        let before = lines.count
        var added: [String] = []
        for line in statement.split(separator: "\n") where keep(String(line)) {
            added.append(String(line))
        }
        guard let path, !added.isEmpty else { return }
        let isFull = before + added.count > Self.linesMax
        // A file that is full is written anew, without the oldest lines.
        let number = open(
            path, O_WRONLY | O_CREAT | O_CLOEXEC | (isFull ? O_TRUNC : O_APPEND), 0o600)
        guard number >= 0 else {
            throw CommandError("cannot write \(path): \(String(cString: strerror(errno)))")
        }
        let file = Descriptor(number: number, name: path)
        defer { file.close() }
        fchmod(number, 0o600)
        try file.write(Array((isFull ? lines : added).map { $0 + "\n" }.joined().utf8))
    }

    /// Adds a line to memory; returns whether it is a new one.
    @discardableResult
    private mutating func keep(_ line: String) -> Bool {
        guard line.contains(where: { !$0.isWhitespace }),
            lines.last.map({ !$0.hasSameBytes(as: line) }) ?? true
        else { return false }
        lines.append(line)
        if lines.count > Self.linesMax { lines.removeFirst(lines.count - Self.linesMax) }
        return true
    }
}
