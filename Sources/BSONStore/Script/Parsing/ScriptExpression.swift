/// Is what a script computes, as a tree.
indirect enum ScriptExpression: Sendable {
    case undefined
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    /// Texts with values between them.
    case template([String], [ScriptExpression])
    case pattern(String, flags: String)
    case this
    case name(String)
    case array([ScriptExpression])
    case object([(key: ScriptExpression, value: ScriptExpression)])
    case function(ScriptFunction)
    /// A property by a value that names it; `isOptional` where nothing may be asked of nothing.
    case member(ScriptExpression, ScriptExpression, isOptional: Bool)
    case call(ScriptExpression, [ScriptExpression])
    case new(ScriptExpression, [ScriptExpression])
    case unary(ScriptOperator, ScriptExpression)
    /// Adds one to a place, or takes one from it.
    case step(ScriptExpression, by: Double, isPrefix: Bool)
    case binary(ScriptOperator, ScriptExpression, ScriptExpression)
    case conditional(ScriptExpression, ScriptExpression, ScriptExpression)
    /// Stores into a place, after an operator was applied where there is one.
    case assign(ScriptExpression, ScriptOperator?, ScriptExpression)
    case sequence([ScriptExpression])
}

/// Is what a script does, as a tree.
indirect enum ScriptStatement: Sendable {
    case expression(ScriptExpression)
    /// Declares names in the function, or in the block.
    case declare([(name: String, value: ScriptExpression?)], isBlockScoped: Bool)
    case function(ScriptFunction)
    case block([ScriptStatement])
    case condition(ScriptExpression, ScriptStatement, ScriptStatement?)
    case loop(
        first: ScriptStatement?, test: ScriptExpression?, next: ScriptExpression?,
        body: ScriptStatement, testsFirst: Bool)
    /// Goes over the names of properties, or over values.
    case forEach(name: String, of: ScriptExpression, isValues: Bool, body: ScriptStatement)
    case select(ScriptExpression, [(test: ScriptExpression?, body: [ScriptStatement])])
    case `return`(ScriptExpression?)
    case `throw`(ScriptExpression)
    case attempt(
        [ScriptStatement], name: String?, rescue: [ScriptStatement]?, always: [ScriptStatement])
    case `break`
    case `continue`
}

/// Is a function of a script.
final class ScriptFunction: Sendable {
    let name: String?
    let parameters: [String]
    let body: [ScriptStatement]
    /// Whether `this` is that of the place where it stands.
    let isArrow: Bool

    init(name: String?, parameters: [String], body: [ScriptStatement], isArrow: Bool = false) {
        self.name = name
        self.parameters = parameters
        self.body = body
        self.isArrow = isArrow
    }
}

/// Names an operator of a script.
enum ScriptOperator: String, Sendable {
    case add = "+"
    case subtract = "-"
    case multiply = "*"
    case divide = "/"
    case remainder = "%"
    case power = "**"
    case equal = "=="
    case notEqual = "!="
    case same = "==="
    case notSame = "!=="
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="
    case and = "&&"
    case or = "||"
    case coalesce = "??"
    case bitAnd = "&"
    case bitOr = "|"
    case bitXor = "^"
    case shiftLeft = "<<"
    case shiftRight = ">>"
    case shiftRightUnsigned = ">>>"
    case isIn = "in"
    case instance = "instanceof"
    case not = "!"
    case bitNot = "~"
    case typeOf = "typeof"
    case void = "void"
    case delete = "delete"

    /// How strongly it binds two operands; `nil` for what has one.
    var precedence: Int? {
        switch self {
        case .coalesce: 1
        case .or: 2
        case .and: 3
        case .bitOr: 4
        case .bitXor: 5
        case .bitAnd: 6
        case .equal, .notEqual, .same, .notSame: 7
        case .less, .lessOrEqual, .greater, .greaterOrEqual, .isIn, .instance: 8
        case .shiftLeft, .shiftRight, .shiftRightUnsigned: 9
        case .add, .subtract: 10
        case .multiply, .divide, .remainder: 11
        case .power: 12
        case .not, .bitNot, .typeOf, .void, .delete: nil
        }
    }
}
