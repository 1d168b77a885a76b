extension ExpressionOperator {
    /// `$zip`: the transposition of several arrays.
    static let zip = ExpressionOperator { name, argument, parser throws(StoreError) in
        let arguments = try ExpressionArguments(
            argument, ["inputs", "defaults", "useLongestLength"],
            notDocument: .location(
                34460,
                "$zip only supports an object as an argument, found "
                    + ExpressionText.type(of: argument))
        ) { .location(34464, "$zip found an unknown argument: \($0)") }
        let inputs = try parser.list(arguments["inputs"], "inputs", 34461)
        let defaults = try parser.list(arguments["defaults"], "defaults", 34462)
        var usesLongest = false
        if let flag = arguments["useLongestLength"] {
            guard case .bool(let value) = flag else {
                throw .location(
                    34463,
                    "useLongestLength must be a bool, found \(ExpressionText.type(of: argument))")
            }
            usesLongest = value
        }
        guard !inputs.isEmpty else {
            throw .location(34465, "$zip requires at least one input array")
        }
        guard usesLongest || defaults.isEmpty else {
            throw .location(34466, "cannot specify defaults unless useLongestLength is true")
        }
        guard defaults.isEmpty || defaults.count == inputs.count else {
            throw .location(34467, "defaults and inputs must have the same length")
        }
        let columns = inputs.count
        let isLong = usesLongest
        let body: ExpressionFunction.Lazy = { nodes, context throws(StoreError) in
            var arrays: [[BSONValue]] = []
            for node in nodes[..<columns] {
                let value = try node.evaluate(&context)
                if NumberCoercion.isNullish(value) { return .null }
                guard case .array(let array) = value else {
                    throw .location(
                        34468,
                        "$zip found a non-array expression in input: "
                            + ExpressionText.text(of: value))
                }
                arrays.append(array.values)
            }
            var fillers = [BSONValue](repeating: .null, count: columns)
            let counts = arrays.map(\.count)
            let (least, most) = (counts.min() ?? 0, counts.max() ?? 0)
            if least != most {
                for (index, node) in nodes[columns...].enumerated() {
                    fillers[index] = try node.evaluate(&context) ?? .null
                }
            }
            var rows: [BSONValue] = []
            var size = 0
            for row in 0..<(isLong ? most : least) {
                let values = arrays.enumerated().map { column, values in
                    row < values.count ? values[row] : fillers[column]
                }
                rows.append(try ExpressionLimits.array(values))
                size += BSONWriter.count(rows[row])
                try ExpressionLimits.check(size)
            }
            return try ExpressionLimits.array(rows)
        }
        return .call(ExpressionFunction(name, .lazy(body)), inputs + defaults)
    }

    /// `$sortArray`: the values of an array, sorted by themselves or by their fields.
    static let sortArray = ExpressionOperator { name, argument, parser throws(StoreError) in
        let arguments = try ExpressionArguments(
            argument, ["input", "sortBy"],
            notDocument: .location(
                2_942_500,
                "$sortArray requires an object as an argument, found: "
                    + ExpressionText.type(of: argument))
        ) { .location(2_942_501, "$sortArray found an unknown argument: \($0)") }
        let input = try arguments.operand(
            "input", &parser,
            missing: .location(2_942_502, "$sortArray requires 'input' to be specified"))
        guard let sortBy = arguments["sortBy"] else {
            throw .location(2_942_503, "$sortArray requires 'sortBy' to be specified")
        }
        let keys = try sortKeys(sortBy)
        let body: ExpressionFunction.Eager = { arguments, context throws(StoreError) in
            if NumberCoercion.isNullish(arguments[0]) { return .null }
            guard case .array(let array) = arguments[0] else {
                throw .location(
                    2_942_504,
                    "The input argument to $sortArray must be an array, but was of type: "
                        + ExpressionText.type(of: arguments[0]))
            }
            let sorted = array.values.enumerated().sorted { left, right in
                let order = sortOrder(left.element, right.element, keys, context)
                return order == .equal ? left.offset < right.offset : order == .less
            }
            return .array(BSONArray(sorted.map(\.element)))
        }
        return .call(ExpressionFunction(name, .eager(body)), [input])
    }

    /// A path and whether the greatest value sorts first; no path stands for the value itself.
    private typealias SortKey = (path: ExpressionPath, isDescending: Bool)

    private static func sortKeys(_ value: BSONValue) throws(StoreError) -> [SortKey] {
        if let number = NumberCoercion.double(value) {
            guard number == 1 || number == -1 else {
                throw .location(2_942_506, "The $sort element value must be either 1 or -1")
            }
            return [(.itself, number == -1)]
        }
        guard case .document(let document) = value else {
            throw .location(
                2_942_507,
                "The $sort is invalid: use 1/-1 to sort the whole element, or {field:1/-1} to sort "
                    + "embedded fields")
        }
        func fault(_ text: String) -> StoreError { .location(2_942_505, "BadValue: \(text)") }
        guard !document.isEmpty else {
            throw fault("The sort pattern is empty when it should be a set of fields.")
        }
        var keys: [SortKey] = []
        for (field, direction) in document {
            let number = NumberCoercion.double(direction)
            guard number == 1 || number == -1 else {
                throw fault("The sort element value must be either 1 or -1")
            }
            guard !field.isEmpty else { throw fault("The sort field cannot be empty") }
            let parts = field.split(separator: ".", omittingEmptySubsequences: false)
            guard !parts.contains(where: \.isEmpty) else {
                throw fault(
                    "The sort field is a dotted field but has an empty part: \(field)")
            }
            guard !parts.contains(where: { $0.utf8.first == UInt8(ascii: "$") }) else {
                throw fault(
                    "The sort field contains elements starting with '$': \(field)")
            }
            keys.append((ExpressionPath(parts: parts.map(String.init)), number == -1))
        }
        return keys
    }

    private static func sortOrder(
        _ left: BSONValue, _ right: BSONValue, _ keys: [SortKey], _ context: ExpressionContext
    ) -> BSONOrder {
        for key in keys {
            let order = context.compare(
                sortValue(left, key.path), sortValue(right, key.path))
            if order != .equal { return key.isDescending ? order.reversed : order }
        }
        return .equal
    }

    /// Returns the value by which an element is sorted: null if it has no such field.
    private static func sortValue(_ value: BSONValue, _ path: ExpressionPath) -> BSONValue {
        if path.parts.isEmpty { return value }
        guard case .document = value else { return .null }
        return path.value(in: value) ?? .null
    }
}

extension ExpressionParser {
    /// Parses a literal array of expressions.
    fileprivate mutating func list(
        _ value: BSONValue?, _ name: String, _ code: Int32
    ) throws(StoreError) -> [ExpressionNode] {
        guard let value else { return [] }
        guard case .array(let array) = value else {
            throw .location(
                code,
                "\(name) must be an array of expressions, found \(ExpressionText.type(of: value))")
        }
        var nodes: [ExpressionNode] = []
        for value in array { nodes.append(try operand(value)) }
        return nodes
    }
}
