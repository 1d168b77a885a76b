import BSONQuery
#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

extension ScriptInterpreter {
    func binary(
        _ applied: ScriptOperator, _ left: ScriptExpression, _ right: ScriptExpression,
        _ frame: ScriptFrame
    ) throws(ScriptFailure) -> ScriptValue {
        // A long sum is a tree that leans to the left; the loop descends it without recursion.
        var rest = [(applied, right)]
        var first = left
        while case .binary(let applied, let left, let right) = first {
            rest.append((applied, right))
            first = left
        }
        var value = try evaluate(first, frame)
        for (applied, right) in rest.reversed() {
            switch applied {
            case .and: if value.isTrue { value = try evaluate(right, frame) }
            case .or: if !value.isTrue { value = try evaluate(right, frame) }
            case .coalesce: if value.isNothing { value = try evaluate(right, frame) }
            default: value = try apply(applied, value, try evaluate(right, frame))
            }
        }
        return value
    }

    func apply(
        _ applied: ScriptOperator, _ left: ScriptValue, _ right: ScriptValue
    ) throws(ScriptFailure) -> ScriptValue {
        var (left, right) = (left, right)
        switch applied {
        case .add: return try add(left, right)
        case .subtract, .multiply, .divide, .remainder, .power, .less, .greater, .lessOrEqual,
            .greaterOrEqual:
            // Values that compute by functions of their own.
            if left.object != nil { left = try primitive(left, prefersText: false) }
            if right.object != nil { right = try primitive(right, prefersText: false) }
        case .isIn: if left.object != nil { left = .string(try text(left)) }
        default: break
        }
        switch applied {
        case .subtract, .multiply, .divide, .remainder, .power, .bitAnd, .bitOr, .bitXor,
            .shiftLeft, .shiftRight, .shiftRightUnsigned:
            let calls = ScriptBigIntCalls(interpreter: self)
            if let result = try calls.apply(applied, left, right) { return result }
        default: break
        }
        switch applied {
        case .add: return try add(left, right)
        case .subtract: return .number(left.number - right.number)
        case .multiply: return .number(left.number * right.number)
        case .divide: return .number(left.number / right.number)
        case .remainder:
            return .number(left.number.truncatingRemainder(dividingBy: right.number))
        case .power: return .number(pow(left.number, right.number))
        case .equal: return .bool(ScriptValue.isEqual(left, right))
        case .notEqual: return .bool(!ScriptValue.isEqual(left, right))
        case .same: return .bool(ScriptValue.isSame(left, right))
        case .notSame: return .bool(!ScriptValue.isSame(left, right))
        case .less: return .bool(ScriptValue.isLess(left, right) ?? false)
        case .greater: return .bool(ScriptValue.isLess(right, left) ?? false)
        case .lessOrEqual: return .bool(ScriptValue.isLess(right, left).map { !$0 } ?? false)
        case .greaterOrEqual: return .bool(ScriptValue.isLess(left, right).map { !$0 } ?? false)
        case .bitAnd, .bitOr, .bitXor, .shiftLeft, .shiftRight, .shiftRightUnsigned:
            return Self.bits(applied, left.bits, right.bits)
        case .isIn:
            guard let object = right.object else {
                throw fail("TypeError", "right-hand side of 'in' should be an object")
            }
            return .bool(try own(left, of: right) != nil || known(left.text, of: object) != nil)
        case .instance: return .bool(try isInstance(left, of: right))
        case .and, .or, .coalesce, .not, .bitNot, .typeOf, .void, .delete: return .undefined
        }
    }

    func add(_ left: ScriptValue, _ right: ScriptValue) throws(ScriptFailure) -> ScriptValue {
        // Dates are added as texts.
        let (left, right) = (try operand(left), try operand(right))
        switch (left, right) {
        case (.string, _), (_, .string):
            return .string(try joined([left, right]) { $0 })
        default:
            let calls = ScriptBigIntCalls(interpreter: self)
            return try calls.apply(.add, left, right) ?? .number(left.number + right.number)
        }
    }

    private func operand(_ value: ScriptValue) throws(ScriptFailure) -> ScriptValue {
        if value.object?.isArray == true { return .string(try text(value)) }
        if case .date = value.object?.kind { return .string(value.text) }
        return try primitive(value, prefersText: false)
    }

    private static func bits(
        _ applied: ScriptOperator, _ left: Int32, _ right: Int32
    ) -> ScriptValue {
        switch applied {
        case .bitAnd: .number(Double(left & right))
        case .bitOr: .number(Double(left | right))
        case .bitXor: .number(Double(left ^ right))
        case .shiftLeft: .number(Double(left << (right & 31)))
        case .shiftRight: .number(Double(left >> (right & 31)))
        default: .number(Double(UInt32(bitPattern: left) >> UInt32(right & 31)))
        }
    }

    private func isInstance(
        _ value: ScriptValue, of type: ScriptValue
    ) throws(ScriptFailure) -> Bool {
        guard case .global(let global) = type.object?.kind else {
            guard let function = type.object, function.isCallable else {
                throw fail("TypeError", "invalid 'instanceof' operand")
            }
            guard let wanted = try prototype(of: function) else { return false }
            var object = value.object?.prototype
            while let here = object {
                if here === wanted { return true }
                object = here.prototype
            }
            return false
        }
        guard let object = value.object else { return false }
        switch (global, object.kind) {
        case (.object, _), (.array, .array), (.date, .date), (.isoDate, .date),
            (.regExp, .pattern), (.function, .function), (.function, .method), (.function, .native),
            (.function, .global),
            (.map, .map), (.set, .set), (.promise, .promise),
            (.objectID, .bson(.objectID)), (.error, .error):
            return true
        case (_, .bson(let value)): return ScriptBSON.isInstance(value, of: global)
        case (_, .error): return object.own("name")?.text == global.rawValue
        default: return false
        }
    }

    func unary(
        _ applied: ScriptOperator, _ operand: ScriptExpression, _ frame: ScriptFrame
    ) throws(ScriptFailure) -> ScriptValue {
        switch applied {
        case .not: return .bool(!(try evaluate(operand, frame).isTrue))
        case .bitNot:
            let value = try evaluate(operand, frame)
            guard case .bigInt(let number) = value else { return .number(Double(~value.bits)) }
            return .bigInt(number.negated - ScriptBigInt(1))
        case .void:
            _ = try evaluate(operand, frame)
            return .undefined
        case .typeOf:
            // `typeof` accepts an unknown name.
            if case .name(let name) = operand, frame.scope.value(name) == nil,
                ScriptGlobal(rawValue: name) == nil, name != "NaN", name != "Infinity",
                name != "globalThis"
            {
                return .string("undefined")
            }
            return .string(try evaluate(operand, frame).typeName)
        case .delete:
            guard case .member(let subject, let name, _) = operand else { return .bool(true) }
            let holder = try evaluate(subject, frame)
            let key = try text(try evaluate(name, frame))
            guard holder.object?.isFrozen != true else { return .bool(false) }
            holder.object?.remove(key)
            return .bool(true)
        default: return .undefined
        }
    }

    /// Returns the value of a property, of the value itself or of its type.
    func property(_ key: ScriptValue, of subject: ScriptValue) throws(ScriptFailure) -> ScriptValue
    {
        switch subject {
        case .undefined, .null:
            throw noProperties(key.text, subject)
        case .bool, .number, .bigInt, .string:
            if let added = try added(key, to: subject) { return added }
        case .object: break
        }
        switch subject {
        case .undefined, .null: break
        case .string(let text):
            if case .number(let index) = key {
                return ScriptString.character(text, Int(exactly: index))
            }
            if key.text == "length" { return .number(Double(text.utf16.count)) }
            if let index = ScriptObject.index(key.text) {
                return ScriptString.character(text, index)
            }
        case .object(let object):
            if object.isArray, case .number(let index) = key, let index = Int(exactly: index) {
                return object.elements.indices.contains(index) ? object.elements[index] : .undefined
            }
            if let own = try own(key, of: subject) { return own }
            if key.text == "prototype", let found = try prototype(of: object) {
                return .object(found)
            }
            if let known = known(key.text, of: object) { return known }
        case .bool, .number, .bigInt: break
        }
        if key.text == "constructor", let type = ScriptGlobal.type(of: subject) {
            return .object(ScriptObject(.global(type)))
        }
        return Self.hasMethod(key.text, subject)
            ? .object(ScriptObject(.method(key.text, of: subject))) : .undefined
    }

    /// Returns the prototype of a type of the language, to which scripts may add functions.
    func prototype(of type: ScriptGlobal) -> ScriptObject {
        if let known = prototypes[type] { return known }
        let made = ScriptObject(.prototype(type))
        prototypes[type] = made
        return made
    }

    /// Returns the built-in properties of objects of a kind.
    func known(_ name: String, of object: ScriptObject) -> ScriptValue? {
        switch (object.kind, name) {
        case (.pattern(let pattern), "source"): .string(pattern.source)
        case (.pattern(let pattern), "flags"): .string(pattern.flags)
        case (.pattern(let pattern), "global"): .bool(pattern.isGlobal)
        case (.function(let function, _, _), "length"): .number(Double(function.length))
        case (.function(let function, _, _), "name"): .string(function.name ?? "")
        case (.map(let table), "size"), (.set(let table), "size"): .number(Double(table.count))
        case (.native(let native, _), "name"): .string(native)
        case (.global(let global), "name"): .string(global.rawValue)
        case (.global(let global), "prototype"): .object(prototype(of: global))
        case (.error, "stack"): .string(object.text + "\n    at <script>")
        case (.bson(.objectID(let id)), "str"): .string(id.hex)
        case (.bson(.javascript(let text)), "code"): .string(text)
        case (.bson(.timestamp(let timestamp)), "t"): .number(Double(timestamp.seconds))
        case (.bson(.timestamp(let timestamp)), "i"): .number(Double(timestamp.increment))
        case (.global(let global), _):
            global.constant(name)
                ?? (global.functions.contains(name)
                    ? .object(ScriptObject(.method(name, of: .object(object)))) : nil)
        default: nil
        }
    }
}
