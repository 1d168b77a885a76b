/// Reads the operators of an update as MongoDB does, with its error texts.
///
/// Source: MongoDB manual, "Update Operators"; error texts as the 7.0 server gives.
struct UpdateParser {
    /// Reads a document of operators.
    static func parse(
        _ document: BSONDocument, _ arrayFilters: [BSONDocument]
    ) throws(StoreError) -> Update.Kind {
        var modifiers: [UpdateModifier] = []
        for (key, value) in document {
            guard operators.contains(key) else {
                throw StoreError(
                    .failedToParse,
                    "Unknown modifier: \(key). Expected a valid update modifier or pipeline-style "
                        + "update specified as an array")
            }
            guard let fields = value.documentValue else {
                throw StoreError(
                    .failedToParse,
                    "Modifiers operate on fields but we found type \(value.type.alias) instead. "
                        + "For example: {$mod: {<field>: ...}} not {\(key): "
                        + "\(ShellText.text(of: value))}")
            }
            for (path, operand) in fields {
                try append(key, path, operand, to: &modifiers)
            }
        }
        let filters = try parse(arrayFilters: arrayFilters)
        try check(filters, areUsedBy: modifiers)
        // A tie keeps the order of writing, so that the result never depends on the sort.
        modifiers.sort { UpdatePath.isBefore($0.path, $1.path) }
        return .operators(modifiers, arrayFilters: filters)
    }

    private static let operators: Set<String> = [
        "$set", "$setOnInsert", "$unset", "$inc", "$mul", "$min", "$max", "$currentDate",
        "$rename", "$push", "$addToSet", "$pull", "$pullAll", "$pop", "$bit",
    ]

    private static func append(
        _ key: String, _ path: String, _ operand: BSONValue, to modifiers: inout [UpdateModifier]
    ) throws(StoreError) {
        var path = try UpdatePath(path)
        let operation: UpdateOperation
        if key == "$rename" {
            let source = path
            path = try destination(of: source, operand)
            try add(UpdateModifier(path: source, operation: .unset), to: &modifiers)
            operation = .rename(from: try FieldPath(source.description))
        } else {
            operation = try self.operation(key, path, operand)
        }
        try add(UpdateModifier(path: path, operation: operation), to: &modifiers)
    }

    private static func add(
        _ modifier: UpdateModifier, to modifiers: inout [UpdateModifier]
    ) throws(StoreError) {
        for other in modifiers where other.path.overlaps(modifier.path) {
            let shorter =
                other.path.parts.count < modifier.path.parts.count ? other.path : modifier.path
            throw StoreError(
                .conflictingUpdateOperators,
                "Updating the path '\(modifier.path)' would create a conflict at '\(shorter)'")
        }
        modifiers.append(modifier)
    }

    private static func operation(
        _ key: String, _ path: UpdatePath, _ operand: BSONValue
    ) throws(StoreError) -> UpdateOperation {
        switch key {
        case "$set": return .set(operand)
        case "$setOnInsert": return .setOnInsert(operand)
        case "$unset": return .unset
        case "$inc": return .increment(try number(operand, path, "increment"))
        case "$mul": return .multiply(try number(operand, path, "multiply"))
        case "$min": return .least(operand)
        case "$max": return .greatest(operand)
        case "$currentDate": return .currentDate(asTimestamp: try isTimestamp(operand))
        case "$push": return .push(try PushParser.parse(operand))
        case "$addToSet": return .addToSet(try addToSet(operand))
        case "$pull": return .pull(try pull(operand))
        case "$pullAll":
            guard let array = operand.arrayValue else {
                throw StoreError(
                    .badValue,
                    "$pullAll requires an array argument but was given a \(operand.type.alias)")
            }
            return .pullAll(array.values)
        case "$pop": return .pop(isFirst: try isFirst(operand, path))
        default: return .bit(try bit(operand, path))
        }
    }

    private static func number(
        _ operand: BSONValue, _ path: UpdatePath, _ verb: String
    ) throws(StoreError) -> BSONValue {
        guard operand.isNumber else {
            throw StoreError(
                .typeMismatch,
                "Cannot \(verb) with non-numeric argument: "
                    + "{\(path): \(ShellText.text(of: operand))}")
        }
        return operand
    }

    private static func destination(
        of source: UpdatePath, _ operand: BSONValue
    ) throws(StoreError) -> UpdatePath {
        let shown = "\(source): \(ShellText.text(of: operand))"
        guard let text = operand.stringValue else {
            throw StoreError(
                .badValue, "The 'to' field for $rename must be a string: \(shown)")
        }
        let target = try UpdatePath(text)
        guard target != source else {
            throw StoreError(
                .badValue, "The source and target field for $rename must differ: \(shown)")
        }
        for (path, role) in [(source, "source"), (target, "destination")] {
            for part in path.parts {
                if case .field = part { continue }
                throw StoreError(
                    .badValue, "The \(role) field for $rename may not be dynamic: \(path)")
            }
        }
        return target
    }

    private static func isTimestamp(_ operand: BSONValue) throws(StoreError) -> Bool {
        if case .bool = operand { return false }
        switch operand {
        case .document(let document):
            for (key, _) in document where key != "$type" {
                throw StoreError(.badValue, "Unrecognized $currentDate option: \(key)")
            }
            switch document["$type"] {
            case .string("date"): return false
            case .string("timestamp"): return true
            default:
                throw StoreError(
                    .badValue,
                    "The '$type' string field is required to be 'date' or 'timestamp': "
                        + "{$currentDate: {field : {$type: 'date'}}}")
            }
        default:
            throw StoreError(
                .badValue,
                "\(operand.type.alias) is not valid type for $currentDate. Please use a boolean "
                    + "('true') or a $type expression ({$type: 'timestamp/date'}).")
        }
    }

    private static func addToSet(_ operand: BSONValue) throws(StoreError) -> [BSONValue] {
        guard let document = operand.documentValue else { return [operand] }
        var elements = document.makeIterator()
        guard let first = elements.next(), first.key == "$each" else { return [operand] }
        guard let array = first.value.arrayValue else {
            throw StoreError(
                .typeMismatch,
                "The argument to $each in $addToSet must be an array but it was of type "
                    + "\(first.value.type.alias)")
        }
        if let extra = elements.next() {
            throw StoreError(
                .badValue, "Found unexpected fields after $each in $addToSet: \(extra.key)")
        }
        return array.values
    }

    private static func pull(
        _ operand: BSONValue
    ) throws(StoreError) -> UpdateOperation.PullCondition {
        switch operand {
        case .document(let document):
            guard PredicateParser.holdsOperators(document) else {
                return .documents(try Filter(document))
            }
            return .passing(try Filter(try PredicateParser.parseOperators(document)))
        case .regularExpression(let expression):
            return .passing(try Filter(Predicate.field(.itself, .matches(expression))))
        default: return .equal(operand)
        }
    }

    private static func isFirst(
        _ operand: BSONValue, _ path: UpdatePath
    ) throws(StoreError) -> Bool {
        switch operand.wholeNumber {
        case 1: return false
        case -1: return true
        default:
            throw StoreError(
                .failedToParse,
                "$pop expects 1 or -1, found: \(ShellText.text(of: operand))")
        }
    }

    private static func bit(
        _ operand: BSONValue, _ path: UpdatePath
    ) throws(StoreError) -> [UpdateOperation.BitStep] {
        guard let document = operand.documentValue, !document.isEmpty else {
            throw StoreError(
                .badValue,
                "The $bit modifier is not compatible with a \(operand.type.alias). You must pass in "
                    + "an embedded document: {$bit: {field: {and/or/xor: #}}")
        }
        var steps: [UpdateOperation.BitStep] = []
        for (key, value) in document {
            guard let name = UpdateOperation.BitStep.Operator(rawValue: key) else {
                throw StoreError(
                    .badValue,
                    "The $bit modifier only supports 'and', 'or', and 'xor', not '\(key)' which is "
                        + "an unknown operator: {\(key): \(ShellText.text(of: value))}")
            }
            guard value.type == .int32 || value.type == .int64 else {
                throw StoreError(
                    .badValue,
                    "The $bit modifier field must be an Integer(32/64 bit); a "
                        + "'\(value.type.alias)' is not supported here: "
                        + "{\(key): \(ShellText.text(of: value))}")
            }
            steps.append(UpdateOperation.BitStep(operator: name, operand: value))
        }
        return steps
    }
}
