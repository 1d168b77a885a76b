import BSONQuery

/// The names that a function, or a block of it, declares.
final class ScriptScope {
    private var values: [Name: ScriptValue] = [:]
    private var constants: Set<Name> = []
    /// The names of declarations that were not reached yet.
    private var pending: Set<Name> = []
    private var isReleased = false
    let parent: ScriptScope?
    /// Whether `var` declares in this scope.
    let isFunction: Bool

    init(in parent: ScriptScope?, isFunction: Bool) {
        self.parent = parent
        self.isFunction = isFunction
    }

    deinit {
        var release = ScriptDeallocator()
        give(to: &release)
        release.drain()
    }

    /// Moves its references to a deallocator; the depth of scopes is bounded by that of functions.
    func give(to release: inout ScriptDeallocator) {
        guard !values.isEmpty else { return }
        for case .object(let object) in values.values { release.objects.append(object) }
        values = [:]
    }

    func value(_ name: String) -> ScriptValue? {
        var scope: ScriptScope? = self
        while let here = scope {
            if let value = here.values[name] { return value }
            if !here.pending.isEmpty, here.pending.contains(Name(name)) { return nil }
            scope = here.parent
        }
        return nil
    }

    /// Whether the declaration of a name was not reached yet.
    func isPending(_ name: String) -> Bool {
        var scope: ScriptScope? = self
        while let here = scope {
            if here.values[name] != nil { return false }
            if here.pending.contains(Name(name)) { return true }
            scope = here.parent
        }
        return false
    }

    /// Announces a declaration, which hides the name of an outer scope from now on.
    func announce(_ name: String) {
        values[name] = nil
        pending.insert(Name(name))
    }

    func declare(_ name: String, _ value: ScriptValue) {
        values[name] = value
        if !constants.isEmpty { constants.remove(Name(name)) }
        if !pending.isEmpty { pending.remove(Name(name)) }
    }

    /// Declares a name that cannot be assigned to.
    func declareConstant(_ name: String, _ value: ScriptValue) {
        values[name] = value
        constants.insert(Name(name))
        if !pending.isEmpty { pending.remove(Name(name)) }
    }

    /// Returns a scope in the same outer one with the same values, for the next round of a loop.
    func copy() -> ScriptScope {
        let copy = ScriptScope(in: parent, isFunction: isFunction)
        copy.values = values
        copy.constants = constants
        return copy
    }

    /// Releases all values of this scope and of the outer ones.
    func forget() {
        var scope: ScriptScope? = self
        while let here = scope, !here.isReleased {
            here.isReleased = true
            here.values = [:]
            scope = here.parent
        }
    }

    /// Declares a name in the function; an existing value is kept.
    func declareInFunction(_ name: String, _ value: ScriptValue?) {
        var scope = self
        while !scope.isFunction, let parent = scope.parent { scope = parent }
        if let value {
            scope.values[name] = value
        } else if scope.values[name] == nil {
            scope.values[name] = .undefined
        }
    }

    /// Assigns to a known name; an unknown one is declared outside of all functions.
    ///
    /// - Returns: `false` for a constant, which keeps its value, and before a declaration.
    func assign(_ name: String, _ value: ScriptValue) -> Bool {
        var scope = self
        while scope.values[name] == nil {
            if !scope.pending.isEmpty, scope.pending.contains(Name(name)) { return false }
            guard let parent = scope.parent else { break }
            scope = parent
        }
        if !scope.constants.isEmpty, scope.constants.contains(Name(name)) { return false }
        scope.values[name] = value
        return true
    }
}
