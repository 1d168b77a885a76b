extension Field where Value: ListFieldValue, Value.Element: Codable & Sendable {
    /// The condition that the array has an element equal to a value: `{tags: "home"}`.
    ///
    /// A document is equal only with the same fields in the same order; use
    /// ``contains(where:)`` for a document that may have others.
    public func contains(_ element: Value.Element) -> TypedFilter {
        test(.contains(TypedValue(element)))
    }

    /// The condition that one element fulfils a whole condition: `{items: {$elemMatch: {…}}}`.
    ///
    /// ```swift
    /// orders.find { $0.items.contains { $0.price > 10 && $0.count >= 2 } }
    /// ```
    public func contains(
        @TypedFilterBuilder where condition: (Field<Value.Element>) throws -> TypedFilter
    ) rethrows -> TypedFilter {
        let element = Field<Value.Element>(path: .element(depth: path.depth + 1))
        return test(.element(try condition(element).node))
    }

    /// The condition that the array has each of several elements: `{tags: {$all: [...]}}`.
    ///
    /// Every document fulfils it for no elements.
    public func containsAll(_ elements: some Sequence<Value.Element>) -> TypedFilter {
        let values = elements.map { TypedValue($0) }
        guard !values.isEmpty else { return .all }
        // `$all` does not look into an element that is an array itself.
        guard !path.isElement else {
            return TypedFilter(.all(values.map { .field(path, .contains($0)) }))
        }
        return test(.containsAll(values))
    }

    /// The condition that the array has at least one of several elements: `{tags: {$in: [...]}}`.
    public func containsAny(_ elements: some Sequence<Value.Element>) -> TypedFilter {
        let values = elements.map { TypedValue($0) }
        guard !path.isElement else {
            return TypedFilter(.any(values.map { .field(path, .contains($0)) }))
        }
        return test(.oneOf(values))
    }

    /// The condition that the array is there and empty: `{tags: {$size: 0}}`.
    public var isEmpty: TypedFilter { test(.size(0)) }

    /// The number of elements, for conditions: `$0.tags.count >= 2`.
    public var count: FieldCount { FieldCount(path: path) }
}
