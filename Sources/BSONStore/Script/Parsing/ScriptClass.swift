import BSONQuery

/// A class of a script.
final class ScriptClass: Sendable {
    /// A part of a class.
    struct Member: Sendable {
        enum Content: Sendable {
            case method(ScriptFunction)
            case getter(ScriptFunction)
            case setter(ScriptFunction)
            case field(ScriptExpression?)
            /// Statements that run when the class is made.
            case block([ScriptStatement])
        }

        let key: ScriptExpression
        let isStatic: Bool
        let content: Content
    }

    let name: String?
    let parent: ScriptExpression?
    let constructor: ScriptFunction?
    let members: [Member]
    let source: String

    init(
        name: String?, parent: ScriptExpression?, constructor: ScriptFunction?, members: [Member],
        source: String
    ) {
        self.name = name
        self.parent = parent
        self.constructor = constructor
        self.members = members
        self.source = source
    }

    /// Returns the same class with another name.
    func named(_ name: String?) -> ScriptClass {
        ScriptClass(
            name: name, parent: parent, constructor: constructor, members: members, source: source)
    }
}
