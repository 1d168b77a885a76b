import BSONQuery

/// A function of a script.
final class ScriptFunction: Sendable {
    let name: String?
    let parameters: [ScriptTarget]
    /// The place for all further arguments.
    let rest: ScriptTarget?
    let body: [ScriptStatement]
    /// Whether `this` is that of the enclosing function.
    let isArrow: Bool
    /// The function as the script writes it.
    let source: String

    init(
        name: String?, parameters: [ScriptTarget] = [], rest: ScriptTarget? = nil,
        body: [ScriptStatement], isArrow: Bool = false, source: String = ""
    ) {
        self.name = name
        self.parameters = parameters
        self.rest = rest
        self.body = body
        self.isArrow = isArrow
        self.source = source
    }

    /// The number of parameters before the first one with a default.
    var length: Int {
        parameters.firstIndex { if case .defaulted = $0 { true } else { false } }
            ?? parameters.count
    }
}
