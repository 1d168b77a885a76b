extension TypedDocument {
    /// Returns the value of a field that a document must have.
    ///
    /// The initializers that `@Document` writes call it: the property's type chooses that of the
    /// value.
    ///
    /// - Throws: `DecodingError` if the field is missing or has another type.
    public static func decodeField<Key: CodingKey, Value: Decodable>(
        _ key: Key, in container: KeyedDecodingContainer<Key>
    ) throws -> Value {
        try container.decode(Value.self, forKey: key)
    }

    /// Returns the value of a field, or nil if it is missing or null.
    ///
    /// - Throws: `DecodingError` if the field has another type.
    public static func decodeFieldIfPresent<Key: CodingKey, Value: Decodable>(
        _ key: Key, in container: KeyedDecodingContainer<Key>
    ) throws -> Value? {
        try container.decodeIfPresent(Value.self, forKey: key)
    }
}
