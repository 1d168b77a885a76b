import BSONQuery

/// An expression of a script, as a tree.
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
    /// A property by the value of its name; `isOptional` if the subject may be undefined or null.
    case member(ScriptExpression, ScriptExpression, isOptional: Bool)
    case call(ScriptExpression, [ScriptExpression])
    case new(ScriptExpression, [ScriptExpression])
    case unary(ScriptOperator, ScriptExpression)
    /// Increments or decrements a place.
    case step(ScriptExpression, by: Double, isPrefix: Bool)
    case binary(ScriptOperator, ScriptExpression, ScriptExpression)
    case conditional(ScriptExpression, ScriptExpression, ScriptExpression)
    /// Stores into a place, after applying an operator if there is one.
    case assign(ScriptExpression, ScriptOperator?, ScriptExpression)
    case sequence([ScriptExpression])
}
