internal import BSONStore

/// The type of a command's argument.
enum FieldKind: Sendable, Hashable {
    case any
    case array
    case bool
    /// A Boolean, or a number read as one.
    case flag
    case document
    case number
    case string
    /// An index, by name or by key pattern.
    case hint
    case timestamp

    /// Whether values of a type are allowed; null and undefined count as missing, but not as a hint.
    func allows(_ type: BSONType) -> Bool {
        switch (self, type) {
        case (.hint, .null), (.hint, .undefined): false
        case (_, .null), (_, .undefined), (.any, _): true
        case (.array, .array), (.bool, .bool), (.flag, .bool), (.document, .document): true
        case (.flag, .int32), (.flag, .int64), (.flag, .double), (.flag, .decimal128): true
        case (.number, .int32), (.number, .int64), (.number, .double), (.number, .decimal128): true
        case (.string, .string), (.hint, .string), (.hint, .document): true
        case (.timestamp, .timestamp): true
        default: false
        }
    }

    /// The types by their names in MongoDB's errors; empty for any type.
    var types: [String] {
        switch self {
        case .any: []
        case .array: ["array"]
        case .bool: ["bool"]
        case .flag: ["bool", "long", "int", "decimal", "double"]
        case .document: ["object"]
        case .number: ["long", "int", "decimal", "double"]
        case .string: ["string"]
        case .hint: ["string", "object"]
        case .timestamp: ["timestamp"]
        }
    }

    /// Checks a value; null and undefined count as missing.
    ///
    /// - Throws: 14 (TypeMismatch), 9 (FailedToParse) for a hint.
    ///
    /// Source: the server's `idl_parser.cpp`.
    func check(
        _ value: BSONValue, named name: @autoclosure () -> String
    ) throws(CommandFailure) {
        guard !allows(value.type) else { return }
        guard self != .hint else {
            throw CommandFailure(.failedToParse, "Hint must be a string or an object")
        }
        let types = types
        let expected =
            types.count == 1 ? "type '\(types[0])'" : "types '[\(types.joined(separator: ", "))]'"
        throw CommandFailure(
            .typeMismatch,
            "BSON field '\(name())' is the wrong type '\(value.type.alias)', expected "
                + expected)
    }
}
