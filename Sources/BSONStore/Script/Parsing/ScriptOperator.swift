import BSONQuery

/// An operator of a script.
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

    /// The precedence of a binary operator; `nil` for a unary one.
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
