import BSONQuery

/// The functions of `JSON` in a run of a script.
struct ScriptJSON {
    let interpreter: ScriptInterpreter

    /// Returns the value as `JSON.stringify` writes it.
    func text(of value: ScriptValue, depth: Int = 0) throws(ScriptFailure) -> String {
        guard depth < 100 else { throw interpreter.fail("TypeError", "cyclic object value") }
        try interpreter.step()
        var text = ""
        switch value {
        case .undefined: text = "undefined"
        case .null: text = "null"
        case .bool(let value): text = value ? "true" : "false"
        case .number(let number): text = number.isFinite ? ScriptNumber.text(number) : "null"
        case .string(let string): text = BSONValue.string(string).extendedJSON(.relaxed)
        case .object(let object):
            switch object.kind {
            case .array:
                var parts: [String] = []
                for element in object.elements {
                    let part = try self.text(of: element, depth: depth + 1)
                    parts.append(part == "undefined" ? "null" : part)
                }
                text = "[\(parts.joined(separator: ","))]"
            case .date(let time):
                text = ScriptDate.isoText(time).map { "\"\($0)\"" } ?? "null"
            case .function, .method, .global: text = "undefined"
            case .bson(.objectID(let id)): text = "{\"$oid\":\"\(id.hex)\"}"
            case .bson(let value): text = value.extendedJSON(.relaxed)
            case .pattern: text = "{}"
            case .plain, .error:
                var parts: [String] = []
                for name in object.ownNames {
                    let part = try self.text(of: object.own(name) ?? .undefined, depth: depth + 1)
                    if part == "undefined" { continue }
                    parts.append(try self.text(of: .string(name), depth: depth + 1) + ":" + part)
                }
                text = "{\(parts.joined(separator: ","))}"
            }
        }
        try interpreter.charge(text.utf8.count)
        return text
    }

    /// Returns the value that `JSON.parse` reads.
    func value(of text: String) throws(ScriptFailure) -> ScriptValue {
        try interpreter.charge(4 * text.utf8.count)
        do throws(BSONError) {
            let value = try BSONDocument(extendedJSON: "{\"\": \(text)}")[""]
            return value.map { ScriptValue($0) } ?? .undefined
        } catch {
            throw interpreter.fail("SyntaxError", "JSON.parse: unexpected character")
        }
    }
}
