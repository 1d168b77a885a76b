internal import BSONStore

/// Says which values an argument of a command takes.
enum FieldKind: Sendable, Hashable {
    case any
    case array
    case bool
    /// A boolean, or a number that stands for one.
    case flag
    case document
    case number
    case string
    /// An index by its name or its keys.
    case hint
    case timestamp

    /// The types as MongoDB names them in errors; none for any.
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

    /// Checks a value; null and undefined stand for a missing one.
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
