/// Names a place in a file of rules.
struct RuleSourceLocation: Sendable, Hashable {
    let file: String
    let path: String
    /// How many steps lead there.
    let depth: Int

    /// The whole file.
    init(file: String) {
        self.init(file: file, path: "", depth: 0)
    }

    private init(file: String, path: String, depth: Int) {
        self.file = file
        self.path = path
        self.depth = depth
    }

    /// The value of a key; keys that could be misread are quoted.
    subscript(key: String) -> RuleSourceLocation {
        let isPlain = !key.isEmpty && !key.utf8.contains { ".[]\"".utf8.contains($0) }
        let step = isPlain ? (path.isEmpty ? key : ".\(key)") : "[\"\(key)\"]"
        return RuleSourceLocation(file: file, path: path + step, depth: depth + 1)
    }

    /// An element of an array.
    subscript(index: Int) -> RuleSourceLocation {
        RuleSourceLocation(file: file, path: "\(path)[\(index)]", depth: depth + 1)
    }

    /// Returns the error of what stands here.
    func error(_ reason: RuleError.Reason, _ message: String) -> RuleError {
        RuleError(reason: reason, file: file, path: path, message: message)
    }

    /// Returns the warning about what stands here.
    func warning(_ message: String) -> RuleWarning {
        RuleWarning(file: file, path: path, message: message)
    }
}
