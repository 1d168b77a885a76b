/// The named arguments of an operator that takes a document.
struct ExpressionArguments {
    private let fields: [Name: BSONValue]

    /// Reads the arguments from a document.
    ///
    /// - Throws: `notDocument` for another type, `unknown` for a name that is not in the list.
    init(
        _ argument: BSONValue, _ names: [String],
        notDocument: @autoclosure () -> StoreError, unknown: (String) -> StoreError
    ) throws(StoreError) {
        guard case .document(let document) = argument else { throw notDocument() }
        var fields: [Name: BSONValue] = [:]
        for (name, value) in document {
            guard names.contains(name) else { throw unknown(name) }
            fields[name] = value
        }
        self.fields = fields
    }

    /// The argument of a name, `nil` if omitted.
    subscript(name: String) -> BSONValue? { fields[name] }

    /// Whether an argument was given.
    func contains(_ name: String) -> Bool { fields[name] != nil }

    /// Parses an argument as an expression.
    ///
    /// - Throws: `missing` if it is omitted, and the errors of parsing.
    func operand(
        _ name: String, _ parser: inout ExpressionParser,
        missing: @autoclosure () -> StoreError
    ) throws(StoreError) -> ExpressionNode {
        guard let value = fields[name] else { throw missing() }
        return try parser.operand(value)
    }

    /// Parses an argument as an expression; a default constant if it is omitted.
    func operand(
        _ name: String, _ parser: inout ExpressionParser, default constant: BSONValue?
    ) throws(StoreError) -> ExpressionNode {
        guard let value = fields[name] else { return .constant(constant) }
        return try parser.operand(value)
    }

    /// Returns the fields of an argument, which may also be an array: its positions are their names
    /// then.
    ///
    /// - Throws: 10065 with the argument's name for every other type.
    static func fields(
        of value: BSONValue, named name: String
    ) throws(StoreError) -> BSONDocument {
        if case .document(let document) = value { return document }
        if case .array(let array) = value { return array.document }
        throw .location(10065, "invalid parameter: expected an object (\(name))")
    }
}
