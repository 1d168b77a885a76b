import BSONQuery

extension ScriptValue {
    /// Converts a stored value for a script.
    ///
    /// All numbers become doubles, as in ECMAScript. Decimals, and other types that it does not
    /// know, become objects that keep their value.
    init(_ value: BSONValue) {
        switch value {
        case .double(let number): self = .number(number)
        case .string(let text): self = .string(text)
        case .document(let document): self = .object(ScriptObject(document))
        case .array(let array):
            self = .object(ScriptObject(elements: array.map { ScriptValue($0) }))
        case .undefined: self = .undefined
        case .bool(let value): self = .bool(value)
        case .datetime(let date):
            self = .object(ScriptObject(.date(Double(date.milliseconds))))
        case .null: self = .null
        case .regularExpression(let expression):
            do throws(StoreError) {
                let pattern = try ScriptRegExp(
                    expression.pattern, flags: expression.options.filter { "ims".contains($0) })
                self = .object(ScriptObject(.pattern(pattern)))
            } catch {
                self = .object(ScriptObject(.bson(value)))
            }
        case .symbol(let text): self = .string(text)
        case .int32(let number): self = .number(Double(number))
        case .int64(let number): self = .number(Double(number))
        default: self = .object(ScriptObject(.bson(value)))
        }
    }
}

extension ScriptObject {
    /// The ObjectId, if the value holds one.
    var objectID: BSONObjectID? {
        if case .bson(.objectID(let id)) = kind { id } else { nil }
    }
}
