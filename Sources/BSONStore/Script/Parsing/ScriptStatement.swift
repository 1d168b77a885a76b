import BSONQuery

/// A statement of a script, as a tree.
indirect enum ScriptStatement: Sendable {
    case expression(ScriptExpression)
    /// A statement with the place in the text where it begins.
    case located(Int, ScriptStatement)
    case declare([(target: ScriptTarget, value: ScriptExpression?)], ScriptBinding)
    case function(ScriptFunction)
    case block([ScriptStatement])
    case condition(ScriptExpression, ScriptStatement, ScriptStatement?)
    case loop(
        first: ScriptStatement?, test: ScriptExpression?, next: ScriptExpression?,
        body: ScriptStatement, testsFirst: Bool)
    /// Iterates over the names of properties, or over values.
    case forEach(
        ScriptTarget, ScriptBinding, of: ScriptExpression, isValues: Bool, body: ScriptStatement)
    case labelled(String, ScriptStatement)
    case select(ScriptExpression, [(test: ScriptExpression?, body: [ScriptStatement])])
    case `return`(ScriptExpression?)
    case `throw`(ScriptExpression)
    case attempt(
        [ScriptStatement], name: ScriptTarget?, rescue: [ScriptStatement]?,
        always: [ScriptStatement])
    case `break`(String?)
    case `continue`(String?)
}

extension ScriptStatement {
    /// Returns the names that `var` declares in statements, outside of their functions.
    static func variables(of statements: [ScriptStatement]) -> [String] {
        statements.flatMap(\.variables)
    }

    private var variables: [String] {
        switch self {
        case .located(_, let statement), .labelled(_, let statement): statement.variables
        case .declare(let names, .variable): names.flatMap(\.target.names)
        case .block(let statements): Self.variables(of: statements)
        case .condition(_, let body, let other): body.variables + (other?.variables ?? [])
        case .loop(let first, _, _, let body, _): (first?.variables ?? []) + body.variables
        case .forEach(let target, .variable, _, _, let body): target.names + body.variables
        case .forEach(_, _, _, _, let body): body.variables
        case .select(_, let cases): cases.flatMap { Self.variables(of: $0.body) }
        case .attempt(let body, _, let rescue, let always):
            Self.variables(of: body) + Self.variables(of: rescue ?? [])
                + Self.variables(of: always)
        case .expression, .declare, .function, .return, .throw, .break, .continue: []
        }
    }

    /// The names that the statement declares in its block, which exist before it runs.
    var blockNames: [String] {
        switch self {
        case .located(_, let statement): statement.blockNames
        case .declare(let names, .block), .declare(let names, .constant):
            names.flatMap(\.target.names)
        default: []
        }
    }
}
