public import BSONCore

extension Field: FilterOperand {
    /// Returns the condition that a comparison with a value holds.
    public func compared(
        _ comparison: FieldComparison, to value: some Codable & Sendable
    ) -> TypedFilter { test(.compare(comparison, TypedValue(value))) }
}

extension Field {
    // An array, since some ranges are sequences, too, and `4...` even an endless one.
    /// The condition that the field has one of several values: `{name: {$in: [...]}}`.
    public func `in`(_ values: [Value]) -> TypedFilter {
        test(.oneOf(values.map { TypedValue($0) }))
    }

    /// The condition that the document has the field, be it null: `{name: {$exists: true}}`.
    public var exists: TypedFilter { test(.exists) }

    /// The condition that the field's value has a BSON type: `{name: {$type: "string"}}`.
    ///
    /// It finds documents that another edition of the type wrote.
    public func hasType(_ type: BSONType) -> TypedFilter { test(.type(type)) }

    func test(_ test: FieldTest) -> TypedFilter { TypedFilter(.field(path, test)) }
}

extension Field where Value: FixedWidthInteger {
    /// The condition that the field is a multiple of a number: `{name: {$mod: [3, 0]}}`.
    ///
    /// - Parameter divisor: any number but 0.
    public func isMultiple(of divisor: Int32) -> TypedFilter {
        precondition(divisor != 0, "A divisor is not 0")
        return test(.remainder(Int64(divisor), 0))
    }
}
