import BSONQuery

extension ScriptInterpreter {
    /// Calls a function that MongoDB adds to `Array`; `nil` if there is none of that name.
    ///
    /// Source: the server's `types.js`.
    func shellFunction(
        _ name: String, _ arguments: [ScriptValue]
    ) throws(ScriptFailure) -> ScriptValue? {
        let elements = arguments.first?.object?.elements ?? []
        try charge(16 * elements.count)
        switch name {
        case "sum": return try sum(elements)
        case "avg": return try average(elements).map { .number($0) } ?? .null
        case "stdDev":
            guard let mean = try average(elements) else { return .null }
            let squares = elements.reduce(0) { sum, element in
                sum + (element.number - mean) * (element.number - mean)
            }
            return .number((squares / Double(elements.count)).squareRoot())
        case "contains":
            let wanted = arguments.dropFirst().first ?? .undefined
            return .bool(elements.contains { ScriptValue.isEqual($0, wanted) })
        case "unique":
            var found: [ScriptValue] = []
            for element in elements {
                try step(found.count)
                if !found.contains(where: { ScriptValue.isEqual($0, element) }) {
                    found.append(element)
                }
            }
            return .object(ScriptObject(elements: found))
        default: return nil
        }
    }

    /// Returns the result of `+` on all elements; null without any.
    private func sum(_ elements: [ScriptValue]) throws(ScriptFailure) -> ScriptValue {
        guard var sum = elements.first else { return .null }
        for element in elements.dropFirst() { sum = try add(sum, element) }
        return sum
    }

    private func average(_ elements: [ScriptValue]) throws(ScriptFailure) -> Double? {
        elements.isEmpty ? nil : try sum(elements).number / Double(elements.count)
    }
}
