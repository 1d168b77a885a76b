import BSONQuery

/// An expression of a script, as a tree.
indirect enum ScriptExpression: Sendable {
    case undefined
    case null
    case bool(Bool)
    case number(Double)
    case bigInt(ScriptBigInt)
    case string(String)
    /// Texts with values between them.
    case template([String], [ScriptExpression])
    case pattern(String, flags: String)
    case this
    case name(String)
    case array([ScriptExpression])
    /// A missing element of an array literal.
    case hole
    /// All items of a value, in an array literal or in arguments.
    case spread(ScriptExpression)
    case object([ScriptField])
    case `class`(ScriptClass)
    /// Accesses that end with `undefined` at an optional one whose subject is undefined or null.
    case chain(ScriptExpression)
    case superMember(ScriptExpression)
    case superCall([ScriptExpression])
    case function(ScriptFunction)
    /// A property by the value of its name; `isOptional` if the subject may be undefined or null.
    case member(ScriptExpression, ScriptExpression, isOptional: Bool)
    case call(ScriptExpression, [ScriptExpression], isOptional: Bool)
    case new(ScriptExpression, [ScriptExpression])
    case unary(ScriptOperator, ScriptExpression)
    /// The value of a promise.
    case await(ScriptExpression)
    /// A value, or all items of one, that a generator hands out.
    case yield(ScriptExpression, isAll: Bool)
    /// Increments or decrements a place.
    case step(ScriptExpression, by: Double, isPrefix: Bool)
    case binary(ScriptOperator, ScriptExpression, ScriptExpression)
    case conditional(ScriptExpression, ScriptExpression, ScriptExpression)
    /// Stores into a place, after applying an operator if there is one.
    case assign(ScriptExpression, ScriptOperator?, ScriptExpression)
    /// Stores the parts of a value into several places.
    case destructure(ScriptTarget, ScriptExpression)
    case sequence([ScriptExpression])
}
