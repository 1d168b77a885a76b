/// Holds the names that a function, or a block of it, declares.
final class ScriptScope {
    private var values: [Name: ScriptValue] = [:]
    private var isReleased = false
    let parent: ScriptScope?
    /// Whether `var` declares here.
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

    /// Hands over all that it holds; scopes around it are as many as functions stand in another.
    func give(to release: inout ScriptDeallocator) {
        guard !values.isEmpty else { return }
        for case .object(let object) in values.values { release.objects.append(object) }
        values = [:]
    }

    func value(_ name: String) -> ScriptValue? {
        var scope: ScriptScope? = self
        while let here = scope {
            if let value = here.values[name] { return value }
            scope = here.parent
        }
        return nil
    }

    func declare(_ name: String, _ value: ScriptValue) { values[name] = value }

    /// Lets go of all values of this scope and of those around it.
    func forget() {
        var scope: ScriptScope? = self
        while let here = scope, !here.isReleased {
            here.isReleased = true
            here.values = [:]
            scope = here.parent
        }
    }

    /// Declares a name in the function, and keeps the value that it has.
    func declareInFunction(_ name: String, _ value: ScriptValue?) {
        var scope = self
        while !scope.isFunction, let parent = scope.parent { scope = parent }
        if let value {
            scope.values[name] = value
        } else if scope.values[name] == nil {
            scope.values[name] = .undefined
        }
    }

    /// Stores into a name that is known; one that is not is declared outside of all functions.
    func assign(_ name: String, _ value: ScriptValue) {
        var scope = self
        while scope.values[name] == nil, let parent = scope.parent { scope = parent }
        scope.values[name] = value
    }
}
