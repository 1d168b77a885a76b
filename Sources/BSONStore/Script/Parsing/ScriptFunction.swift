import BSONQuery

/// A function of a script.
final class ScriptFunction: Sendable {
    let name: String?
    let parameters: [String]
    let body: [ScriptStatement]
    /// Whether `this` is that of the enclosing function.
    let isArrow: Bool

    init(name: String?, parameters: [String], body: [ScriptStatement], isArrow: Bool = false) {
        self.name = name
        self.parameters = parameters
        self.body = body
        self.isArrow = isArrow
    }
}
