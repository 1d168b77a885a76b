internal import BSONStore

/// Says which arguments a command takes.
struct CommandSchema: Sendable {
    /// The arguments with what they take; `nil` lets everything pass.
    var fields: [String: FieldKind]?
    /// Those that must be there.
    var required: [String]

    /// Checks a command, or a part of one.
    ///
    /// - Parameters:
    ///   - name: how errors name the document.
    ///   - given: fields that came beside the document.
    /// - Throws: 40415 for an unknown argument, 14 for a wrong type, 40413 for an argument that is
    ///   there twice, 40414 for a missing one.
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
            // All arguments are ASCII; another text may only look alike.
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
