/// Operators that select or sort elements of an array by named arguments.
enum ArraySelectionOperators {
    /// Each operator by its name.
    static let all: [String: ExpressionOperator] = [
        "$firstN": firstOrLastN { Array($0.prefix($1)) },
        "$lastN": firstOrLastN { Array($0.suffix($1)) },
        "$minN": minOrMaxN(.less), "$maxN": minOrMaxN(.greater), "$sortArray": sortArray,
    ]

    private static func firstOrLastN(
        _ part: @escaping @Sendable ([BSONValue], Int) -> [BSONValue]
    ) -> ExpressionOperator {
        counted(5_787_801) { values, count, _ in part(values, count) }
    }

    private static func minOrMaxN(_ wanted: BSONOrder) -> ExpressionOperator {
        counted(5_787_900) { values, count, context in
            let known = values.filter { !NumberCoercion.isNullish($0) }
            let sorted = known.enumerated().sorted { left, right in
                let order = context.compare(left.element, right.element)
                return order == .equal ? left.offset < right.offset : order == wanted
            }
            return sorted.prefix(count).map(\.element)
        }
    }

    private static func counted(
        _ notDocument: Int32,
        _ body: @escaping @Sendable ([BSONValue], Int, ExpressionContext) -> [BSONValue]
    ) -> ExpressionOperator {
        ExpressionOperator { name, argument, parser throws(StoreError) in
            let arguments = try ExpressionArguments(
                argument, ["n", "input"],
                notDocument: .location(
                    notDocument,
                    "specification must be an object; found \(name): "
                        + ShellText.text(of: argument))
            ) { .location(5_787_901, "Unknown argument for 'n' operator: \($0)") }
            let nodes = [
                try arguments.operand(
                    "n", &parser, missing: .location(5_787_906, "Missing value for 'n'")),
                try arguments.operand(
                    "input", &parser, missing: .location(5_787_907, "Missing value for 'input'")),
            ]
            let eager: ExpressionFunction.Eager = { values, context throws(StoreError) in
                let count = try ExpressionArray.count(values[0])
                guard case .array(let array) = values[1] else {
                    throw .location(5_788_200, "Input must be an array")
                }
                return .array(BSONArray(body(array.values, count, context)))
            }
            return .call(ExpressionFunction(name, .eager(eager)), nodes)
        }
    }

    /// `$sortArray`: the values of an array, sorted by themselves or by their fields.
    private static let sortArray = ExpressionOperator { name, argument, parser throws(StoreError) in
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
            let parts = field.dottedParts
            guard !parts.contains(where: \.isEmpty) else {
                throw fault(
                    "The sort field is a dotted field but has an empty part: \(field)")
            }
            guard !parts.contains(where: { $0.utf8.first == UInt8(ascii: "$") }) else {
                throw fault(
                    "The sort field contains elements starting with '$': \(field)")
            }
            keys.append((ExpressionPath(parts: parts), number == -1))
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
