/// The fields of a stage's argument that the server parses by a schema, with its errors.
struct StageArguments {
    private let stage: String
    private let document: BSONDocument

    /// Reads the argument; a field that is not in the schema is an error.
    ///
    /// - Throws: 40415 for an unknown field, 40413 for one that occurs twice.
    init(
        _ stage: String, _ document: BSONDocument, known: Set<String>
    ) throws(StoreError) {
        self.stage = stage
        self.document = document
        var seen: Set<Name> = []
        for key in document.keys {
            guard known.contains(key) else {
                throw StoreError(
                    .idlUnknownField, "BSON field '\(stage).\(key)' is an unknown field.")
            }
            guard seen.insert(key).inserted else {
                throw StoreError(
                    .idlDuplicateField, "BSON field '\(stage).\(key)' is a duplicate field")
            }
        }
    }

    /// The value of a field; null counts as missing.
    subscript(key: String) -> BSONValue? {
        guard let value = document[key], !value.isNullish else { return nil }
        return value
    }

    /// Returns the value of a required field.
    ///
    /// - Throws: 40414.
    func required(_ key: String) throws(StoreError) -> BSONValue {
        guard let value = document[key] else { throw missing(key) }
        return value
    }

    /// Returns the error for a required field that is missing (40414).
    func missing(_ key: String) -> StoreError {
        StoreError(
            .idlFailedToParse, "BSON field '\(stage).\(key)' is missing but a required field")
    }

    /// Returns the text of a field; `nil` if omitted.
    func string(_ key: String) throws(StoreError) -> String? {
        guard let value = self[key] else { return nil }
        guard case .string(let text) = value else { throw wrongType(key, value, "string") }
        return text
    }

    /// Returns the document of a field; `nil` if omitted.
    func document(_ key: String) throws(StoreError) -> BSONDocument? {
        guard let value = self[key] else { return nil }
        guard case .document(let document) = value else { throw wrongType(key, value, "object") }
        return document
    }

    /// Returns the array of a field; `nil` if omitted.
    func array(_ key: String) throws(StoreError) -> BSONArray? {
        guard let value = self[key] else { return nil }
        guard case .array(let array) = value else { throw wrongType(key, value, "array") }
        return array
    }

    /// Returns the error for a value of another type.
    func wrongType(_ key: String, _ value: BSONValue, _ expected: String) -> StoreError {
        StoreError(
            .typeMismatch,
            "BSON field '\(stage).\(key)' is the wrong type '\(value.type.alias)', expected type "
                + "'\(expected)'")
    }
}
