/// A test of one value that is more than a comparison.
package enum ValueTest: Sendable {
    /// Some of the bits are set or clear.
    case bits(BitTest)
    /// The value is a shape with a relation to another shape.
    case geometry(GeoTest)
    /// Its texts compare by a collation.
    case collated(CollatedTest)

    func passes(_ value: BSONRawValue) -> Bool {
        switch self {
        case .bits(let test): test.passes(value)
        case .geometry(let test): test.passes(BSONValue(copying: value))
        case .collated(let test): test.passes(BSONValue(copying: value))
        }
    }

    /// Whether a missing value passes.
    var passesMissing: Bool {
        switch self {
        case .bits, .geometry: false
        case .collated(let test): test.passesMissing
        }
    }
}

/// A comparison of a value with constants by a collation.
package struct CollatedTest: Sendable {
    private let comparison: Predicate.Comparison
    private let collation: Collation
    /// The sorted keys of the constants.
    private let constants: [BSONValue]
    private let patterns: [CompiledRegex]

    /// Creates a comparison with one constant.
    init(_ comparison: Predicate.Comparison, _ constant: BSONValue, _ collation: Collation) {
        self.comparison = comparison
        self.collation = collation
        constants = [collation.key(constant)]
        patterns = []
    }

    /// Creates a membership test of constants and of expressions, which ignore the collation.
    init(
        in constants: [BSONValue], _ expressions: [BSONRegularExpression], _ collation: Collation
    ) throws(StoreError) {
        comparison = .equal
        self.collation = collation
        self.constants = constants.map { collation.key($0) }
            .sorted { WorkBudget.isOver() ? false : BSONOrder.compare($0, $1) == .less }
        var patterns: [CompiledRegex] = []
        for expression in expressions { patterns.append(try CompiledRegex(expression)) }
        self.patterns = patterns
    }

    var passesMissing: Bool { constants.contains { $0.type == .null } }

    func passes(_ value: BSONValue) -> Bool {
        if patterns.contains(where: { $0.isFound(in: value) }) { return true }
        let key = collation.key(value)
        if comparison == .equal, constants.count > 1 { return isConstant(key) }
        return constants.contains { constant in
            guard BSONOrder.rank(constant.type) == BSONOrder.rank(key.type) else { return false }
            let order = BSONOrder.compare(key, constant)
            switch comparison {
            case .equal: return order == .equal
            case .less: return order == .less
            case .lessOrEqual: return order != .greater
            case .greater: return order == .greater
            case .greaterOrEqual: return order != .less
            }
        }
    }

    /// Whether a key equals one of the sorted constants.
    private func isConstant(_ key: BSONValue) -> Bool {
        var (low, high) = (0, constants.count)
        while low < high {
            let middle = (low + high) / 2
            switch BSONOrder.compare(constants[middle], key) {
            case .less: low = middle + 1
            case .equal: return true
            case .greater: high = middle
            }
        }
        return false
    }
}

extension CompiledRegex {
    /// Whether the expression matches a text, or equals the value.
    func isFound(in value: BSONValue) -> Bool {
        switch value {
        case .string(let text), .symbol(let text):
            text.withUTF8Bytes { isFound(in: $0) }
        case .regularExpression(let other): other == expression
        case .double, .document, .array, .binary, .undefined, .objectID, .bool, .datetime, .null,
            .dbPointer, .javascript, .javascriptWithScope, .int32, .timestamp, .int64,
            .decimal128, .minKey, .maxKey:
            false
        }
    }
}
