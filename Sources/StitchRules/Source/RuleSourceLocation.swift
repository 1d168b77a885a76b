internal import BSONStore

/// A place in a rule file.
struct RuleSourceLocation: Sendable, Hashable {
    let file: String
    let path: String
    /// The number of steps from the file's root.
    let depth: Int

    /// The place of the whole file.
    init(file: String) {
        self.init(file: file, path: "", depth: 0)
    }

    private init(file: String, path: String, depth: Int) {
        self.file = file
        self.path = path
        self.depth = depth
    }

    /// The place of a key's value; ambiguous keys are quoted.
    subscript(key: String) -> RuleSourceLocation {
        let isPlain = !key.isEmpty && !key.utf8.contains { ".[]\"".utf8.contains($0) }
        let step = isPlain ? (path.isEmpty ? key : ".\(key)") : "[\"\(key)\"]"
        return RuleSourceLocation(file: file, path: path + step, depth: depth + 1)
    }

    /// The place of an array element.
    subscript(index: Int) -> RuleSourceLocation {
        RuleSourceLocation(file: file, path: "\(path)[\(index)]", depth: depth + 1)
    }

    /// Returns an error at this place.
    func error(_ reason: RuleError.Reason, _ message: String) -> RuleError {
        RuleError(reason: reason, file: file, path: path, message: message)
    }

    /// Returns a warning at this place.
    func warning(_ message: String) -> RuleWarning {
        RuleWarning(file: file, path: path, message: message)
    }
}
