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
    /// Fields that hold a pipeline, whose stages are specifications, or data.
    private static let updates: Set<String> = ["u", "update", "updateMods"]

    private static let dataNames = NameTable(data)
    private static let shallowNames = NameTable(shallow)
    private static let updateNames = NameTable(updates)

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
                let isChecked = document.withCursor { isUnique(&$0) }
                if !isChecked { try check(document) { "\(name).\(sequence.field)" } }
            }
        }
        // The first field is the command's name; only `explain` reads its value as a command.
        let isChecked = given.isEmpty && body.withCursor { isUnique(&$0) }
        if !isChecked { try check(body, given: given) { name } }
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
            case .array(let array)
            where updates.contains(key) || !data.contains(key):
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

    /// Whether a document, and those in it that count, certainly have no field twice, by their bytes:
    /// the usual case of statements, of which a command may have thousands.
    private static func isUnique(_ cursor: inout BSONCursor) -> Bool {
        withUnsafeTemporaryAllocation(of: UnsafeRawBufferPointer.self, capacity: comparedMax) {
            names in
            var count = 0
            while let element = cursor.next() {
                guard count < comparedMax, isNew(element.key, names[..<count]) else { return false }
                names.initializeElement(at: count, to: element.key)
                count += 1
                guard areUnique(in: element) else { return false }
            }
            return true
        }
    }

    private static func isNew(
        _ key: UnsafeRawBufferPointer,
        _ names: Slice<UnsafeMutableBufferPointer<UnsafeRawBufferPointer>>
    ) -> Bool {
        !names.contains { $0.count == key.count && BSONCursor.isEqual($0, key) }
    }

    /// Whether what a field holds certainly has no field twice, where that counts.
    private static func areUnique(in element: BSONRawElement) -> Bool {
        switch element.value.type {
        case .document:
            // Of a document whose names alone count, the slower check tells more.
            guard shallowNames.index(of: element.key) == nil else { return false }
            guard dataNames.index(of: element.key) == nil else { return true }
            var inner = BSONCursor(element.value)
            return isUnique(&inner)
        case .array:
            guard
                updateNames.index(of: element.key) != nil || dataNames.index(of: element.key) == nil
            else { return true }
            return areUnique(in: BSONCursor(element.value))
        default: return true
        }
    }

    /// Whether the documents in an array certainly have no field twice.
    private static func areUnique(in array: BSONCursor) -> Bool {
        var cursor = array
        while let element = cursor.next() {
            switch element.value.type {
            case .document:
                var inner = BSONCursor(element.value)
                guard isUnique(&inner) else { return false }
            case .array: guard areUnique(in: BSONCursor(element.value)) else { return false }
            default: break
            }
        }
        return true
    }

    private static func doubled(_ path: String) -> CommandFailure {
        CommandFailure(40413, "BSON field '\(path)' is a duplicate field")
    }
}
