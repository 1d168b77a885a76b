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
    /// - Throws: 14 (TypeMismatch).
    ///
    /// Source: the server's `idl_parser.cpp`.
    func check(_ value: BSONValue, named name: String) throws(CommandFailure) {
        switch value.type {
        case .null, .undefined: return
        default: break
        }
        let types = types
        guard !types.isEmpty, !types.contains(value.type.alias) else { return }
        let expected =
            types.count == 1 ? "type '\(types[0])'" : "types '[\(types.joined(separator: ", "))]'"
        throw CommandFailure(
            .typeMismatch,
            "BSON field '\(name)' is the wrong type '\(value.type.alias)', expected "
                + expected)
    }
}
