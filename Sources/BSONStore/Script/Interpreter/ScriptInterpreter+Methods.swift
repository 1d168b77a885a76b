import BSONQuery

extension ScriptInterpreter {
    private static let textMethods: Set<String> = [
        "at", "charAt", "charCodeAt", "codePointAt", "concat", "endsWith", "includes", "indexOf",
        "lastIndexOf", "localeCompare", "match", "matchAll", "normalize", "padEnd", "padStart",
        "repeat", "replace",
        "replaceAll",
        "search", "slice", "split", "startsWith", "substr", "substring", "toLowerCase",
        "toUpperCase",
        "trim", "trimEnd", "trimLeft", "trimRight", "trimStart",
    ]
    private static let arrayMethods: Set<String> = [
        "at", "concat", "entries", "every", "fill", "filter", "find", "findIndex", "findLast",
        "findLastIndex", "flat", "flatMap", "forEach", "includes", "keys", "toReversed",
        "toSorted", "toSpliced", "values", "with",
        "indexOf", "join", "lastIndexOf", "map", "pop", "push", "reduce", "reduceRight", "reverse",
        "shift", "slice", "some", "sort", "splice", "unshift",
    ]
    private static let numberMethods: Set<String> = [
        "toFixed", "toLocaleString", "toNumber", "toPrecision",
    ]
    private static let commonMethods: Set<String> = [
        "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString", "toString",
        "valueOf",
    ]

    /// Whether a kind of value has a method.
    static func hasMethod(_ name: String, _ value: ScriptValue) -> Bool {
        switch value {
        case .undefined, .null: return false
        case .bool: break
        case .number: if numberMethods.contains(name) { return true }
        case .bigInt: if ScriptBigIntCalls.methods.contains(name) { return true }
        case .string: if textMethods.contains(name) { return true }
        case .object(let object):
            switch object.kind {
            case .array: if arrayMethods.contains(name) { return true }
            case .date: if ScriptDate.hasMethod(name) { return true }
            case .pattern: if name == "test" || name == "exec" { return true }
            case .function, .method, .native:
                if name == "call" || name == "apply" || name == "bind" { return true }
            case .global(let global):
                if name == "call" || name == "apply" || name == "bind" { return true }
                if global.functions.contains(name) { return true }
            case .prototype: return true
            case .iterator: if name == "next" { return true }
            case .promise: if ScriptPromiseCalls.names.contains(name) { return true }
            case .map, .set: if ScriptTableMethods.names.contains(name) { return true }
            case .bson(let value): if ScriptBSON.methods(value).contains(name) { return true }
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
            throw noProperties(name, receiver)
        case .string(let text) where Self.textMethods.contains(name):
            return try ScriptStringMethods(interpreter: self)
                .invoke(name, on: text, arguments)
        case .number(let number) where Self.numberMethods.contains(name):
            return try invoke(name, onNumber: number, arguments)
        case .object(let object):
            if case .global(let global) = object.kind {
                if let result = try ScriptGlobalMethods(interpreter: self)
                    .invoke(name, of: global, arguments)
                {
                    return result
                }
                guard ["call", "apply", "bind", "toString"].contains(name) else { return nil }
            }
            if case .bson(let value) = object.kind,
                let result = try ScriptBSONCalls(interpreter: self)
                    .invoke(name, on: value, arguments)
            {
                return result
            }
            if Self.hasMethod(name, receiver),
                let result = try invoke(name, onObject: object, arguments)
            {
                return result
            }
        case .bool, .number, .bigInt, .string: break
        }
        return try common(name, receiver, arguments)
    }

    private func common(
        _ name: String, _ receiver: ScriptValue, _ arguments: [ScriptValue]
    ) throws(ScriptFailure) -> ScriptValue? {
        switch name {
        case "toString", "toLocaleString":
            if case .bigInt(let number) = receiver {
                let calls = ScriptBigIntCalls(interpreter: self)
                guard name == "toString" else { return .string(number.groupedText) }
                return try calls.text(number, arguments.first)
            }
            if case .number(let number) = receiver, let radix = arguments.first {
                return .string(ScriptNumber.text(number, radix: radix.integer))
            }
            return .string(receiver.object?.isArray == true ? try text(receiver) : receiver.text)
        case "valueOf":
            if case .date = receiver.object?.kind { return .number(receiver.number) }
            return receiver
        case "isPrototypeOf": return .bool(first(arguments)?.prototype === receiver.object)
        case "hasOwnProperty", "propertyIsEnumerable":
            return .bool(receiver.object?.own(arguments.first?.text ?? "undefined") != nil)
        default: return nil
        }
    }

    private func first(_ arguments: [ScriptValue]) -> ScriptObject? { arguments.first?.object }

    private func invoke(
        _ name: String, onNumber number: Double, _ arguments: [ScriptValue]
    ) throws(ScriptFailure) -> ScriptValue {
        switch name {
        case "toNumber": return .number(number)
        case "toLocaleString":
            let options = try ScriptLocaleOptions(
                arguments, of: "Number.prototype.\(name)", self)
            try options.checkLocale()
            return .string(try ScriptNumberFormat(options).text(number))
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
        case .date(let time):
            if let new = ScriptDate.changed(name, time, arguments.map(\.number)) {
                object.setTime(new)
                return .number(new)
            }
            if name.hasBytePrefix("toLocale") {
                let options = try ScriptLocaleOptions(
                    arguments, of: "Date.prototype.\(name)", self)
                try options.checkLocale()
                return .string(
                    try ScriptDateFormat(options, for: name).text(time) ?? "Invalid Date")
            }
            return ScriptDate.invoke(name, time)
        case .map(let table), .set(let table):
            let isMap = if case .map = object.kind { true } else { false }
            return try ScriptTableMethods(interpreter: self)
                .invoke(name, on: object, table, isMap: isMap, arguments)
        case .iterator(let iterator):
            guard name == "next" else { return nil }
            try charge(96)
            let item = iterator.next()
            let step = ScriptObject()
            step.set("value", item ?? .undefined)
            step.set("done", .bool(item == nil))
            return .object(step)
        case .promise(let promise):
            return try ScriptPromiseCalls(interpreter: self).invoke(name, on: promise, arguments)
        case .pattern(let pattern):
            let text = first.text
            switch name {
            case "test": return .bool(try search(object, pattern, text).object != nil)
            case "exec": return try search(object, pattern, text)
            default: return nil
            }
        case .function, .method, .native, .global:
            var function = ScriptValue.object(object)
            // A method of a value can be called on another one; a function of a name cannot.
            if case .method(let method, let receiver) = object.kind {
                if case .global = receiver.object?.kind {
                } else if !first.isNothing {
                    function = .object(ScriptObject(.method(method, of: first)))
                }
            }
            switch name {
            case "call": return try call(function, this: first, Array(arguments.dropFirst()))
            case "apply":
                let list = arguments.dropFirst().first ?? .undefined
                return try call(function, this: first, list.isNothing ? [] : try items(of: list))
            case "bind":
                try charge(64)
                let known = Array(arguments.dropFirst())
                let bound: ScriptNative = { [unowned self] further in
                    try self.call(function, this: first, known + further)
                }
                return .object(ScriptObject(.native(name: "bound", bound)))
            default: return nil
            }
        default: return nil
        }
    }

    /// Searches a text; a global pattern goes on where its last match ended.
    private func search(
        _ object: ScriptObject, _ pattern: ScriptRegExp, _ text: String
    ) throws(ScriptFailure) -> ScriptValue {
        let methods = ScriptStringMethods(interpreter: self)
        guard pattern.isGlobal || pattern.isSticky else {
            return try methods.groups(of: pattern, in: text)
        }
        let count = text.utf16.count
        let last = max(0, object.own("lastIndex")?.integer ?? 0)
        var found: RegexMatch?
        if last <= count {
            let from = ScriptString.byte(text, unit: last, isUp: true)
            var memory = RegexSearchMemory()
            found = pattern.match(in: text, from: from, &memory)
            if pattern.isSticky, found?.range.lowerBound != from { found = nil }
        }
        let end = found.map { ScriptString.unit(text, byte: $0.range.upperBound) } ?? 0
        object.hide("lastIndex", .number(Double(end)))
        guard let found else { return .null }
        return try methods.groups(found, of: pattern, in: text)
    }
}
