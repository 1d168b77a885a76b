/// The computations of operators on arrays.
enum ExpressionArray {
    /// Returns the element at a position, counted from the end if negative; `nil` outside.
    static func element(
        _ name: String, _ array: BSONValue?, _ position: BSONValue?, arity: Int,
        _ context: inout ExpressionContext
    ) throws(StoreError) -> BSONValue? {
        if NumberCoercion.isNullish(array) || NumberCoercion.isNullish(position) {
            return .null
        }
        guard case .array(let values) = array else {
            let which = arity == 1 ? "argument" : "first argument"
            throw .location(
                28689,
                "\(name)'s \(which) must be an array, but is \(ExpressionText.type(of: array))"
            )
        }
        guard let number = NumberCoercion.double(position) else {
            throw .location(
                28690,
                "\(name)'s second argument must be a numeric value, but is "
                    + ExpressionText.type(of: position))
        }
        guard let index = NumberCoercion.exact32(position) else {
            throw .location(
                28691,
                "\(name)'s second argument must be representable as a 32-bit integer: "
                    + ExpressionText.number(number))
        }
        return context.element(at: index, of: values)
    }

    /// Returns the document of keys with values, given as pairs or as documents of `k` and `v`.
    static func object(_ value: BSONValue?) throws(StoreError) -> BSONValue {
        if NumberCoercion.isNullish(value) { return .null }
        guard case .array(let array) = value else {
            throw .location(
                40386,
                "$arrayToObject requires an array input, found: \(ExpressionText.type(of: value))")
        }
        let isPairs: Bool
        switch array[0] {
        case nil: return .document(BSONDocument())
        case .array: isPairs = true
        case .document: isPairs = false
        default:
            throw .location(
                40398,
                "Unrecognised input type format for $arrayToObject: "
                    + ExpressionText.type(of: array[0]))
        }
        var keys: [String] = []
        var values: [Name: BSONValue] = [:]
        for element in array {
            let (key, value) = isPairs ? try pair(element) : try keyAndValue(element)
            guard !key.utf8.contains(0) else {
                throw .location(
                    isPairs ? 4_940_400 : 4_940_401,
                    "Key field cannot contain an embedded null byte")
            }
            if values.updateValue(value, forKey: key) == nil { keys.append(key) }
        }
        return try ExpressionLimits.checked(
            .document(BSONDocument(keys.map { ($0, values[$0] ?? .null) })))
    }

    private static func pair(_ element: BSONValue) throws(StoreError) -> (String, BSONValue) {
        guard case .array(let array) = element else {
            throw .location(
                40396,
                "$arrayToObject requires a consistent input format. Elements mustall be arrays or "
                    + "all be objects. Array was detected, now found: "
                    + ExpressionText.type(of: element))
        }
        let values = array.values
        guard values.count == 2 else {
            throw .location(
                40397,
                "$arrayToObject requires an array of size 2 arrays,found array of size: "
                    + String(values.count))
        }
        guard case .string(let key) = values[0] else {
            throw .location(
                40395,
                "$arrayToObject requires an array of key-value pairs, where the key must be of "
                    + "type string. Found key type: \(ExpressionText.type(of: values[0]))")
        }
        return (key, values[1])
    }

    private static func keyAndValue(
        _ element: BSONValue
    ) throws(StoreError) -> (String, BSONValue) {
        guard case .document(let document) = element else {
            throw .location(
                40391,
                "$arrayToObject requires a consistent input format. Elements mustall be arrays or "
                    + "all be objects. Object was detected, now found: "
                    + ExpressionText.type(of: element))
        }
        guard document.count == 2 else {
            throw .location(
                40392,
                "$arrayToObject requires an object keys of 'k' and 'v'. Found incorrect number of "
                    + "keys:\(document.count)")
        }
        guard let key = document["k"], let value = document["v"] else {
            throw .location(
                40393,
                "$arrayToObject requires an object with keys 'k' and 'v'. Missing either or both "
                    + "keys from: \(ExpressionText.text(of: element))")
        }
        guard case .string(let key) = key else {
            throw .location(
                40394,
                "$arrayToObject requires an object with keys 'k' and 'v', where the value of 'k' "
                    + "must be of type string. Found type: \(ExpressionText.type(of: key))")
        }
        return (key, value)
    }

    /// Returns the keys and values of a document as documents of `k` and `v`.
    static func pairs(_ value: BSONValue?) throws(StoreError) -> BSONValue {
        if NumberCoercion.isNullish(value) { return .null }
        guard case .document(let document) = value else {
            throw .location(
                40390,
                "$objectToArray requires a document input, found: \(ExpressionText.type(of: value))"
            )
        }
        var builder = ArrayBuilder()
        for (key, value) in document {
            try builder.append(.document(["k": .string(key), "v": value]))
        }
        return builder.array
    }

    /// Returns the first position of a value between two bounds, -1 if there is none.
    static func index(
        _ arguments: [BSONValue?], _ context: ExpressionContext
    ) throws(StoreError) -> BSONValue? {
        if NumberCoercion.isNullish(arguments[0]) { return .null }
        guard case .array(let array) = arguments[0] else {
            throw .location(
                40090,
                "$indexOfArray requires an array as a first argument, found: "
                    + ExpressionText.type(of: arguments[0]))
        }
        let values = array.values
        let (start, end) = try bounds(
            "$indexOfArray", arguments, count: values.count, codes: (9_711_600, 9_711_601))
        guard start < end else { return .int32(-1) }
        for index in start..<end {
            if try context.compareWithinBudget(values[index], arguments[1]) == .equal {
                return .int32(Int32(truncatingIfNeeded: index))
            }
        }
        return .int32(-1)
    }

    /// Returns the third and fourth argument of an `$indexOf…`, the last clamped to a count.
    static func bounds(
        _ name: String, _ arguments: [BSONValue?], count: Int,
        codes: (notWhole: Int32, negative: Int32) = (40096, 40097)
    ) throws(StoreError) -> (start: Int, end: Int) {
        var bounds = [0, count]
        for (place, label) in ["starting index", "ending index"].enumerated()
        where arguments.count > 2 + place {
            let value = arguments[2 + place]
            guard let number = NumberCoercion.exact32(value) else {
                throw .location(
                    codes.notWhole,
                    "\(name)requires an integral \(label), found a value of type: "
                        + "\(ExpressionText.type(of: value)), with value: "
                        + ExpressionText.text(of: value))
            }
            guard number >= 0 else {
                throw .location(
                    codes.negative, "\(name) requires a nonnegative \(label), found: \(number)")
            }
            bounds[place] = number
        }
        return (bounds[0], min(bounds[1], count))
    }

    /// Returns the number of values that an operator such as `$firstN` returns.
    static func count(_ value: BSONValue?) throws(StoreError) -> Int {
        guard let number = NumberCoercion.double(value) else {
            throw .location(
                5_787_902,
                "Value for 'n' must be of integral type, but found \(ExpressionText.text(of: value))"
            )
        }
        let count = try NumberCoercion.long(value)
        guard Double(count) == number else {
            throw .location(
                5_787_903,
                "Value for 'n' must be of integral type, but found \(ExpressionText.text(of: value))"
            )
        }
        guard count > 0 else {
            throw .location(5_787_908, "'n' must be greater than 0, found \(count)")
        }
        return Int(count)
    }
}
