internal import BSONStore

/// The check that specifications have no duplicate fields.
///
/// Two readers could pick different values of a duplicate field, so the server could run something
/// other than what it authorized. Plain data may hold duplicates: documents to insert, filters,
/// values of expressions.
enum DuplicateFieldCheck {
    /// Fields whose documents are data, or are read by a single reader that refuses duplicates
    /// itself or reads one expression.
    private static let data: Set<String> = [
        "filter", "query", "q", "u", "update", "updateMods", "c", "constants", "comment",
        "documents", "document", "arrayFilters", "projection", "fields", "min", "max", "scope",
        "validator", "customData", "partialFilterExpression", "near", "startWith", "default",
        "restrictSearchWithMatch", "groupBy", "partitionBy", "boundaries", "$match",
        "$documents", "$redact", "$replaceWith", "$sort", "$sortByCount", "client", "$client",
        "$audit", "resumeAfter", "startAfter",
    ]
    /// Fields whose documents map names to expressions.
    private static let shallow: Set<String> = [
        "let", "output", "$project", "$set", "$addFields", "$group", "$replaceRoot",
    ]

    /// Checks a command and its document sequences.
    ///
    /// - Parameter sequences: the document sequences, by field.
    /// - Throws: 40413 for a duplicate field.
    static func check(
        _ body: BSONDocument, named name: String,
        _ sequences: [(field: String, documents: [BSONDocument])]
    ) throws(CommandFailure) {
        var given: [String] = []
        for sequence in sequences {
            guard !given.containsBytes(of: sequence.field) else {
                throw doubled("\(name).\(sequence.field)")
            }
            given.append(sequence.field)
            guard !data.contains(sequence.field) else { continue }
            for document in sequence.documents {
                try check(document) { "\(name).\(sequence.field)" }
            }
        }
        // The first field is the command's name; only `explain` reads its value as a command.
        try check(body, given: given) { name }
    }

    /// Checks a document and those in it.
    ///
    /// - Parameters:
    ///   - given: names that the document must not have, either.
    ///   - path: returns the document's path, for the error.
    private static func check(
        _ document: BSONDocument, given: [String] = [], _ path: () -> String
    ) throws(CommandFailure) {
        try checkNames(document, given: given, path)
        for (key, value) in document {
            switch value {
            // An update may be a pipeline, whose stages are specifications.
            case .array(let array)
            where ["u", "update", "updateMods"].contains(key) || !data.contains(key):
                try check(array) { "\(path()).\(key)" }
            case .document(let inner) where shallow.contains(key):
                try checkNames(inner) { "\(path()).\(key)" }
            case .document(let inner) where !data.contains(key):
                try check(inner) { "\(path()).\(key)" }
            default: break
            }
        }
    }

    private static func check(
        _ array: BSONArray, _ path: () -> String
    ) throws(CommandFailure) {
        for (index, value) in array.values.enumerated() {
            switch value {
            case .document(let inner): try check(inner) { "\(path()).\(index)" }
            case .array(let inner): try check(inner) { "\(path()).\(index)" }
            default: break
            }
        }
    }

    /// The number of names up to which comparing each with each is faster than hashing.
    private static let comparedMax = 16

    private static func checkNames(
        _ document: BSONDocument, given: [String] = [], _ path: () -> String
    ) throws(CommandFailure) {
        let names = given + document.keys
        let isFew = names.count <= comparedMax
        var seen: Set<Name> = []
        for (index, name) in names.enumerated() {
            let isNew =
                isFew ? !names[..<index].containsBytes(of: name) : seen.insert(Name(name)).inserted
            guard isNew else { throw doubled("\(path()).\(name)") }
        }
    }

    private static func doubled(_ path: String) -> CommandFailure {
        CommandFailure(40413, "BSON field '\(path)' is a duplicate field")
    }
}
