import BSONQuery

/// A part of an object literal.
enum ScriptField: Sendable {
    case property(ScriptExpression, ScriptExpression)
    case getter(ScriptExpression, ScriptFunction)
    case setter(ScriptExpression, ScriptFunction)
    /// All properties of a value.
    case spread(ScriptExpression)
}
