import BSONQuery

extension ScriptInterpreter {
    // Names that no script can write, in the scopes of classes.
    private static let thisName = "%this"
    private static let className = "%class"
    private static let targetName = "%target"
    private static let homeName = "%home"

    /// Returns `this`.
    func this(_ frame: ScriptFrame) throws(ScriptFailure) -> ScriptValue {
        guard frame.isDerived else { return frame.this }
        guard let this = frame.scope.value(Self.thisName), this.object != nil else {
            throw fail(
                "ReferenceError",
                "Must call super constructor in derived class before accessing 'this' or "
                    + "returning from derived constructor")
        }
        return this
    }

    /// Returns `this` for an arrow function, which may be made before `super(…)` is called.
    func arrowThis(_ frame: ScriptFrame) -> ScriptValue {
        frame.isDerived ? frame.scope.value(Self.thisName) ?? .undefined : frame.this
    }

    /// The object of all global names.
    var globalThis: ScriptValue { .object(ScriptObject(.host(ScriptGlobalObject(globals)))) }

    /// Defines a function that reads or writes a property.
    func define(
        _ name: String, of object: ScriptObject, get: ScriptValue? = nil, set: ScriptValue? = nil,
        isHidden: Bool = false
    ) throws(ScriptFailure) {
        var (getter, setter) = (get, set)
        if case .accessor(let get, let set)? = object.own(name)?.object?.kind {
            getter = getter ?? get
            setter = setter ?? set
        }
        try charge(64)
        try change(object)
        let accessor = ScriptValue.object(ScriptObject(.accessor(get: getter, set: setter)))
        if isHidden { object.hide(name, accessor) } else { object.set(name, accessor) }
    }

    // MARK: Classes

    /// Makes a class.
    func `class`(_ made: ScriptClass, _ frame: ScriptFrame) throws(ScriptFailure) -> ScriptValue {
        try charge(512)
        let parent = try made.parent.map { (parent) throws(ScriptFailure) in
            try evaluate(parent, frame)
        }
        if let parent, parent.object?.isCallable != true, parent.object != nil || !parent.isNothing
        {
            throw fail("TypeError", "Class extends value \(parent.text) is not a constructor")
        }
        let scope = frame.block.scope
        let own = ScriptScope(in: scope, isFunction: false)
        let shared = ScriptScope(in: scope, isFunction: false)
        let function =
            made.constructor.map {
                $0.named(made.name, source: made.source)
            } ?? ScriptFunction(name: made.name, body: [], source: made.source)
        let result = try value(of: function, in: own)
        guard let object = result.object else { return result }
        let prototype = ScriptObject()
        prototype.hide("constructor", result)
        object.hide("prototype", .object(prototype))
        try change(object)
        try change(prototype)
        object.prototype = parent?.object
        prototype.prototype = try parent?.object.flatMap { (parent) throws(ScriptFailure) in
            try self.prototype(of: parent)
        }
        if let name = made.name { scope.declareConstant(name, result) }
        scope.declare(Self.className, result)
        own.declare(Self.homeName, .object(prototype))
        shared.declare(Self.homeName, result)
        var fields: [(name: String, value: ScriptExpression?)] = []
        let inner = ScriptFrame(
            scope: ScriptScope(in: shared, isFunction: true), this: result)
        // Methods come before static fields, whose values may call them.
        for member in made.members {
            let name = try text(try evaluate(member.key, inner))
            let (holder, scope) = member.isStatic ? (object, shared) : (prototype, own)
            switch member.content {
            case .method(let function): holder.hide(name, try value(of: function, in: scope))
            case .getter(let function):
                try define(
                    name, of: holder, get: try value(of: function, in: scope), isHidden: true)
            case .setter(let function):
                try define(
                    name, of: holder, set: try value(of: function, in: scope), isHidden: true)
            case .field(let value) where !member.isStatic: fields.append((name, value))
            case .field, .block: break
            }
        }
        object.construction = ScriptConstruction(
            scope: own, fields: fields, constructor: made.constructor, isDerived: parent != nil)
        for member in made.members where member.isStatic {
            switch member.content {
            case .field(let value):
                let name = try text(try evaluate(member.key, inner))
                object.set(
                    name,
                    try value.map { (value) throws(ScriptFailure) in
                        try evaluate(value, inner)
                    } ?? .undefined)
            case .block(let statements): _ = try execute(statements, inner.block)
            case .method, .getter, .setter: break
            }
        }
        return result
    }

    /// Returns the object that answers for the objects that a function makes.
    func prototype(of function: ScriptObject) throws(ScriptFailure) -> ScriptObject? {
        guard case .function(let made, _, _) = function.kind, !made.isArrow else { return nil }
        if let known = function.own("prototype") { return known.object }
        try charge(128)
        let prototype = ScriptObject()
        prototype.hide("constructor", .object(function))
        function.hide("prototype", .object(prototype))
        try change(function)
        try change(prototype)
        return prototype
    }

    /// Creates an object with `new`.
    ///
    /// - Parameter target: the class whose object is made, if a derived one calls its parent.
    func construct(
        _ callee: ScriptValue, _ arguments: [ScriptValue], as target: ScriptObject? = nil,
        name: @autoclosure () -> String = "value"
    ) throws(ScriptFailure) -> ScriptValue {
        try charge(64)
        guard let object = callee.object else {
            throw fail("TypeError", "\(name()) is not a constructor")
        }
        switch object.kind {
        case .function(let function, let scope, _) where !function.isArrow:
            if let construction = object.construction, construction.isDerived {
                return try derive(
                    object, construction, function, arguments, target: target ?? object)
            }
            let made = ScriptObject()
            made.prototype = try prototype(of: target ?? object)
            try fill(made, from: object)
            let result = try call(function, in: scope, this: .object(made), arguments)
            return result.object == nil ? .object(made) : result
        case .global(let global) where global.isCallable:
            let made = try ScriptGlobalCalls(interpreter: self).make(global, arguments)
            if let target { made.object?.prototype = try prototype(of: target) }
            return made
        case .native: return try call(callee, this: .undefined, arguments)
        default: throw fail("TypeError", "\(name()) is not a constructor")
        }
    }

    private func derive(
        _ object: ScriptObject, _ construction: ScriptConstruction, _ function: ScriptFunction,
        _ arguments: [ScriptValue], target: ScriptObject
    ) throws(ScriptFailure) -> ScriptValue {
        let scope = ScriptScope(in: construction.scope, isFunction: false)
        scope.declare(Self.thisName, .undefined)
        scope.declare(Self.targetName, .object(target))
        let frame = ScriptFrame(scope: scope, this: .undefined, isDerived: true)
        guard construction.constructor != nil else {
            return try deeper { () throws(ScriptFailure) in try superCall(arguments, frame) }
        }
        let result = try call(
            function, in: scope, this: .undefined, arguments, isDerived: true)
        return result.object == nil ? try this(frame) : result
    }

    /// Calls the constructor of the parent.
    func superCall(
        _ arguments: [ScriptValue], _ frame: ScriptFrame
    ) throws(ScriptFailure) -> ScriptValue {
        guard let object = frame.scope.value(Self.className)?.object,
            let target = frame.scope.value(Self.targetName)?.object
        else { throw fail("SyntaxError", "'super' keyword unexpected here") }
        let parent = object.prototype.map { ScriptValue.object($0) } ?? .undefined
        let this = try construct(parent, arguments, as: target, name: "Super constructor")
        _ = frame.scope.assign(Self.thisName, this)
        if let made = this.object { try fill(made, from: object) }
        return this
    }

    /// Adds the fields of a class to an object.
    private func fill(_ made: ScriptObject, from object: ScriptObject) throws(ScriptFailure) {
        guard let construction = object.construction, !construction.fields.isEmpty else { return }
        let frame = ScriptFrame(
            scope: ScriptScope(in: construction.scope, isFunction: true), this: .object(made))
        for (name, value) in construction.fields {
            try charge(48)
            try change(made)
            made.set(
                name,
                try value.map { (value) throws(ScriptFailure) in
                    try evaluate(value, frame)
                } ?? .undefined)
        }
    }

    /// Returns a property of the parent, and whether it has it.
    func superProperty(
        _ key: ScriptValue, _ frame: ScriptFrame
    ) throws(ScriptFailure) -> (value: ScriptValue, isKnown: Bool) {
        guard let home = frame.scope.value(Self.homeName)?.object else {
            throw fail("SyntaxError", "'super' keyword unexpected here")
        }
        guard let parent = home.prototype, let found = parent.find(key.text) else {
            return (.undefined, false)
        }
        return (try get(found, this: try this(frame)), true)
    }

    /// Returns the value of a property that may be read by a function.
    func get(_ value: ScriptValue, this: ScriptValue) throws(ScriptFailure) -> ScriptValue {
        guard case .accessor(let getter, _)? = value.object?.kind else { return value }
        return try getter.map { (getter) throws(ScriptFailure) in
            try call(getter, this: this, [])
        } ?? .undefined
    }

    /// Returns the value of a property that the value itself or a prototype has.
    func own(_ key: ScriptValue, of subject: ScriptValue) throws(ScriptFailure) -> ScriptValue? {
        guard let object = subject.object else { return try added(key, to: subject) }
        let name = try text(key)
        if let found = object.find(name) { return try get(found, this: subject) }
        guard case .host(let host) = object.kind else { return try added(key, to: subject) }
        return try native { try host.property(name) }
    }

    /// Returns the value of a property that the script has added to the prototype of a type.
    func added(
        _ key: ScriptValue, to subject: ScriptValue
    ) throws(ScriptFailure) -> ScriptValue? {
        guard !prototypes.isEmpty, let type = ScriptGlobal.type(of: subject) else { return nil }
        let name = try text(key)
        for type in [type, .object] {
            if let found = prototypes[type]?.own(name) { return try get(found, this: subject) }
        }
        return nil
    }

    /// Returns a primitive value of a value, by its own functions if it has them.
    func primitive(
        _ value: ScriptValue, prefersText: Bool
    ) throws(ScriptFailure) -> ScriptValue {
        guard let object = value.object,
            object.prototype != nil || object.isChanged
                || !object.isArray
        else { return value.primitive(prefersText: prefersText) }
        for name in prefersText ? ["toString", "valueOf"] : ["valueOf", "toString"] {
            guard let found = object.find(name), found.object?.isCallable == true else { continue }
            let made = try call(found, this: value, [], name: name)
            if made.object == nil { return made }
        }
        return value.primitive(prefersText: prefersText)
    }

    /// Returns the value as a number.
    func number(_ value: ScriptValue) throws(ScriptFailure) -> Double {
        guard value.object != nil else { return value.number }
        return try primitive(value, prefersText: false).number
    }
}

/// The object that holds the global names.
final class ScriptGlobalObject: ScriptHost {
    private let scope: ScriptScope

    init(_ scope: ScriptScope) { self.scope = scope }

    var text: String { "[object global]" }

    func property(_ name: String) throws -> ScriptValue? {
        scope.value(name)
            ?? ScriptGlobal(rawValue: name).map { .object(ScriptObject(.global($0))) }
    }

    func set(_ name: String, _ value: ScriptValue) throws -> Bool {
        scope.declare(name, value)
        return true
    }
}
