import BSONQuery

extension ScriptInterpreter {
    func evaluate(
        _ expression: ScriptExpression, _ frame: ScriptFrame
    ) throws(ScriptFailure) -> ScriptValue {
        try step()
        switch expression {
        case .undefined: return .undefined
        case .null: return .null
        case .bool(let value): return .bool(value)
        case .number(let number): return .number(number)
        case .bigInt(let number): return .bigInt(number)
        case .string(let text): return .string(text)
        case .this: return try this(frame)
        case .name(let name): return try value(name, frame)
        // The common ways to go deeper have functions of their own, which take less of the stack.
        case .call(let callee, let arguments, let isOptional):
            try descend()
            defer { ascend() }
            return try call(callee, arguments, isOptional: isOptional, frame)
        case .binary(let applied, let left, let right):
            try descend()
            defer { ascend() }
            return try binary(applied, left, right, frame)
        case .conditional(let test, let yes, let no):
            try descend()
            defer { ascend() }
            return try evaluate(try evaluate(test, frame).isTrue ? yes : no, frame)
        default:
            return try deeper { () throws(ScriptFailure) in try compute(expression, frame) }
        }
    }

    private func compute(
        _ expression: ScriptExpression, _ frame: ScriptFrame
    ) throws(ScriptFailure) -> ScriptValue {
        switch expression {
        case .template(let texts, let values): return try template(texts, values, frame)
        case .pattern(let source, let flags): return try pattern(source, flags)
        case .array(let values):
            let elements = try evaluate(values, frame)
            try charge(16 * elements.count + 64)
            return .object(ScriptObject(elements: elements))
        case .object(let fields): return try object(fields, frame)
        case .function(let function):
            let made = function.bindsName ? frame.block.scope : frame.scope
            let result = try value(
                of: function, in: made, this: function.isArrow ? arrowThis(frame) : nil)
            if function.bindsName, let name = function.name { made.declare(name, result) }
            return result
        case .await(let promise): return try awaited(try evaluate(promise, frame))
        case .yield(let value, let isAll):
            let value = try evaluate(value, frame)
            return try isAll ? yieldAll(value) : yield(value)
        case .class(let made): return try self.class(made, frame)
        case .chain(let inner): return try chain(inner, frame)
        case .superMember(let name):
            return try superProperty(try evaluate(name, frame), frame).value
        case .superCall(let arguments):
            return try superCall(try evaluate(arguments, frame), frame)
        case .destructure(let target, let value):
            let value = try evaluate(value, frame)
            try bind(target, value, .assign, frame)
            return value
        case .member(let subject, let name, let isOptional):
            let subject = try evaluate(subject, frame)
            if isOptional && subject.isNothing { throw .skipped }
            return try property(try evaluate(name, frame), of: subject)
        case .new(let callee, let arguments):
            let function = try evaluate(callee, frame)
            return try construct(
                function, try evaluate(arguments, frame), name: callee.words)
        case .unary(let applied, let operand): return try unary(applied, operand, frame)
        case .step(let place, let by, let isPrefix):
            let reference = try reference(place, frame)
            let value = try read(reference, frame)
            if case .bigInt(let old) = value {
                let new = try apply(.add, value, .bigInt(ScriptBigInt(by < 0 ? -1 : 1)))
                try store(new, at: reference, frame)
                return isPrefix ? new : .bigInt(old)
            }
            let old = try number(value)
            try store(.number(old + by), at: reference, frame)
            return .number(isPrefix ? old + by : old)
        case .assign(let place, let applied, let value):
            return try assign(place, applied, value, frame)
        case .sequence(let values): return try evaluate(values, frame).last ?? .undefined
        case .hole: return .undefined
        case .spread: throw fail("SyntaxError", "unexpected token: '...'")
        case .undefined, .null, .bool, .number, .bigInt, .string, .this, .name, .call, .binary,
            .conditional:
            return try evaluate(expression, frame)
        }
    }

    private func evaluate(
        _ expressions: [ScriptExpression], _ frame: ScriptFrame
    ) throws(ScriptFailure) -> [ScriptValue] {
        var values: [ScriptValue] = []
        for expression in expressions {
            if case .spread(let list) = expression {
                values += try items(of: try evaluate(list, frame))
            } else {
                values.append(try evaluate(expression, frame))
            }
        }
        return values
    }

    private func value(_ name: String, _ frame: ScriptFrame) throws(ScriptFailure) -> ScriptValue {
        if let value = frame.scope.value(name) { return value }
        guard !frame.scope.isPending(name) else { throw notReached(name) }
        switch name {
        case "globalThis": return globalThis
        case "NaN": return .number(.nan)
        case "Infinity": return .number(.infinity)
        default: break
        }
        if let global = ScriptGlobal(rawValue: name) {
            return .object(ScriptObject(.global(global)))
        }
        throw fail("ReferenceError", "\(name) is not defined")
    }

    private func template(
        _ texts: [String], _ values: [ScriptExpression], _ frame: ScriptFrame
    ) throws(ScriptFailure) -> ScriptValue {
        var text = texts[0]
        for (index, value) in values.enumerated() {
            let part = try self.text(try evaluate(value, frame))
            try charge(part.utf8.count + texts[index + 1].utf8.count)
            text += part
            text += texts[index + 1]
        }
        return .string(text)
    }

    func pattern(_ source: String, _ flags: String) throws(ScriptFailure) -> ScriptValue {
        do throws(StoreError) {
            return .object(ScriptObject(.pattern(try ScriptRegExp(source, flags: flags))))
        } catch {
            throw fail(error)
        }
    }

    private func object(
        _ fields: [ScriptField], _ frame: ScriptFrame
    ) throws(ScriptFailure) -> ScriptValue {
        let object = ScriptObject()
        try charge(64 + 48 * fields.count)
        for field in fields {
            switch field {
            case .property(let key, let value):
                let name = try text(try evaluate(key, frame))
                object.set(name, try evaluate(value, frame))
            case .getter(let key, let function):
                let name = try text(try evaluate(key, frame))
                try define(
                    name, of: object, get: try value(of: function, in: frame.scope))
            case .setter(let key, let function):
                let name = try text(try evaluate(key, frame))
                try define(
                    name, of: object, set: try value(of: function, in: frame.scope))
            case .spread(let value):
                try copyProperties(of: try evaluate(value, frame), to: object)
            }
        }
        return .object(object)
    }

    private func chain(
        _ expression: ScriptExpression, _ frame: ScriptFrame
    ) throws(ScriptFailure) -> ScriptValue {
        do throws(ScriptFailure) {
            return try evaluate(expression, frame)
        } catch {
            guard case .skipped = error else { throw error }
            return .undefined
        }
    }

    private func call(
        _ callee: ScriptExpression, _ arguments: [ScriptExpression], isOptional: Bool,
        _ frame: ScriptFrame
    ) throws(ScriptFailure) -> ScriptValue {
        switch callee {
        case .member(let subject, let name, let isOptionalMember):
            let receiver = try evaluate(subject, frame)
            if isOptionalMember && receiver.isNothing { throw .skipped }
            return try callMethod(
                try evaluate(name, frame), of: receiver, callee, arguments,
                isOptional: isOptional, frame)
        case .superMember(let name):
            return try callSuper(try evaluate(name, frame), arguments, frame)
        default:
            let function = try evaluate(callee, frame)
            if isOptional && function.isNothing { throw .skipped }
            return try call(
                function, this: .undefined, try evaluate(arguments, frame), name: callee.words)
        }
    }

    private func callMethod(
        _ key: ScriptValue, of receiver: ScriptValue, _ callee: ScriptExpression,
        _ arguments: [ScriptExpression], isOptional: Bool, _ frame: ScriptFrame
    ) throws(ScriptFailure) -> ScriptValue {
        if let own = try own(key, of: receiver) {
            if isOptional && own.isNothing { throw .skipped }
            return try call(
                own, this: receiver, try evaluate(arguments, frame), name: callee.words)
        }
        if isOptional, try property(key, of: receiver).isNothing { throw .skipped }
        let values = try evaluate(arguments, frame)
        if let result = try invoke(key.text, on: receiver, values) { return result }
        return try call(
            try property(key, of: receiver), this: receiver, values, name: callee.words)
    }

    private func callSuper(
        _ key: ScriptValue, _ arguments: [ScriptExpression], _ frame: ScriptFrame
    ) throws(ScriptFailure) -> ScriptValue {
        let this = try this(frame)
        let (found, isKnown) = try superProperty(key, frame)
        let values = try evaluate(arguments, frame)
        if !isKnown, let result = try invoke(key.text, on: this, values) { return result }
        return try call(found, this: this, values, name: "(intermediate value).\(key.text)")
    }

    private func assign(
        _ place: ScriptExpression, _ applied: ScriptOperator?, _ value: ScriptExpression,
        _ frame: ScriptFrame
    ) throws(ScriptFailure) -> ScriptValue {
        let reference = try reference(place, frame)
        guard let applied else {
            let result = try evaluate(value, frame)
            try store(result, at: reference, frame)
            return result
        }
        let old = try read(reference, frame)
        switch applied {
        case .and where !old.isTrue, .or where old.isTrue, .coalesce where !old.isNothing:
            return old
        case .and, .or, .coalesce:
            let result = try evaluate(value, frame)
            try store(result, at: reference, frame)
            return result
        default:
            let result = try apply(applied, old, try evaluate(value, frame))
            try store(result, at: reference, frame)
            return result
        }
    }

    /// Evaluates the subject of a place.
    func reference(
        _ place: ScriptExpression, _ frame: ScriptFrame
    ) throws(ScriptFailure) -> ScriptReference {
        switch place {
        case .name(let name): return .name(name)
        case .member(let subject, let name, _):
            let subject = try evaluate(subject, frame)
            return .property(try evaluate(name, frame), of: subject)
        case .superMember(let name):
            return .property(try evaluate(name, frame), of: try this(frame))
        default: throw fail("SyntaxError", "invalid assignment left-hand side")
        }
    }

    private func read(
        _ reference: ScriptReference, _ frame: ScriptFrame
    ) throws(ScriptFailure) -> ScriptValue {
        switch reference {
        case .name(let name): return try value(name, frame)
        case .property(let key, let subject): return try property(key, of: subject)
        }
    }

    func store(
        _ value: ScriptValue, at reference: ScriptReference, _ frame: ScriptFrame
    ) throws(ScriptFailure) {
        switch reference {
        case .name(let name): try assign(name, value, frame)
        case .property(let key, let subject):
            guard let object = subject.object else {
                if subject.isNothing {
                    throw fail(
                        "TypeError",
                        options.keepsNumberTypes
                            ? "Cannot set properties of \(subject.text) (setting '\(key.text)')"
                            : "can't access property of \(subject.text)")
                }
                return
            }
            try set(try text(key), of: object, to: value)
        }
    }

    func set(
        _ name: String, of object: ScriptObject, to value: ScriptValue
    ) throws(ScriptFailure) {
        guard !object.isFrozen else { return }
        try charge(48 + name.utf8.count)
        try change(object)
        if case .accessor(_, let setter)? = object.find(name)?.object?.kind {
            if let setter { _ = try call(setter, this: .object(object), [value]) }
            return
        }
        if case .host(let host) = object.kind, try native({ try host.set(name, value) }) { return }
        guard object.isArray else { return object.set(name, value) }
        if name == "length" {
            let count = max(0, value.integer)
            try grow(object, to: count)
            object.elements.removeLast(object.elements.count - count)
        } else if let index = ScriptObject.index(name) {
            try grow(object, to: index + 1)
            object.elements[index] = value
        } else {
            object.set(name, value)
        }
    }

    private func grow(_ array: ScriptObject, to count: Int) throws(ScriptFailure) {
        let missing = count - array.elements.count
        guard missing > 0 else { return }
        guard missing < ScriptLimits.bytesMax else {
            throw fail("RangeError", "invalid array length")
        }
        try charge(16 * missing)
        array.elements += Array(repeating: .undefined, count: missing)
    }
}

extension ScriptExpression {
    /// A name for the message about a value that cannot be called.
    fileprivate var words: String {
        switch self {
        case .name(let name): name
        case .this: "this"
        case .member(let subject, .string(let name), _): "\(subject.words).\(name)"
        case .member(let subject, _, _): "\(subject.words)[...]"
        case .chain(let inner): inner.words
        case .call(let callee, _, _): "\(callee.words)(...)"
        default: "value"
        }
    }
}
