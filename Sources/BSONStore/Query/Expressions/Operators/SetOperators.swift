/// Operators that treat arrays as sets: order and repetition are ignored.
enum SetOperators {
    /// Each operator by its name.
    static let all: [String: ExpressionOperator] = [
        "$allElementsTrue": elements(17040, "$allElementsTrue") {
            $0.allSatisfy(Expression.isTrue)
        },
        "$anyElementTrue": elements(17041, "$anyElementTrue") {
            $0.contains(where: Expression.isTrue)
        },
        "$setDifference": .fixed(2) { arguments, context throws(StoreError) in
            if NumberCoercion.isNullish(arguments[0]) || NumberCoercion.isNullish(arguments[1]) {
                return .null
            }
            let (left, right) = try pair("$setDifference", arguments, 17048, 17049)
            var seen = ValueKeySet(context)
            for value in right { _ = try seen.insert(value) }
            var builder = ArrayBuilder()
            for value in left {
                if try seen.insert(value) { try builder.append(value) }
            }
            return builder.array
        },
        "$setEquals": setEquals,
        "$setIntersection": .any { nodes, context throws(StoreError) in
            let frame = context
            var result: [BSONValue]?
            let hasAll = try ArrayOperands.visit(nodes[...], &context) { value in
                notArray(17047, "$setIntersection", value)
            } _: { (array) throws(StoreError) in
                let set = try OrderedValueSet(array.values, frame)
                guard let known = result else {
                    result = set.values
                    return
                }
                var builder = ArrayBuilder()
                for value in known where set.contains(value) { try builder.append(value) }
                result = builder.values
            }
            return hasAll ? try ExpressionLimits.array(result ?? []) : .null
        },
        "$setIsSubset": .fixed(2) { arguments, context throws(StoreError) in
            let (left, right) = try pair("$setIsSubset", arguments, 17046, 17042)
            let set = try OrderedValueSet(right.values, context)
            return .bool(left.allSatisfy { set.contains($0) })
        },
        "$setUnion": .any { nodes, context throws(StoreError) in
            var union = ValueUnion(context)
            let hasAll = try ArrayOperands.visit(nodes[...], &context) { value in
                notArray(17043, "$setUnion", value)
            } _: { (array) throws(StoreError) in
                for value in array { try union.insert(value) }
            }
            return hasAll ? try union.array : .null
        },
    ]

    private static func elements(
        _ code: Int32, _ name: String, _ holds: @escaping @Sendable ([BSONValue]) -> Bool
    ) -> ExpressionOperator {
        .fixed(1) { arguments, _ throws(StoreError) in
            guard case .array(let array) = arguments[0] else {
                throw .location(
                    code,
                    "\(name)'s argument must be an array, but is "
                        + ExpressionText.type(of: arguments[0]))
            }
            return .bool(holds(array.values))
        }
    }

    private static func pair(
        _ name: String, _ arguments: [BSONValue?], _ first: Int32, _ second: Int32
    ) throws(StoreError) -> (BSONArray, BSONArray) {
        func fault(_ code: Int32, _ which: String, _ value: BSONValue?) -> StoreError {
            .location(
                code,
                "both operands of \(name) must be arrays. \(which) argument is of type: "
                    + ExpressionText.type(of: value))
        }
        guard case .array(let left) = arguments[0] else {
            throw fault(first, "First", arguments[0])
        }
        guard case .array(let right) = arguments[1] else {
            throw fault(second, "Second", arguments[1])
        }
        return (left, right)
    }

    private static let setEquals = ExpressionOperator { name, argument, parser throws(StoreError) in
        let nodes = try parser.arguments(argument)
        guard nodes.count >= 2 else {
            throw .location(
                17045, "$setEquals needs at least two arguments had: \(nodes.count)")
        }
        // Constants are checked at parsing, with another error number.
        for (index, node) in nodes.enumerated() {
            guard case .constant(let value) = node, value?.type != .array else { continue }
            throw notArray(5_887_502, index, value)
        }
        let body: ExpressionFunction.Lazy = { nodes, context throws(StoreError) in
            var first: [BSONValue]?
            for (index, node) in nodes.enumerated() {
                let value = try node.evaluate(&context)
                guard case .array(let array) = value else { throw notArray(17044, index, value) }
                let set = try OrderedValueSet(array.values, context).values
                guard let known = first else {
                    first = set
                    continue
                }
                guard known.count == set.count else { return .bool(false) }
                for (left, right) in zip(known, set)
                where context.compare(left, right) != .equal {
                    return .bool(false)
                }
            }
            return .bool(true)
        }
        return .call(ExpressionFunction(name, .lazy(body)), nodes)
    }

    private static func notArray(
        _ code: Int32, _ name: String, _ value: BSONValue?
    ) -> StoreError {
        .location(
            code,
            "All operands of \(name) must be arrays. One argument is of type: "
                + ExpressionText.type(of: value))
    }

    private static func notArray(_ code: Int32, _ index: Int, _ value: BSONValue?) -> StoreError {
        .location(
            code,
            "All operands of $setEquals must be arrays. \(index + 1)-th argument is of type: "
                + ExpressionText.type(of: value))
    }
}

/// A set of values by their keys, which are equal if the values compare as equal.
private struct ValueKeySet {
    private var keys: Set<[UInt8]> = []
    private let collation: Collation?
    private let holding = MemoryHolding.begin("a set")

    init(_ context: ExpressionContext) { collation = context.collation }

    /// Adds a value and returns whether it is new.
    mutating func insert(_ value: BSONValue) throws(StoreError) -> Bool {
        let key = BSONKey.encode(collation?.key(value) ?? value)
        try WorkBudget.spend(1 + key.count >> 8)
        guard keys.insert(key).inserted else { return false }
        try holding?.add(key.count + 64)
        return true
    }
}

/// The different values of several arrays, in order.
private struct ValueUnion {
    /// The size of a list with repetitions, beyond that of the different ones, in bytes.
    private static let repeatedBytesMax = 16 * 1024 * 1024

    private let context: ExpressionContext
    private var builder: ArrayBuilder
    /// The size at which repetitions are removed, in bytes.
    private var fullAt = ExpressionLimits.bytesMax

    init(_ context: ExpressionContext) {
        self.context = context
        builder = Self.list
    }

    private static var list: ArrayBuilder {
        ArrayBuilder(bytesMax: ExpressionLimits.bytesMax + repeatedBytesMax * 2)
    }

    /// Adds a value.
    ///
    /// - Throws: 10334 if the different values exceed the limit of an array.
    mutating func insert(_ value: BSONValue) throws(StoreError) {
        try builder.append(value)
        guard builder.byteCount > fullAt else { return }
        let values = try different
        builder = Self.list
        for value in values { try builder.append(value) }
        try ExpressionLimits.check(builder.byteCount)
        fullAt = max(ExpressionLimits.bytesMax, builder.byteCount + Self.repeatedBytesMax)
    }

    /// The values as an array.
    var array: BSONValue {
        get throws(StoreError) { try ExpressionLimits.array(different) }
    }

    private var different: [BSONValue] {
        get throws(StoreError) { try OrderedValueSet(builder.values, context).values }
    }
}
