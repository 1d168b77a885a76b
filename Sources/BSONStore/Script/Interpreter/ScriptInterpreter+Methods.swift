import BSONQuery

extension ScriptInterpreter {
    private static let textMethods: Set<String> = [
        "charAt", "charCodeAt", "codePointAt", "concat", "endsWith", "includes", "indexOf",
        "lastIndexOf", "localeCompare", "match", "padEnd", "padStart", "repeat", "replace",
        "replaceAll",
        "search", "slice", "split", "startsWith", "substr", "substring", "toLowerCase",
        "toUpperCase",
        "trim", "trimEnd", "trimStart",
    ]
    private static let arrayMethods: Set<String> = [
        "concat", "every", "fill", "filter", "find", "findIndex", "flat", "forEach", "includes",
        "indexOf", "join", "lastIndexOf", "map", "pop", "push", "reduce", "reduceRight", "reverse",
        "shift", "slice", "some", "sort", "splice", "unshift",
    ]
    private static let numberMethods: Set<String> = ["toFixed", "toNumber", "toPrecision"]
    private static let commonMethods: Set<String> = ["hasOwnProperty", "toString", "valueOf"]

    /// Whether a kind of value has a method.
    static func hasMethod(_ name: String, _ value: ScriptValue) -> Bool {
        switch value {
        case .undefined, .null: return false
        case .bool: break
        case .number: if numberMethods.contains(name) { return true }
        case .string: if textMethods.contains(name) { return true }
        case .object(let object):
            switch object.kind {
            case .array: if arrayMethods.contains(name) { return true }
            case .date: if ScriptDate.hasMethod(name) { return true }
            case .pattern: if name == "test" || name == "exec" { return true }
            case .function, .method: if name == "call" || name == "apply" { return true }
            case .bson(.objectID): if name == "getTimestamp" || name == "equals" { return true }
            default: break
            }
        }
        return commonMethods.contains(name)
    }

    /// Calls a method of the language; `nil` if the value has none of that name.
    func invoke(
        _ name: String, on receiver: ScriptValue, _ arguments: [ScriptValue]
    ) throws(ScriptFailure) -> ScriptValue? {
        switch receiver {
        case .undefined, .null:
            throw fail(
                "TypeError", "can't access property \"\(name)\", \(receiver.text) has no properties"
            )
        case .string(let text) where Self.textMethods.contains(name):
            return try ScriptStringMethods(interpreter: self)
                .invoke(name, on: text, arguments)
        case .number(let number) where Self.numberMethods.contains(name):
            return invoke(name, onNumber: number, arguments)
        case .object(let object):
            if case .global(let global) = object.kind {
                return try ScriptGlobalMethods(interpreter: self)
                    .invoke(name, of: global, arguments)
            }
            if Self.hasMethod(name, receiver),
                let result = try invoke(name, onObject: object, arguments)
            {
                return result
            }
        case .bool, .number, .string: break
        }
        return Self.common(name, receiver, arguments)
    }

    private static func common(
        _ name: String, _ receiver: ScriptValue, _ arguments: [ScriptValue]
    ) -> ScriptValue? {
        switch name {
        case "toString":
            if case .number(let number) = receiver, let radix = arguments.first {
                return .string(ScriptNumber.text(number, radix: radix.integer))
            }
            return .string(receiver.text)
        case "valueOf":
            if case .date = receiver.object?.kind { return .number(receiver.number) }
            return receiver
        case "hasOwnProperty":
            return .bool(receiver.object?.own(arguments.first?.text ?? "undefined") != nil)
        default: return nil
        }
    }

    private func invoke(
        _ name: String, onNumber number: Double, _ arguments: [ScriptValue]
    ) -> ScriptValue {
        switch name {
        case "toNumber": return .number(number)
        default:
            let digits = max(0, min(arguments.first?.integer ?? 0, 100))
            guard number.isFinite, abs(number) < 1e21 else {
                return .string(ScriptNumber.text(number))
            }
            if name == "toPrecision" {
                guard digits > 0 else { return .string(ScriptNumber.text(number)) }
                return .string(ScriptNumber.precise(number, digits: digits))
            }
            return .string(ScriptNumber.fixed(number, digits: digits))
        }
    }

    private func invoke(
        _ name: String, onObject object: ScriptObject, _ arguments: [ScriptValue]
    ) throws(ScriptFailure) -> ScriptValue? {
        let first = arguments.first ?? .undefined
        switch object.kind {
        case .array:
            return try ScriptArrayMethods(interpreter: self).invoke(name, on: object, arguments)
        case .date(let time): return ScriptDate.invoke(name, time)
        case .pattern(let pattern):
            let text = first.text
            switch name {
            case "test": return .bool(pattern.match(in: text) != nil)
            case "exec":
                return try ScriptStringMethods(interpreter: self).groups(of: pattern, in: text)
            default: return nil
            }
        case .function, .method:
            let this = first
            switch name {
            case "call":
                return try call(.object(object), this: this, Array(arguments.dropFirst()))
            case "apply":
                let list = arguments.count > 1 ? arguments[1].object?.elements ?? [] : []
                return try call(.object(object), this: this, list)
            default: return nil
            }
        case .bson(.objectID(let id)):
            switch name {
            case "getTimestamp":
                return .object(ScriptObject(.date(Double(id.timestampSeconds) * 1_000)))
            case "equals": return .bool(first.object?.objectID == id)
            case "valueOf": return .string(id.hex)
            default: return nil
            }
        default: return nil
        }
    }
}
