/// A thing that conditions compare with values: a ``Field``, or the number of an array's elements.
public protocol FilterOperand<Value> {
    /// The type of the values.
    associatedtype Value: Codable & Sendable
    /// Returns the condition that a comparison with a value holds.
    func compared(_ comparison: FieldComparison, to value: some Codable & Sendable) -> TypedFilter
}

// Each operator exists once for all operands and once more for optional ones: every further
// overload of `==` or `<` makes the compiler slower in the whole app.

extension FilterOperand {
    /// The condition that the field has a value: `{name: value}`; `nil` matches a missing field,
    /// too.
    ///
    /// A missing field is not `false`: `!$0.done` finds documents without the field, `$0.done == false`
    /// does not.
    public static func == (operand: Self, value: Value) -> TypedFilter {
        operand.compared(.equal, to: value)
    }

    /// The condition that the field does not have a value: `{name: {$ne: value}}`; it holds for a
    /// missing field, except for `!= nil`.
    public static func != (operand: Self, value: Value) -> TypedFilter {
        operand.compared(.notEqual, to: value)
    }
}

extension FilterOperand where Value: Comparable {
    /// The condition that the field is less than a value: `{name: {$lt: value}}`.
    public static func < (operand: Self, value: Value) -> TypedFilter {
        operand.compared(.less, to: value)
    }

    /// The condition that the field is at most a value: `{name: {$lte: value}}`.
    public static func <= (operand: Self, value: Value) -> TypedFilter {
        operand.compared(.lessOrEqual, to: value)
    }

    /// The condition that the field is greater than a value: `{name: {$gt: value}}`.
    public static func > (operand: Self, value: Value) -> TypedFilter {
        operand.compared(.greater, to: value)
    }

    /// The condition that the field is at least a value: `{name: {$gte: value}}`.
    public static func >= (operand: Self, value: Value) -> TypedFilter {
        operand.compared(.greaterOrEqual, to: value)
    }

    /// The condition that the field is in a range: `{name: {$gte: 1, $lte: 4}}` for `1...4`.
    public func `in`(_ range: some FieldValueRange<Value>) -> TypedFilter { within(range) }
}

extension FilterOperand
where Value: OptionalFieldValue, Value.Wrapped: Comparable & Codable & Sendable {
    /// The condition that the optional field has a value that is less than another.
    public static func < (operand: Self, value: Value.Wrapped) -> TypedFilter {
        operand.compared(.less, to: value)
    }

    /// The condition that the optional field has a value that is at most another.
    public static func <= (operand: Self, value: Value.Wrapped) -> TypedFilter {
        operand.compared(.lessOrEqual, to: value)
    }

    /// The condition that the optional field has a value that is greater than another.
    public static func > (operand: Self, value: Value.Wrapped) -> TypedFilter {
        operand.compared(.greater, to: value)
    }

    /// The condition that the optional field has a value that is at least another.
    public static func >= (operand: Self, value: Value.Wrapped) -> TypedFilter {
        operand.compared(.greaterOrEqual, to: value)
    }

    /// The condition that the optional field has a value in a range.
    public func `in`(_ range: some FieldValueRange<Value.Wrapped>) -> TypedFilter { within(range) }
}

extension FilterOperand {
    private func within<Bound: Comparable & Codable & Sendable>(
        _ range: some FieldValueRange<Bound>
    ) -> TypedFilter {
        var conditions: [TypedFilter] = []
        if let smallest = range.smallest {
            conditions.append(compared(.greaterOrEqual, to: smallest))
        }
        if let greatest = range.greatest {
            conditions.append(
                compared(greatest.isIncluded ? .lessOrEqual : .less, to: greatest.bound))
        }
        return TypedFilter(.all(conditions.map(\.node)))
    }
}
