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
        case .string(let text): return .string(text)
        case .this: return frame.this
        case .name(let name): return try value(name, frame)
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
            return try value(
                of: function, in: frame.scope, this: function.isArrow ? frame.this : nil)
        case .member(let subject, let name, let isOptional):
            let subject = try evaluate(subject, frame)
            if isOptional && subject.isNothing { return .undefined }
            return try property(try evaluate(name, frame), of: subject)
        case .call(let callee, let arguments): return try call(callee, arguments, frame)
        case .new(let callee, let arguments):
            return try ScriptGlobalCalls(interpreter: self).make(
                try evaluate(callee, frame), try evaluate(arguments, frame))
        case .unary(let applied, let operand): return try unary(applied, operand, frame)
        case .step(let place, let by, let isPrefix):
            let old = try evaluate(place, frame).number
            try store(.number(old + by), at: place, frame)
            return .number(isPrefix ? old + by : old)
        case .binary(let applied, let left, let right):
            return try binary(applied, left, right, frame)
        case .conditional(let test, let yes, let no):
            return try evaluate(try evaluate(test, frame).isTrue ? yes : no, frame)
        case .assign(let place, let applied, let value):
            return try assign(place, applied, value, frame)
        case .sequence(let values): return try evaluate(values, frame).last ?? .undefined
        case .undefined, .null, .bool, .number, .string, .this, .name:
            return try evaluate(expression, frame)
        }
    }

    private func evaluate(
        _ expressions: [ScriptExpression], _ frame: ScriptFrame
    ) throws(ScriptFailure) -> [ScriptValue] {
        var values: [ScriptValue] = []
        for expression in expressions { values.append(try evaluate(expression, frame)) }
        return values
    }

    private func value(_ name: String, _ frame: ScriptFrame) throws(ScriptFailure) -> ScriptValue {
        if let value = frame.scope.value(name) { return value }
        switch name {
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
        _ fields: [(key: ScriptExpression, value: ScriptExpression)], _ frame: ScriptFrame
    ) throws(ScriptFailure) -> ScriptValue {
        let object = ScriptObject()
        try charge(64 + 48 * fields.count)
        for field in fields {
            let name = try evaluate(field.key, frame).text
            object.set(name, try evaluate(field.value, frame))
        }
        return .object(object)
    }

    private func call(
        _ callee: ScriptExpression, _ arguments: [ScriptExpression], _ frame: ScriptFrame
    ) throws(ScriptFailure) -> ScriptValue {
        guard case .member(let subject, let name, let isOptional) = callee else {
            let function = try evaluate(callee, frame)
            return try call(
                function, this: .undefined, try evaluate(arguments, frame), name: callee.words)
        }
        let receiver = try evaluate(subject, frame)
        if isOptional && receiver.isNothing { return .undefined }
        let key = try evaluate(name, frame)
        let values = try evaluate(arguments, frame)
        if let own = receiver.object?.own(key.text) {
            return try call(own, this: receiver, values, name: callee.words)
        }
        if let result = try invoke(key.text, on: receiver, values) { return result }
        return try call(
            try property(key, of: receiver), this: receiver, values, name: callee.words)
    }

    private func assign(
        _ place: ScriptExpression, _ applied: ScriptOperator?, _ value: ScriptExpression,
        _ frame: ScriptFrame
    ) throws(ScriptFailure) -> ScriptValue {
        var result = ScriptValue.undefined
        if let applied {
            result = try binary(applied, place, value, frame)
        } else {
            result = try evaluate(value, frame)
        }
        try store(result, at: place, frame)
        return result
    }

    private func store(
        _ value: ScriptValue, at place: ScriptExpression, _ frame: ScriptFrame
    ) throws(ScriptFailure) {
        switch place {
        case .name(let name): frame.scope.assign(name, value)
        case .member(let subject, let name, _):
            let subject = try evaluate(subject, frame)
            let name = try evaluate(name, frame)
            guard let object = subject.object else {
                if subject.isNothing {
                    throw fail("TypeError", "can't access property of \(subject.text)")
                }
                return
            }
            try set(name.text, of: object, to: value)
        default: throw fail("SyntaxError", "invalid assignment left-hand side")
        }
    }

    private func set(
        _ name: String, of object: ScriptObject, to value: ScriptValue
    ) throws(ScriptFailure) {
        try charge(48 + name.utf8.count)
        try change(object)
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
        case .call(let callee, _): "\(callee.words)(...)"
        default: "value"
        }
    }
}
