internal import BSONStore

// The arguments of a command whose types the schema has checked.
extension CommandCall {
    /// An argument; null stands for a missing one.
    subscript(field: String) -> BSONValue? {
        guard let value = body[field] else { return nil }
        switch value.type {
        case .null, .undefined: return nil
        default: return value
        }
    }

    /// A boolean, or a number that stands for one; false where it is missing.
    func flag(_ field: String) -> Bool { self[field]?.isTrue ?? false }

    func document(_ field: String) -> BSONDocument? { self[field]?.documentValue }

    func array(_ field: String) -> BSONArray? { self[field]?.arrayValue }

    func string(_ field: String) -> String? { self[field]?.stringValue }

    /// A whole number; fractions are cut off, what is out of range is the nearest one.
    func number(_ field: String) -> Int? { self[field]?.wholeNumber }

    /// A whole number that is not negative.
    ///
    /// - Throws: 51024 (Location51024), as the server's parser says it.
    func count(_ field: String, atLeast least: Int = 0) throws(CommandFailure) -> Int? {
        guard let value = number(field) else { return nil }
        guard value >= least else {
            throw CommandFailure(
                51024,
                "BSON field '\(field)' value must be >= \(least), actual value '\(value)'")
        }
        return value
    }

    /// How many documents a query may give; 0 for all.
    ///
    /// - Throws: 51024 (Location51024) for a negative number.
    func limit() throws(CommandFailure) -> Int { try count("limit") ?? 0 }

    /// The documents of an array, whether they came beside the command or in it.
    ///
    /// - Throws: 14 for what is no document, 40414 when there is neither.
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

    /// The collection that the command is for.
    ///
    /// - Throws: 73 (InvalidNamespace) for what is no name.
    func collection() throws(CommandFailure) -> Namespace {
        guard let name = target.stringValue else {
            throw CommandFailure(
                .invalidNamespace,
                "collection name has invalid type \(target.type.alias)")
        }
        return try namespace(name)
    }

    /// A collection of the command's database, its names checked.
    ///
    /// - Throws: 73 (InvalidNamespace).
    func namespace(_ name: String) throws(CommandFailure) -> Namespace {
        let namespace = Namespace(database, name)
        guard !name.isEmpty, !name.hasPrefix("."), !name.utf8.contains(0) else {
            throw CommandFailure(
                .invalidNamespace, "Invalid namespace specified '\(namespace)'")
        }
        return namespace
    }

    /// The collation, `nil` for plain comparison.
    func collation() throws -> Collation? { try Self.collation(self["collation"]) }

    /// The collation that a value is; an empty document stands for none.
    static func collation(_ value: BSONValue?) throws -> Collation? {
        guard let document = value?.documentValue, !document.isEmpty else { return nil }
        return try Collation(document)
    }

    /// Whether the collection's own collation holds: where none is given.
    static func inheritsCollation(_ value: BSONValue?) -> Bool {
        value?.documentValue?["locale"]?.stringValue != "simple"
    }

    /// The filter that a part of a command is, under the part's collation.
    static func filter(
        _ query: BSONDocument?, variables: BSONDocument?, collation: BSONValue?
    ) throws -> Filter {
        let collates = try self.collation(collation)
        do {
            return try Filter(
                query ?? [:], variables: variables, collation: collates, now: .now,
                inheritsCollation: inheritsCollation(collation))
        } catch {
            throw CommandFailure.framed(error, of: .optimization, "Failed to optimize expression")
        }
    }

    /// The index that the command asks for.
    func hint() throws -> IndexHint? {
        try Self.hint(self["hint"])
    }

    static func hint(_ value: BSONValue?) throws -> IndexHint? {
        guard let value else { return nil }
        if let document = value.documentValue, document.isEmpty { return nil }
        return try IndexHint(value)
    }
}

extension BSONValue {
    /// Whether a command takes the value for yes.
    var isTrue: Bool {
        switch self {
        case .bool(let value): value
        case .int32(let value): value != 0
        case .int64(let value): value != 0
        case .double(let value): value != 0
        case .decimal128(let value): value.kind != .finite || value.coefficient != 0
        case .null, .undefined: false
        default: true
        }
    }

    /// A number without its fraction, the nearest one where it is out of range.
    var wholeNumber: Int? {
        switch self {
        case .int32(let value): Int(value)
        case .int64(let value): Int(value)
        case .double(let value): Self.whole(value)
        case .decimal128(let value):
            // A double loses its fraction, a decimal is rounded to the nearest, halves to even.
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
