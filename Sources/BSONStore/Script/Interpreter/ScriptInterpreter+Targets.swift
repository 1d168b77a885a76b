import BSONQuery

extension ScriptInterpreter {
    /// Stores a value, or its parts, into a target.
    func bind(
        _ target: ScriptTarget, _ value: ScriptValue, _ binding: ScriptBinding,
        _ frame: ScriptFrame
    ) throws(ScriptFailure) {
        switch target {
        case .place(.name(let name)):
            switch binding {
            case .assign: try assign(name, value, frame)
            case .variable: frame.scope.declareInFunction(name, value)
            case .block: frame.scope.declare(name, value)
            case .constant: frame.scope.declareConstant(name, value)
            }
        case .place(let place): try store(value, at: try reference(place, frame), frame)
        case .defaulted(let target, let usual):
            let isMissing = ScriptString.isUndefined(value)
            try bind(target, isMissing ? try evaluate(usual, frame) : value, binding, frame)
        case .object(let fields, let rest):
            try deeper { () throws(ScriptFailure) in
                try bind(fields, rest, value, binding, frame)
            }
        case .array(let targets, let rest):
            try deeper { () throws(ScriptFailure) in
                let items = try items(of: value)
                for (index, target) in targets.enumerated() {
                    guard let target else { continue }
                    try bind(
                        target, index < items.count ? items[index] : .undefined, binding, frame)
                }
                guard let rest else { return }
                let further = ScriptObject(elements: Array(items.dropFirst(targets.count)))
                try bind(rest, .object(further), binding, frame)
            }
        }
    }

    private func bind(
        _ fields: [(key: ScriptExpression, target: ScriptTarget)], _ rest: ScriptTarget?,
        _ value: ScriptValue, _ binding: ScriptBinding, _ frame: ScriptFrame
    ) throws(ScriptFailure) {
        guard !value.isNothing else {
            throw fail(
                "TypeError",
                "Cannot destructure '\(value.text)' as it is \(value.text).")
        }
        var taken: Set<Name> = []
        for (key, target) in fields {
            let key = try evaluate(key, frame)
            taken.insert(Name(key.text))
            try bind(target, try property(key, of: value), binding, frame)
        }
        guard let rest else { return }
        let further = ScriptObject()
        try charge(64)
        try copyProperties(of: value, to: further) { !taken.contains(Name($0)) }
        try bind(rest, .object(further), binding, frame)
    }

    /// Copies the properties of a value to an object.
    func copyProperties(
        of value: ScriptValue, to target: ScriptObject,
        where isWanted: (String) -> Bool = { _ in true }
    ) throws(ScriptFailure) {
        if case .string = value {
            for (index, item) in try items(of: value).enumerated() where isWanted(String(index)) {
                target.set(String(index), item)
            }
            return
        }
        guard let source = value.object else { return }
        for name in source.ownNames where isWanted(name) {
            try charge(48 + name.utf8.count)
            try set(name, of: target, to: try property(.string(name), of: value))
        }
    }

    func assign(
        _ name: String, _ value: ScriptValue, _ frame: ScriptFrame
    ) throws(ScriptFailure) {
        guard !frame.scope.assign(name, value) else { return }
        guard !frame.scope.isPending(name) else { throw notReached(name) }
        throw fail(
            "TypeError",
            options.keepsNumberTypes
                ? "Assignment to constant variable." : "invalid assignment to const '\(name)'")
    }

    /// Returns the error for the use of a name before its declaration.
    func notReached(_ name: String) -> ScriptFailure {
        fail(
            "ReferenceError",
            options.keepsNumberTypes
                ? "Cannot access '\(name)' before initialization"
                : "can't access lexical declaration '\(name)' before initialization")
    }
}

/// A place of a value, whose subject is evaluated only once.
enum ScriptReference {
    case name(String)
    case property(ScriptValue, of: ScriptValue)
}
