import BSONQuery

/// A statement of a script, as a tree.
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
    /// Iterates over the names of properties, or over values.
    case forEach(name: String, of: ScriptExpression, isValues: Bool, body: ScriptStatement)
    case select(ScriptExpression, [(test: ScriptExpression?, body: [ScriptStatement])])
    case `return`(ScriptExpression?)
    case `throw`(ScriptExpression)
    case attempt(
        [ScriptStatement], name: String?, rescue: [ScriptStatement]?, always: [ScriptStatement])
    case `break`
    case `continue`
}
