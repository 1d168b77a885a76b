import BSONQuery

/// The way in which a class makes its objects.
final class ScriptConstruction {
    /// The scope of the methods and of the values of fields.
    let scope: ScriptScope
    let fields: [(name: String, value: ScriptExpression?)]
    /// The constructor; `nil` if the class has none of its own.
    let constructor: ScriptFunction?
    let isDerived: Bool

    init(
        scope: ScriptScope, fields: [(name: String, value: ScriptExpression?)],
        constructor: ScriptFunction?, isDerived: Bool
    ) {
        self.scope = scope
        self.fields = fields
        self.constructor = constructor
        self.isDerived = isDerived
    }
}
