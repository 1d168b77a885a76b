import BSONQuery

/// The methods of `Map` and `Set` in a run of a script.
struct ScriptTableMethods {
    static let names: Set<String> = [
        "add", "clear", "delete", "entries", "forEach", "get", "has", "keys", "set", "values",
    ]

    let interpreter: ScriptInterpreter

    /// Calls a method of a `Map` or `Set`; `nil` for a name that no method has.
    func invoke(
        _ name: String, on object: ScriptObject, _ table: ScriptTable, isMap: Bool,
        _ arguments: [ScriptValue]
    ) throws(ScriptFailure) -> ScriptValue? {
        let first = arguments.first ?? .undefined
        let second = arguments.dropFirst().first ?? .undefined
        switch name {
        case "get" where isMap: return table.value(first) ?? .undefined
        case "has": return .bool(table.value(first) != nil)
        case "set" where isMap, "add" where !isMap:
            try interpreter.charge(96)
            try interpreter.change(object)
            table.set(first, isMap ? second : first)
            return .object(object)
        case "delete": return .bool(table.remove(first))
        case "clear":
            _ = table.takeAll()
            return .undefined
        case "forEach":
            var index = 0
            while index < table.entries.count {
                if let entry = table.entries[index] {
                    _ = try interpreter.call(
                        first, this: second, [entry.value, entry.key, .object(object)], name: name)
                }
                index += 1
            }
            return .undefined
        case "keys", "values", "entries":
            var parts: [ScriptValue] = []
            for case (let key, let value)? in table.entries {
                try interpreter.charge(96)
                switch name {
                case "keys": parts.append(key)
                case "values": parts.append(value)
                default: parts.append(.object(ScriptObject(elements: [key, value])))
                }
            }
            return .object(ScriptObject(.iterator(ScriptIterator(parts))))
        default: return nil
        }
    }
}
