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
    /// Whether calls return promises.
    let isAsync: Bool
    /// Whether calls return an object that runs the body piece by piece.
    let isGenerator: Bool
    /// Whether the function's own name is known in its body.
    let bindsName: Bool
    /// The function as the script writes it.
    let source: String
    let origin: ScriptOrigin?
    /// The names that `var` declares in the body.
    let variables: [String]

    init(
        name: String?, parameters: [ScriptTarget] = [], rest: ScriptTarget? = nil,
        body: [ScriptStatement], isArrow: Bool = false, isAsync: Bool = false,
        isGenerator: Bool = false, bindsName: Bool = false, source: String = "",
        origin: ScriptOrigin? = nil
    ) {
        self.name = name
        self.parameters = parameters
        self.rest = rest
        self.body = body
        self.isArrow = isArrow
        self.isAsync = isAsync
        self.isGenerator = isGenerator
        self.bindsName = bindsName
        self.source = source
        self.origin = origin
        variables = ScriptStatement.variables(of: body)
    }

    /// Returns the same function with another name, or as an expression that knows its name.
    func named(
        _ name: String?, bindsName: Bool = false, source: String? = nil
    ) -> ScriptFunction {
        ScriptFunction(
            name: name, parameters: parameters, rest: rest, body: body, isArrow: isArrow,
            isAsync: isAsync, isGenerator: isGenerator, bindsName: bindsName,
            source: source ?? self.source, origin: origin)
    }

    /// The number of parameters before the first one with a default.
    var length: Int {
        parameters.firstIndex { if case .defaulted = $0 { true } else { false } }
            ?? parameters.count
    }
}
