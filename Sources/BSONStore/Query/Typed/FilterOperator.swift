internal import BSONCore

/// A query operator with its operand.
struct FilterOperator {
    let name: String
    let operand: BSONValue

    init(_ name: String, _ operand: BSONValue) {
        self.name = name
        self.operand = operand
    }

    /// Returns operators as a document.
    static func document(_ operators: [FilterOperator]) -> BSONDocument {
        BSONDocument(operators.map { ($0.name, $0.operand) })
    }

    /// Returns the operators that hold where the given ones do not.
    static func opposite(of operators: [FilterOperator]) -> [FilterOperator] {
        if let sole = operators.first, operators.count == 1, let opposite = sole.opposite {
            return [opposite]
        }
        return [FilterOperator("$not", .document(document(operators)))]
    }

    private var opposite: FilterOperator? {
        switch (name, operand) {
        // MongoDB refuses `$ne` with a regular expression.
        case ("$eq", .regularExpression): nil
        case ("$eq", _): FilterOperator("$ne", operand)
        case ("$ne", _): FilterOperator("$eq", operand)
        case ("$in", _): FilterOperator("$nin", operand)
        case ("$exists", .bool(let exists)): FilterOperator("$exists", .bool(!exists))
        case ("$not", .document(let operators)) where operators.count == 1:
            operators.map { FilterOperator($0.key, $0.value) }.first
        default: nil
        }
    }

    /// Returns the condition of a path with these operators, in its short form if it has one.
    static func condition(_ operators: [FilterOperator]) -> BSONValue {
        if let sole = operators.first, operators.count == 1, sole.isShortEquality {
            return sole.operand
        }
        return .document(document(operators))
    }

    /// Whether the operator is an equality that needs no `$eq`.
    private var isShortEquality: Bool {
        guard name == "$eq" else { return false }
        switch operand {
        case .regularExpression: return false
        case .document(let document): return document.keys.first?.hasBytePrefix("$") != true
        default: return true
        }
    }
}
