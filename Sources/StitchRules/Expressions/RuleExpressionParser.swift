internal import BSONStore

/// A parser of rule conditions.
///
/// Source: App Services documentation, "Rule Expressions".
enum RuleExpressionParser {
    /// Parses a Boolean or an object of conditions that must all hold.
    static func parse(
        _ value: BSONValue, at place: RuleSourceLocation
    ) throws(RuleError) -> RuleExpression {
        if let constant = value.boolValue { return .constant(constant) }
        guard value.documentValue != nil else {
            throw place.error(
                .wrongType,
                "true, false or an object is needed, not \(RuleObjectReader.name(of: value))")
        }
        return try parse(RuleObjectReader(value, at: place))
    }

    private static func parse(_ object: RuleObjectReader) throws(RuleError) -> RuleExpression {
        var parts: [RuleExpression] = []
        for (key, value) in object.entries {
            parts.append(try entry(key, value, at: object.place[key]))
        }
        return parts.isEmpty ? .always : parts.count == 1 ? parts[0] : .all(parts)
    }

    private static func entry(
        _ key: String, _ value: BSONValue, at place: RuleSourceLocation
    ) throws(RuleError) -> RuleExpression {
        if key.hasBytePrefix("%%") {
            let reference = try RuleReference(key, at: place)
            return try .test(.reference(reference), test(value, at: place))
        }
        if let operation = name(ofOperator: key) {
            return try logic(operation, key, value, at: place)
        }
        return try .test(.reference(.root(Name(key))), test(value, at: place))
    }

    /// Parses a logical operator with its conditions.
    private static func logic(
        _ operation: String, _ key: String, _ value: BSONValue, at place: RuleSourceLocation
    ) throws(RuleError) -> RuleExpression {
        switch operation {
        case "$and": return .all(try list(value, at: place))
        case "$or": return .any(try list(value, at: place))
        case "$nor": return .not(.any(try list(value, at: place)))
        case "$not": return .not(try parse(value, at: place))
        case "$function": throw functionNotSupported(place)
        default:
            if let conversion = RuleConversion(rawValue: key) {
                throw place.error(
                    .unsupportedOperator,
                    "\(conversion.rawValue) gives a value; it cannot stand for a condition")
            }
            throw place.error(
                .unsupportedOperator,
                "\(key) is not known in the place of a field; known are $and, $or, $nor and $not")
        }
    }

    private static func list(
        _ value: BSONValue, at place: RuleSourceLocation
    ) throws(RuleError) -> [RuleExpression] {
        let elements = try RuleObjectReader.elements(value, at: place)
        guard !elements.isEmpty else {
            throw place.error(.invalidValue, "At least one condition is needed")
        }
        var parts: [RuleExpression] = []
        for element in elements { parts.append(try parse(element.value, at: element.place)) }
        return parts
    }

    /// Parses a test: a value to equal, or operators.
    private static func test(
        _ value: BSONValue, at place: RuleSourceLocation
    ) throws(RuleError) -> RuleTest {
        if case .regularExpression(let pattern) = value {
            // Extended JSON has its own object for patterns, which a filter expects.
            let query: BSONDocument = [
                "$regex": .string(pattern.pattern), "$options": .string(pattern.options),
            ]
            return .query("", .document(query))
        }
        guard let document = value.documentValue, let first = document.keys.first,
            name(ofOperator: first) != nil, RuleConversion(rawValue: first) == nil
        else { return .compare(.equal, try RuleOperandParser.parse(value, at: place)) }
        let object = try RuleObjectReader(document, at: place)
        let options = object["$options"]
        var parts: [RuleTest] = []
        for (key, value) in object.entries where key != "$options" {
            guard let operation = name(ofOperator: key) else {
                throw place[key].error(
                    .unsupportedOperator, "Operators and fields cannot be mixed")
            }
            parts.append(
                try self.operation(operation, key, value, options: options, at: place[key]))
        }
        return parts.count == 1 ? parts[0] : .all(parts)
    }

    private static func operation(
        _ operation: String, _ key: String, _ value: BSONValue, options: BSONValue?,
        at place: RuleSourceLocation
    ) throws(RuleError) -> RuleTest {
        if let comparison = RuleComparison(rawValue: operation) {
            return .compare(comparison, try RuleOperandParser.parse(value, at: place))
        }
        switch operation {
        case "$in", "$nin":
            return .isIn(
                try RuleOperandParser.list(value, at: place), isNegated: operation == "$nin")
        case "$exists":
            guard let wanted = constant(value) else {
                throw place.error(
                    .wrongType, "true or false is needed, not \(RuleObjectReader.name(of: value))")
            }
            return .exists(wanted)
        case "$not": return .not(try test(value, at: place))
        case "$all", "$size", "$type", "$elemMatch", "$regex", "$mod":
            try RuleOperandParser.refuseExpansions(value, at: place)
            return try query(operation, value, options: options, at: place)
        case "$function": throw functionNotSupported(place)
        default:
            throw place.error(.unsupportedOperator, "There is no operator \(key) in rules")
        }
    }

    /// Parses an operator of MongoDB's filters, and checks at once that they accept its operand.
    private static func query(
        _ operation: String, _ value: BSONValue, options: BSONValue?, at place: RuleSourceLocation
    ) throws(RuleError) -> RuleTest {
        var operand: BSONDocument = [operation: value]
        if operation == "$regex", let options { operand.append("$options", options) }
        do {
            _ = try Filter(["field": .document(operand)])
        } catch {
            throw place.error(.invalidValue, error.message)
        }
        return operand.count == 1
            ? .query(operation, value) : .query("", .document(operand))
    }

    /// Returns the value of `true`, `false` or an expansion for one of them; `nil` for others.
    private static func constant(_ value: BSONValue) -> Bool? {
        switch value {
        case .bool(let flag): flag
        case .string("%%true"): true
        case .string("%%false"): false
        default: nil
        }
    }

    private static func functionNotSupported(_ place: RuleSourceLocation) -> RuleError {
        place.error(
            .functionNotSupported,
            "%function calls code of the hosted product; write the condition with custom data")
    }

    /// Returns an operator's name with `$`, whether written with it or with the older `%`.
    static func name(ofOperator key: String) -> String? {
        if key.hasBytePrefix("%%") { return nil }
        if key.hasBytePrefix("$") { return key }
        return key.hasBytePrefix("%") ? "$" + key.droppingBytes(1) : nil
    }
}

/// A parser of values in conditions.
enum RuleOperandParser {
    /// Parses a literal, an expansion, a conversion, or a list or document of them.
    static func parse(_ value: BSONValue, at place: RuleSourceLocation) throws(RuleError)
        -> RuleOperand
    {
        if let text = value.stringValue, text.hasBytePrefix("%%") {
            return .reference(try RuleReference(text, at: place))
        }
        if case .array(let array) = value {
            var parts: [RuleOperand] = []
            for (index, element) in array.enumerated() {
                parts.append(try parse(element, at: place[index]))
            }
            return folded(.list(parts))
        }
        guard value.documentValue != nil else { return .literal(value) }
        let object = try RuleObjectReader(value, at: place)
        if let converted = try conversion(object) { return converted }
        var fields: [RuleField] = []
        for (key, value) in object.entries {
            guard RuleExpressionParser.name(ofOperator: key) == nil, !key.hasBytePrefix("%%") else {
                throw place[key].error(
                    .unsupportedOperator, "\(key) cannot stand inside of a value")
            }
            fields.append(RuleField(name: Name(key), value: try parse(value, at: place[key])))
        }
        return folded(.document(fields))
    }

    /// Parses the operand of `$in`: a list, or an expression for one.
    static func list(_ value: BSONValue, at place: RuleSourceLocation) throws(RuleError)
        -> RuleOperand
    {
        let operand = try parse(value, at: place)
        switch operand {
        case .list, .literal(.array), .reference: return operand
        case .literal, .converted, .document:
            throw place.error(
                .wrongType,
                "An array or an expansion is needed, not \(RuleObjectReader.name(of: value))")
        }
    }

    /// Refuses expansions where only literals are allowed.
    static func refuseExpansions(_ value: BSONValue, at place: RuleSourceLocation) throws(RuleError)
    {
        if let text = value.stringValue, text.hasBytePrefix("%%") {
            throw place.error(.unsupportedExpansion, "No expansion can stand here")
        }
        if case .array(let array) = value {
            for (index, element) in array.enumerated() {
                try refuseExpansions(element, at: place[index])
            }
        }
        guard value.documentValue != nil else { return }
        for (key, element) in try RuleObjectReader(value, at: place).entries {
            guard !key.hasBytePrefix("%") else {
                throw place[key].error(.unsupportedExpansion, "No expansion can stand here")
            }
            try refuseExpansions(element, at: place[key])
        }
    }

    private static func conversion(_ object: RuleObjectReader) throws(RuleError) -> RuleOperand? {
        guard let (key, value) = object.entries.first,
            let conversion = RuleConversion(rawValue: key)
        else { return nil }
        try object.allow([key])
        let place = object.place[key]
        let inner = try parse(value, at: place)
        switch inner {
        case .reference: return .converted(conversion, inner)
        case .literal(let literal):
            guard let converted = conversion.convert(literal) else {
                throw place.error(.invalidValue, "\(key) cannot convert this value")
            }
            return .literal(converted)
        case .converted, .list, .document:
            throw place.error(
                .unsupportedOperator, "\(key) takes a literal or an expansion and nothing else")
        }
    }

    /// Turns a list or document of literals into a literal.
    private static func folded(_ operand: RuleOperand) -> RuleOperand {
        guard operand.references.isEmpty else { return operand }
        let value = operand.value(RuleUser(id: ""), RuleConstants())
        return value.map(RuleOperand.literal) ?? operand
    }
}
