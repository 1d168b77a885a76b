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
