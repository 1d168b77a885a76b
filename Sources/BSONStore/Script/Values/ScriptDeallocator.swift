/// Releases objects and scopes one after the other: what holds what holds the next, however many
/// levels there are, takes no more of the thread's stack.
struct ScriptDeallocator {
    var objects: [ScriptObject] = []
    var scopes: [ScriptScope] = []

    /// Releases all, and what only they hold.
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
