extension UpdateParser {
    /// Parses the operand of `$inc` and `$mul`.
    static func number(
        _ operand: BSONValue, _ path: String, _ verb: String
    ) throws(StoreError) -> BSONValue {
        guard operand.isNumber else {
            throw StoreError(
                .typeMismatch,
                "Cannot \(verb) with non-numeric argument: "
                    + "{\(path): \(ShellText.text(of: operand))}")
        }
        return operand
    }

    /// Whether `$currentDate` sets a timestamp, not a date.
    static func isTimestamp(_ operand: BSONValue) throws(StoreError) -> Bool {
        if case .bool = operand { return false }
        guard case .document(let document) = operand else {
            throw StoreError(
                .badValue,
                "\(operand.type.alias) is not valid type for $currentDate. Please use a boolean "
                    + "('true') or a $type expression ({$type: 'timestamp/date'}).")
        }
        var isTimestamp: Bool?
        for (key, value) in document {
            guard key == "$type" else {
                throw StoreError(.badValue, "Unrecognized $currentDate option: \(key)")
            }
            switch value {
            case .string("date"): isTimestamp = false
            case .string("timestamp"): isTimestamp = true
            default: continue
            }
        }
        guard let isTimestamp else {
            throw StoreError(
                .badValue,
                "The '$type' string field is required to be 'date' or 'timestamp': "
                    + "{$currentDate: {field : {$type: 'date'}}}")
        }
        return isTimestamp
    }

    /// Parses the values of `$addToSet`: those of `$each`, or a single one.
    static func addToSet(_ operand: BSONValue) throws(StoreError) -> [BSONValue] {
        guard let document = operand.documentValue else { return [operand] }
        var elements = document.makeIterator()
        guard let first = elements.next(), first.key == "$each" else { return [operand] }
        guard let array = first.value.arrayValue else {
            throw StoreError(
                .typeMismatch,
                "The argument to $each in $addToSet must be an array but it was of type "
                    + "\(first.value.type.alias)")
        }
        guard elements.next() == nil else {
            throw StoreError(
                .badValue,
                "Found unexpected fields after $each in $addToSet: \(ShellText.text(of: document))")
        }
        return array.values
    }

    /// Parses the values of `$pullAll`.
    static func pullAll(_ operand: BSONValue) throws(StoreError) -> [BSONValue] {
        guard let array = operand.arrayValue else {
            throw StoreError(
                .badValue,
                "$pullAll requires an array argument but was given a \(operand.type.alias)")
        }
        return array.values
    }

    /// Whether `$pop` removes the first element, not the last.
    static func isFirst(_ path: String, _ operand: BSONValue) throws(StoreError) -> Bool {
        let number = try IntegerFieldParser.int64(path, operand)
        guard number == 1 || number == -1 else {
            throw StoreError(.failedToParse, "$pop expects 1 or -1, found: \(number)")
        }
        return number == -1
    }

    /// Parses the steps of `$bit`.
    static func bit(
        _ operand: BSONValue
    ) throws(StoreError) -> [UpdateOperation.BitStep] {
        guard let document = operand.documentValue else {
            throw StoreError(
                .badValue,
                "The $bit modifier is not compatible with a \(operand.type.alias). You must pass in "
                    + "an embedded document: {$bit: {field: {and/or/xor: #}}")
        }
        var steps: [UpdateOperation.BitStep] = []
        for (key, value) in document {
            let shown = "{\(key): \(ShellText.text(of: value))}"
            guard let name = UpdateOperation.BitStep.Operator(rawValue: key) else {
                throw StoreError(
                    .failedToParse,
                    "The $bit modifier only supports 'and', 'or', and 'xor', not '\(key)' which is "
                        + "an unknown operator: \(shown)")
            }
            guard value.type == .int32 || value.type == .int64 else {
                throw StoreError(
                    .badValue,
                    "The $bit modifier field must be an Integer(32/64 bit); a "
                        + "'\(value.type.alias)' is not supported here: \(shown)")
            }
            steps.append(UpdateOperation.BitStep(operator: name, operand: value))
        }
        guard !steps.isEmpty else {
            throw StoreError(
                .failedToParse,
                "You must pass in at least one bitwise operation. The format is: "
                    + "{$bit: {field: {and/or/xor: #}}")
        }
        return steps
    }
}

/// A parser for the operand of `$push`.
enum PushParser {
    /// Parses a value, or a document of modifiers around `$each`.
    static func parse(_ operand: BSONValue) throws(StoreError) -> UpdateOperation.Push {
        guard let document = operand.documentValue, document["$each"] != nil else {
            return UpdateOperation.Push(values: [operand])
        }
        let clauses = try clauses(document)
        guard let each = clauses["$each"]?.arrayValue else {
            throw StoreError(
                .badValue,
                "The argument to $each in $push must be an array but it was of type: "
                    + "\(clauses["$each"]?.type.alias ?? "missing")")
        }
        var push = UpdateOperation.Push(values: each.values)
        push.slice = try integer(
            clauses["$slice"], "The value for $slice must be an integer value but was given type: ")
        push.sort = try clauses["$sort"].map { (value) throws(StoreError) in try sort(value) }
        push.position = try integer(
            clauses["$position"], "The value for $position must be an integer value, not of type: ")
        return push
    }

    private static func clauses(
        _ document: BSONDocument
    ) throws(StoreError) -> [Name: BSONValue] {
        var clauses: [Name: BSONValue] = [:]
        for (key, value) in document {
            guard ["$each", "$slice", "$sort", "$position"].contains(key) else {
                throw StoreError(.badValue, "Unrecognized clause in $push: \(key)")
            }
            guard clauses.updateValue(value, forKey: key) == nil else {
                throw StoreError(.badValue, "Only one \(key) is supported.")
            }
        }
        return clauses
    }

    private static func integer(
        _ value: BSONValue?, _ complaint: String
    ) throws(StoreError) -> Int? {
        guard let value else { return nil }
        guard let number = value.wholeNumber else {
            throw StoreError(.badValue, complaint + value.type.alias)
        }
        return Int(number)
    }

    private static func sort(_ value: BSONValue) throws(StoreError) -> ArraySort {
        if let document = value.documentValue { return try sort(by: document) }
        guard value.isNumber else {
            throw StoreError(
                .badValue,
                "The $sort is invalid: use 1/-1 to sort the whole element, or {field:1/-1} to sort "
                    + "embedded fields")
        }
        return .whole(isDescending: try isDescending(value))
    }

    private static func sort(by document: BSONDocument) throws(StoreError) -> ArraySort {
        guard !document.isEmpty else {
            throw StoreError(
                .badValue, "The $sort pattern is empty when it should be a set of fields.")
        }
        var fields: [(path: String, isDescending: Bool)] = []
        for (key, value) in document {
            let isDescending = try isDescending(value)
            guard !key.isEmpty else {
                throw StoreError(.badValue, "The $sort field cannot be empty")
            }
            guard !key.dottedParts.contains(where: \.isEmpty) else {
                throw StoreError(
                    .badValue,
                    "The $sort field is a dotted field but has an empty part: \(key)")
            }
            fields.append((key, isDescending))
        }
        return .fields(fields)
    }

    private static func isDescending(_ value: BSONValue) throws(StoreError) -> Bool {
        guard let number = value.wholeNumber, number == 1 || number == -1 else {
            throw StoreError(.badValue, "The $sort element value must be either 1 or -1")
        }
        return number == -1
    }
}
