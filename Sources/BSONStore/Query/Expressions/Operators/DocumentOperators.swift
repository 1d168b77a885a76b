/// Operators on documents and on the size of encoded values.
enum DocumentOperators {
    /// Each operator by its name.
    static let all: [String: ExpressionOperator] = [
        "$getField": getField, "$setField": setField, "$unsetField": setField,
        "$mergeObjects": .any { nodes, context throws(StoreError) in
            var values: [BSONValue?] = []
            for node in nodes { values.append(try node.evaluate(&context)) }
            // A single array has the documents as its members.
            if values.count == 1, case .array(let array)? = values[0] {
                values = Array(array)
            }
            var merged = EditedDocument()
            for value in values {
                try WorkBudget.spend()
                guard let value, !NumberCoercion.isNullish(value) else { continue }
                try ExpressionLimits.check(merged.byteCount + BSONWriter.count(value))
                try merge(value, into: &merged)
            }
            return try ExpressionLimits.checked(.document(merged.finished()))
        },
        "$binarySize": .fixed(1) { arguments, _ throws(StoreError) in
            switch arguments[0] {
            case nil, .null, .undefined: return .null
            case .string(let value): return .int32(Int32(truncatingIfNeeded: value.utf8.count))
            case .binary(let value): return .int32(Int32(truncatingIfNeeded: value.bytes.count))
            default:
                throw .location(
                    51276,
                    "$binarySize requires a string or BinData argument, found: "
                        + ExpressionText.type(of: arguments[0]))
            }
        },
        "$bsonSize": .fixed(1) { arguments, _ throws(StoreError) in
            if NumberCoercion.isNullish(arguments[0]) { return .null }
            guard case .document(let document) = arguments[0] else {
                throw .location(
                    31393,
                    "$bsonSize requires a document input, found: "
                        + ExpressionText.type(of: arguments[0]))
            }
            return .int32(Int32(truncatingIfNeeded: document.byteCount))
        },
    ]

    /// Merges the fields of a document into another; later values replace earlier ones.
    private static func merge(
        _ value: BSONValue, into merged: inout EditedDocument
    ) throws(StoreError) {
        guard case .document(let other) = value else {
            throw .location(
                40400,
                "$mergeObjects requires object inputs, but input \(ExpressionText.text(of: value)) "
                    + "is of type \(ExpressionText.type(of: value))")
        }
        guard merged.byteCount > BSONDocument().byteCount else {
            merged = EditedDocument(other)
            return
        }
        for (key, value) in other {
            try WorkBudget.spend()
            merged.set(key, to: value)
        }
    }

    private static let getField = ExpressionOperator { name, argument, parser throws(StoreError) in
        var field: ExpressionNode?
        var input: ExpressionNode?
        if case .document(let document) = argument,
            document.keys.first?.utf8.first != UInt8(ascii: "$")
        {
            for (key, value) in document {
                switch key {
                case "field": field = try parser.operand(value)
                case "input": input = try parser.operand(value)
                default:
                    throw .location(3_041_701, "$getField found an unknown argument: \(key)")
                }
            }
        } else {
            field = try parser.operand(argument)
            input = try parser.operand(.string("$$CURRENT"))
        }
        guard let field else {
            throw .location(3_041_702, "$getField requires 'field' to be specified")
        }
        guard let input else {
            throw .location(3_041_703, "$getField requires 'input' to be specified")
        }
        let body: ExpressionFunction.Eager = { arguments, _ throws(StoreError) in
            guard case .string(let key)? = arguments[0] else {
                throw .location(
                    3_041_704,
                    "$getField requires 'field' to evaluate to type String, but got "
                        + ExpressionText.type(of: arguments[0]))
            }
            switch arguments[1] {
            case .document(let document): return document[key]
            case .null, .undefined: return .null
            default: return nil
            }
        }
        return .call(ExpressionFunction(name, .eager(body)), [field, input])
    }

    private static let setField = ExpressionOperator { name, argument, parser throws(StoreError) in
        let isUnset = name == "$unsetField"
        let arguments = try ExpressionArguments(
            argument, isUnset ? ["field", "input"] : ["field", "input", "value"],
            notDocument: .location(4_161_100, "\(name) only supports an object as its argument")
        ) { .location(4_161_101, "\(name) found an unknown argument: \($0)") }
        let field = try arguments.operand(
            "field", &parser,
            missing: .location(4_161_102, "\(name) requires 'field' to be specified"))
        let value: ExpressionNode =
            isUnset
            ? .constant(nil)
            : try arguments.operand(
                "value", &parser,
                missing: .location(4_161_103, "\(name) requires 'value' to be specified"))
        let input = try arguments.operand(
            "input", &parser,
            missing: .location(4_161_109, "\(name) requires 'input' to be specified"))
        let key = try fieldName(name, field, arguments["field"])
        let body: ExpressionFunction.Lazy = { nodes, context throws(StoreError) in
            let input = try nodes[0].evaluate(&context)
            if NumberCoercion.isNullish(input) { return .null }
            guard case .document(var document) = input else {
                throw .location(4_161_105, "$setField requires 'input' to evaluate to type Object")
            }
            document.set(key, to: try nodes[1].evaluate(&context))
            return try ExpressionLimits.checked(.document(document))
        }
        return .call(ExpressionFunction(name, .lazy(body)), [input, value])
    }

    /// Returns the constant name of the field of `$setField` and `$unsetField`.
    ///
    /// - Throws: 4161108 for a path, 4161106 for another expression, even if it depends on
    ///   nothing, 4161107 for another type, and 9534700 for a null byte.
    private static func fieldName(
        _ name: String, _ node: ExpressionNode, _ source: BSONValue?
    ) throws(StoreError) -> String {
        if case .string(let path)? = source, path.utf8.first == UInt8(ascii: "$") {
            throw .location(
                4_161_108,
                "'\(path)' is a field path reference which is not allowed in this context. "
                    + "Did you mean {$literal: '\(path)'}?")
        }
        guard isLiteral(source), case .constant(let value) = node else {
            throw .location(
                4_161_106,
                "\(name) requires 'field' to evaluate to a constant, but got a non-constant argument"
            )
        }
        guard case .string(let key) = value else {
            throw .location(
                4_161_107,
                "\(name) requires 'field' to evaluate to type String, but got "
                    + ExpressionText.type(of: value))
        }
        guard !key.utf8.contains(0) else {
            throw .location(9_534_700, "\(name) requires 'field' to hold no null byte")
        }
        return key
    }

    /// Whether an expression is written as a value.
    private static func isLiteral(_ source: BSONValue?) -> Bool {
        switch source {
        case .array: return false
        case .document(let document):
            guard let first = document.keys.first else { return true }
            return first == "$literal" || first == "$const"
        default: return true
        }
    }
}
