import BSONQuery

/// A release of objects and scopes one after the other, so that a long chain of references does not
/// overflow the thread's stack.
struct ScriptDeallocator {
    var objects: [ScriptObject] = []
    var scopes: [ScriptScope] = []

    /// Releases all objects, and those that only they retain.
    mutating func drain() {
        while true {
            if var object = objects.popLast() {
                if isKnownUniquelyReferenced(&object) { object.give(to: &self) }
            } else if var scope = scopes.popLast() {
                if isKnownUniquelyReferenced(&scope) { scope.give(to: &self) }
            } else {
                return
            }
        }
    }
}
