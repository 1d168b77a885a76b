extension BSONValue {
    /// Encodes any value as ``BSONEncoder`` does: a struct as a document, an array as an array.
    ///
    /// ```swift
    /// let update: BSONDocument = try ["$set": ["address": BSONValue(encoding: address)]]
    /// ```
    ///
    /// - Throws: as ``BSONEncoder/encodeValue(_:)``.
    public init(encoding value: some Encodable) throws {
        self = try BSONEncoder().encodeValue(value)
    }

    /// Returns an int64.
    ///
    /// Literals need no function: `["age": 4]`.
    ///
    /// ```swift
    /// let adults: BSONDocument = ["age": ["$gte": .int(ageMin)]]
    /// ```
    public static func int(_ number: Int) -> BSONValue { .int64(Int64(number)) }

    /// Returns a string: the raw value of an enum.
    ///
    /// An enum that writes its own `encode(to:)` needs ``init(encoding:)``.
    ///
    /// ```swift
    /// enum State: String, Codable { case open, done }
    /// let open: BSONDocument = ["state": .enum(State.open)]
    /// ```
    public static func `enum`<Value: RawRepresentable<String>>(_ value: Value) -> BSONValue {
        .string(value.rawValue)
    }

    /// Returns a whole number: the raw value of an enum.
    ///
    /// It is an int32 for raw values that always fit, else an int64. A raw value beyond an int64
    /// becomes the greatest one; ``BSONEncoder`` throws for it.
    ///
    /// ```swift
    /// enum Priority: Int, Codable { case low = 1, high = 9 }
    /// let urgent: BSONDocument = ["priority": ["$gte": .enum(Priority.high)]]
    /// ```
    public static func `enum`<Value: RawRepresentable>(
        _ value: Value
    ) -> BSONValue where Value.RawValue: FixedWidthInteger {
        let number = value.rawValue
        let fits =
            Int32(exactly: Value.RawValue.min) != nil
            && Int32(exactly: Value.RawValue.max) != nil
        return fits ? .int32(Int32(clamping: number)) : .int64(Int64(clamping: number))
    }
}
