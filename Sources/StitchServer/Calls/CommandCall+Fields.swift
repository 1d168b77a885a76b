internal import BSONStore

// Access to the arguments, whose types the schema has checked.
extension CommandCall {
    private static let secretFields = ["pwd", "old", "token"]

    /// The body for an error message, without passwords and tokens.
    var bodyWithoutSecrets: BSONDocument {
        var shown = body
        for field in Self.secretFields where body[field] != nil { shown.set(field, to: "xxx") }
        return shown
    }

    /// Returns an argument; `nil` when it is missing or null.
    subscript(field: String) -> BSONValue? {
        guard let value = body[field] else { return nil }
        switch value.type {
        case .null, .undefined: return nil
        default: return value
        }
    }

    /// Returns a Boolean, or a number read as one; false when missing.
    func flag(_ field: String) -> Bool { self[field]?.isTrue ?? false }

    func document(_ field: String) -> BSONDocument? { self[field]?.documentValue }

    func array(_ field: String) -> BSONArray? { self[field]?.arrayValue }

    func string(_ field: String) -> String? { self[field]?.stringValue }

    /// Returns a whole number: fractions are cut off, a value out of range is clamped.
    func number(_ field: String) -> Int? { self[field]?.wholeNumber }

    /// Returns a whole number that is not negative.
    ///
    /// - Throws: 2 (BadValue) with the text of MongoDB's parser.
    func count(_ field: String, atLeast least: Int = 0) throws(CommandFailure) -> Int? {
        guard let value = number(field) else { return nil }
        guard value >= least else {
            throw CommandFailure(
                .badValue,
                "BSON field '\(field)' value must be >= \(least), actual value '\(value)'")
        }
        return value
    }

    /// Returns the maximum number of documents in the result; 0 for no limit.
    ///
    /// - Throws: 2 (BadValue) for a negative number.
    func limit() throws(CommandFailure) -> Int { try count("limit") ?? 0 }

    /// Returns the documents of an array, from the body or from a document sequence.
    ///
    /// - Throws: 14 for an element that is not a document, 40414 when the argument is missing.
    func documents(_ field: String) throws(CommandFailure) -> [BSONDocument] {
        if let given = sequences[field] { return given }
        guard let array = array(field) else {
            throw CommandFailure(
                40414, "BSON field '\(name).\(field)' is missing but a required field")
        }
        var documents: [BSONDocument] = []
        documents.reserveCapacity(array.underestimatedCount)
        for (index, value) in array.enumerated() {
            guard case .document(let document) = value else {
                throw CommandFailure(
                    .typeMismatch,
                    "BSON field '\(name).\(field).\(index)' is the wrong type "
                        + "'\(value.type.alias)', expected type 'object'")
            }
            documents.append(document)
        }
        return documents
    }

    /// Returns the collection that the command names.
    ///
    /// - Throws: 73 (InvalidNamespace) for an invalid name.
    func collection() throws(CommandFailure) -> Namespace {
        guard let name = target.stringValue else {
            throw CommandFailure(
                .invalidNamespace,
                "collection name has invalid type \(target.type.alias)")
        }
        return try namespace(name)
    }

    /// Returns a collection of the command's database and checks its name.
    ///
    /// - Throws: 73 (InvalidNamespace).
    func namespace(_ name: String) throws(CommandFailure) -> Namespace {
        let namespace = Namespace(database, name)
        guard !name.isEmpty, !name.hasBytePrefix("."), !name.utf8.contains(0) else {
            throw CommandFailure(
                .invalidNamespace, "Invalid namespace specified '\(namespace)'")
        }
        return namespace
    }

    /// Returns the collation; `nil` for the collection's own.
    func collation() throws -> Collation? { try Self.collation(self["collation"]) }

    /// Reads a collation; `nil` for an empty document.
    static func collation(_ value: BSONValue?) throws -> Collation? {
        guard let document = value?.documentValue, !document.isEmpty else { return nil }
        return try Collation(document)
    }

    /// Reads a filter with the collation of its statement.
    static func filter(
        _ query: BSONDocument?, variables: BSONDocument?, collation: BSONValue?,
        hasNow: Bool = true
    ) throws -> Filter {
        let collates = try self.collation(collation)
        do {
            return try Filter(
                query ?? [:], variables: variables, collation: collates,
                now: hasNow ? CommandTime.now : nil)
        } catch {
            throw CommandFailure.framed(error, of: .optimization, "Failed to optimize expression")
        }
    }

    /// Returns the index that `hint` names.
    func hint() throws -> IndexHint? {
        try Self.hint(self["hint"])
    }

    static func hint(_ value: BSONValue?) throws -> IndexHint? {
        guard let value else { return nil }
        if let document = value.documentValue, document.isEmpty { return nil }
        return try IndexHint(value)
    }

    /// Checks that the hinted index exists.
    ///
    /// - Throws: 2 (BadValue) for a missing index, 9 for an invalid hint.
    static func checkHint(
        _ value: BSONValue?, _ namespace: Namespace, in transaction: ReadTransaction
    ) throws {
        guard let hint = try hint(value) else { return }
        // The indexes of a view are those of its collection.
        var namespace = namespace
        var depth = 0
        while let view = try transaction.options(namespace)?.view, depth < 20 {
            namespace = Namespace(namespace.database, view.on)
            depth += 1
        }
        guard try transaction.options(namespace) != nil else { return }
        let isThere = try transaction.indexes(namespace).contains { hint.isFor($0) }
        guard !hint.isNatural, !isThere else { return }
        throw CommandFailure(
            .badValue,
            "error processing query: planner returned error :: caused by :: hint provided does "
                + "not correspond to an existing index")
    }
}

extension BSONValue {
    /// The number without its fraction, clamped to the range of `Int`.
    var wholeNumber: Int? {
        switch self {
        case .int32(let value): Int(value)
        case .int64(let value): Int(value)
        case .double(let value): Self.whole(value)
        case .decimal128(let value):
            // A double loses its fraction; a decimal is rounded to the nearest, halves to even.
            value.int64Value.map { Int($0) }
                ?? Self.whole(value.doubleValue.rounded(.toNearestOrEven))
        default: nil
        }
    }

    private static func whole(_ value: Double) -> Int {
        guard !value.isNaN else { return 0 }
        return Int(exactly: value.rounded(.towardZero)) ?? (value < 0 ? .min : .max)
    }
}
