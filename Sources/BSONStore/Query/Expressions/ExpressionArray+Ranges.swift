extension ExpressionArray {
    /// Returns the numbers from one to another in steps, without the last.
    static func range(_ arguments: [BSONValue?]) throws(StoreError) -> BSONValue {
        let start = try bound(
            arguments[0], 34443, "a numeric starting value, found value of type: ", 34444,
            "a starting value that can be represented as a 32-bit integer, found value: ")
        let end = try bound(
            arguments[1], 34445, "a numeric ending value, found value of type: ", 34446,
            "an ending value that can be represented as a 32-bit integer, found value: ")
        var step = 1
        if arguments.count == 3 {
            step = try bound(
                arguments[2], 34447, "a numeric step value, found value of type:", 34448,
                "a step value that can be represented as a 32-bit integer, found value: ")
            guard step != 0 else { throw .location(34449, "$range requires a non-zero step value") }
        }
        let count = step > 0 ? (end - start + step - 1) / step : (start - end - step - 1) / -step
        guard count > 0 else { return .array(BSONArray()) }
        let size = count * 16
        guard size <= ExpressionLimits.memoryBytesMax else {
            throw StoreError(
                .exceededMemoryLimit,
                "$range would use too much memory (\(size) bytes) and cannot spill to disk. "
                    + "Memory limit: \(ExpressionLimits.memoryBytesMax) bytes")
        }
        var values: [BSONValue] = []
        values.reserveCapacity(count)
        for place in 0..<count {
            try WorkBudget.spend()
            values.append(.int32(Int32(truncatingIfNeeded: start + place * step)))
        }
        return .array(BSONArray(values))
    }

    private static func bound(
        _ value: BSONValue?, _ typeCode: Int32, _ typeText: String, _ code: Int32, _ text: String
    ) throws(StoreError) -> Int {
        guard NumberCoercion.isNumber(value) else {
            throw .location(
                typeCode, "$range requires \(typeText)\(ExpressionText.type(of: value))")
        }
        guard let number = NumberCoercion.exact32(value) else {
            throw .location(code, "$range requires \(text)\(ExpressionText.text(of: value))")
        }
        return number
    }

    /// Returns a part of an array: a count from its beginning or end, or from a position on.
    static func slice(_ arguments: [BSONValue?]) throws(StoreError) -> BSONValue {
        if NumberCoercion.isNullish(arguments[0]) || NumberCoercion.isNullish(arguments[1]) {
            return .null
        }
        guard case .array(let array) = arguments[0] else {
            throw .location(
                28724,
                "First argument to $slice must be an array, but is of type: "
                    + ExpressionText.type(of: arguments[0]))
        }
        let first = try sliceNumber(
            arguments[1], 28725,
            "Second argument to $slice must be a numeric value, but is of type: ",
            28726, "Second")
        try WorkBudget.spend(1 + array.document.byteCount >> 6)
        let values = array.values
        let start = first < 0 ? max(0, values.count + first) : min(first, values.count)
        guard arguments.count == 3 else {
            return .array(
                BSONArray(first < 0 ? values[start...] : values[..<start]))
        }
        if NumberCoercion.isNullish(arguments[2]) { return .null }
        let count = try sliceNumber(
            arguments[2], 28727, "Third argument to $slice must be numeric, but is of type: ",
            28728,
            "Third")
        guard count > 0 else {
            throw .location(28729, "Third argument to $slice must be positive: \(count)")
        }
        return .array(BSONArray(values[start..<min(start + count, values.count)]))
    }

    private static func sliceNumber(
        _ value: BSONValue?, _ typeCode: Int32, _ typeText: String, _ code: Int32, _ which: String
    ) throws(StoreError) -> Int {
        guard let number = NumberCoercion.double(value) else {
            throw .location(typeCode, "\(typeText)\(ExpressionText.type(of: value))")
        }
        guard let exact = NumberCoercion.exact32(value) else {
            throw .location(
                code,
                "\(which) argument to $slice can't be represented as a 32-bit integer: "
                    + ExpressionText.number(number))
        }
        return exact
    }
}
