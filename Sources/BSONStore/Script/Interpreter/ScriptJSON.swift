import BSONQuery

/// The functions of `JSON` in a run of a script.
struct ScriptJSON {
    let interpreter: ScriptInterpreter
    /// The text that indents one level; empty for all on one line.
    var indent = ""
    /// The only names to write; `nil` for all.
    var names: Set<Name>?
    /// The function that replaces values.
    var replacer: ScriptValue?

    /// Returns the value as `JSON.stringify` writes it; `nil` if it is no value in JSON.
    func text(of value: ScriptValue) throws(ScriptFailure) -> String? {
        try text(of: value, "", in: .object(ScriptObject()), depth: 0)
    }

    private func text(
        of given: ScriptValue, _ name: String, in holder: ScriptValue, depth: Int
    ) throws(ScriptFailure) -> String? {
        guard depth < 100 else {
            throw interpreter.fail(
                "TypeError",
                interpreter.options.keepsNumberTypes
                    ? "Converting circular structure to JSON" : "cyclic object value")
        }
        try interpreter.step()
        var value = given
        if let own = value.object?.find("toJSON"), own.object?.isCallable == true {
            value = try interpreter.call(own, this: value, [.string(name)])
        }
        if let replacer {
            value = try interpreter.call(replacer, this: holder, [.string(name), value])
        }
        var text = ""
        switch value {
        case .undefined: return nil
        case .null: text = "null"
        case .bool(let value): text = value ? "true" : "false"
        case .number(let number): text = number.isFinite ? ScriptNumber.text(number) : "null"
        case .bigInt:
            throw interpreter.fail("TypeError", "Do not know how to serialize a BigInt")
        case .string(let string): text = BSONValue.string(string).extendedJSON(.relaxed)
        case .object(let object):
            guard let made = try self.text(of: object, depth) else { return nil }
            text = made
        }
        try interpreter.charge(text.utf8.count)
        return text
    }

    private func text(of object: ScriptObject, _ depth: Int) throws(ScriptFailure) -> String? {
        let value = ScriptValue.object(object)
        switch object.kind {
        case .array:
            var parts: [String] = []
            for (index, element) in object.elements.enumerated() {
                parts.append(
                    try text(of: element, String(index), in: value, depth: depth + 1) ?? "null")
            }
            return enclosed("[", parts, "]", depth)
        case .date(let time): return ScriptDate.isoText(time).map { "\"\($0)\"" } ?? "null"
        case .function, .method, .native, .global: return nil
        case .bson(let value) where interpreter.options.keepsNumberTypes:
            return Self.shellText(of: value)
        case .bson(.objectID(let id)): return "{\"$oid\":\"\(id.hex)\"}"
        case .bson(let value): return value.extendedJSON(.relaxed)
        case .pattern, .map, .set, .iterator, .promise: return "{}"
        case .plain, .error, .host, .prototype, .accessor:
            var parts: [String] = []
            for key in object.ownNames where names?.contains(Name(key)) ?? true {
                let field = try interpreter.property(.string(key), of: value)
                guard let part = try text(of: field, key, in: value, depth: depth + 1) else {
                    continue
                }
                let name = BSONValue.string(key).extendedJSON(.relaxed)
                parts.append(name + (indent.isEmpty ? ":" : ": ") + part)
            }
            return enclosed("{", parts, "}", depth)
        }
    }

    /// Returns a value as the `toJSON` of MongoDB's drivers has it.
    private static func shellText(of value: BSONValue) -> String {
        switch value {
        case .objectID, .binary: "\"\(ScriptBSON.text(value))\""
        case .int32, .double: ScriptBSON.text(value)
        case .int64(let number):
            "{\"low\":\(Int32(truncatingIfNeeded: number)),"
                + "\"high\":\(Int32(truncatingIfNeeded: number >> 32)),\"unsigned\":false}"
        default: value.extendedJSON(.relaxed)
        }
    }

    private func enclosed(
        _ open: String, _ parts: [String], _ close: String, _ depth: Int
    ) -> String {
        guard !indent.isEmpty, !parts.isEmpty else {
            return open + parts.joined(separator: ",") + close
        }
        let outer = "\n" + String(repeating: indent, count: depth)
        return open + parts.map { outer + indent + $0 }.joined(separator: ",") + outer + close
    }

    /// Returns a value whose parts a function of `JSON.parse` replaces, inner ones first.
    func revived(
        _ value: ScriptValue, _ name: String, of holder: ScriptValue, by function: ScriptValue
    ) throws(ScriptFailure) -> ScriptValue {
        try interpreter.deeper { () throws(ScriptFailure) in
            for key in value.object?.ownNames ?? [] {
                let field = try interpreter.property(.string(key), of: value)
                let new = try revived(field, key, of: value, by: function)
                guard let object = value.object else { break }
                if case .undefined = new {
                    object.remove(key)
                } else {
                    try interpreter.set(key, of: object, to: new)
                }
            }
            return try interpreter.call(function, this: holder, [.string(name), value])
        }
    }
}
