internal import BSONStore

/// The arguments that a command accepts.
struct CommandSchema: Sendable {
    /// The types of the arguments by name; `nil` accepts anything.
    var fields: [String: FieldKind]?
    /// The mandatory arguments.
    var required: [String]

    /// Returns the documents of an array.
    ///
    /// - Throws: 40414 for a null, 14 for another value than an array of documents.
    static func documents(
        _ value: BSONValue, named name: String
    ) throws(CommandFailure) -> [BSONDocument] {
        guard value.type != .null else {
            throw CommandFailure(40414, "BSON field '\(name)' is missing but a required field")
        }
        try FieldKind.array.check(value, named: name)
        var documents: [BSONDocument] = []
        for (index, member) in (value.arrayValue ?? []).enumerated() {
            guard let document = member.documentValue else {
                throw CommandFailure(
                    .typeMismatch,
                    "BSON field '\(name).\(index)' is the wrong type '\(member.type.alias)', "
                        + "expected type 'object'")
            }
            documents.append(document)
        }
        return documents
    }

    /// Checks the fields of a command, or of a nested document.
    ///
    /// - Parameters:
    ///   - name: the document's name in errors.
    ///   - given: the fields that document sequences carry.
    /// - Throws: 40415 for an unknown argument, 14 for a wrong type, 40413 for a duplicate
    ///   argument, 40414 for a missing one.
    func check(
        _ document: BSONDocument, named name: String, given: [String] = [],
        isCommand: Bool = false
    ) throws(CommandFailure) {
        guard let fields else { return }
        var seen = Set(names: given)
        var isName = isCommand
        for (key, value) in document {
            defer { isName = false }
            guard seen.insert(key).inserted else {
                throw CommandFailure(
                    40413, "BSON field '\(name).\(key)' is a duplicate field")
            }
            if isName { continue }
            // Argument names are ASCII; another text may only look like one.
            guard key.utf8.allSatisfy({ $0 < 0x80 }), let kind = fields[key] else {
                if isCommand, CommandCall.generalArguments.contains(key) { continue }
                throw CommandFailure(40415, "BSON field '\(name).\(key)' is an unknown field.")
            }
            try kind.check(value, named: "\(name).\(key)")
        }
        for key in required where !seen.contains(key) {
            throw CommandFailure(
                40414, "BSON field '\(name).\(key)' is missing but a required field")
        }
    }
}
