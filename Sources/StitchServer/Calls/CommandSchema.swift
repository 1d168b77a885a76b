internal import BSONStore

/// The arguments that a command accepts.
struct CommandSchema: Sendable {
    /// The types of the arguments by name; `nil` accepts anything.
    let fields: [String: FieldKind]?
    /// The mandatory arguments.
    let required: [String]
    /// The names of ``fields`` in an order of their own, and the types in that order.
    private let names: NameTable
    private let kinds: [FieldKind]
    /// The bits of the mandatory arguments in that order.
    private let requiredBits: UInt64

    init(fields: [String: FieldKind]?, required: [String]) {
        self.fields = fields
        self.required = required
        let ordered = (fields ?? [:]).sorted { $0.key < $1.key }
        names = NameTable(ordered.map(\.key))
        kinds = ordered.map(\.value)
        requiredBits = ordered.indices.filter { required.contains(ordered[$0].key) }
            .reduce(0) { $0 | Self.bit($1) }
    }

    /// The bit of an argument by its place; 0 for the few that have none.
    private static func bit(_ index: Int) -> UInt64 { index < 64 ? 1 << UInt64(index) : 0 }

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
        guard let fields, isCommand || !given.isEmpty || !isMet(by: document) else { return }
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

    /// Whether a document is certainly right, by its bytes: the usual case of statements, of which a
    /// command may have thousands.
    private func isMet(by document: BSONDocument) -> Bool {
        document.withCursor { cursor in
            var seen: UInt64 = 0
            while let element = cursor.next() {
                guard let index = names.index(of: element.key),
                    kinds[index].allows(element.value.type)
                else { return false }
                let bit = Self.bit(index)
                guard bit != 0, seen & bit == 0 else { return false }
                seen |= bit
            }
            return seen & requiredBits == requiredBits
        }
    }
}
