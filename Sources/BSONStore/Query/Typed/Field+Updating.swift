internal import BSONCore

extension Field {
    /// The update that sets the field: `{$set: {name: value}}`.
    @_disfavoredOverload
    public func set(_ value: Value) -> TypedUpdate {
        TypedUpdate(path, .value("$set", TypedValue(value)))
    }

    // Chosen before the form for all values, which would store null.
    /// The update that sets the optional field; `nil` removes it, as the encoder omits it.
    public func set<Present: Codable & Sendable>(
        _ value: Present?
    ) -> TypedUpdate where Value == Present? {
        guard let value else { return TypedUpdate(path, .setNil) }
        return TypedUpdate(path, .value("$set", TypedValue(value)))
    }

    /// The update that sets the field only when an upsert inserts the document:
    /// `{$setOnInsert: {name: value}}`.
    public func setOnInsert(_ value: Value) -> TypedUpdate {
        TypedUpdate(path, .value("$setOnInsert", TypedValue(value)))
    }

    /// The update that removes the field: `{$unset: {name: ""}}`.
    ///
    /// A document without the field decodes only if its property is optional or has a default.
    public func unset() -> TypedUpdate { TypedUpdate(path, .constant("$unset", "")) }
}

// MARK: - Numbers

extension Field where Value: Numeric {
    /// The update that adds to the field: `{$inc: {name: 1}}`; a missing field counts as 0.
    public func increment(by amount: Value = 1) -> TypedUpdate {
        TypedUpdate(path, .value("$inc", TypedValue(amount)))
    }

    /// The update that multiplies the field: `{$mul: {name: 2}}`; a missing field becomes 0.
    public func multiply(by factor: Value) -> TypedUpdate {
        TypedUpdate(path, .value("$mul", TypedValue(factor)))
    }
}

extension Field {
    /// The update that adds to the optional field; a missing field counts as 0, and null is an
    /// error.
    public func increment<Present: Numeric & Codable & Sendable>(
        by amount: Present = 1
    ) -> TypedUpdate where Value == Present? {
        TypedUpdate(path, .value("$inc", TypedValue(amount)))
    }

    /// The update that multiplies the optional field; a missing field becomes 0, and null is an
    /// error.
    public func multiply<Present: Numeric & Codable & Sendable>(
        by factor: Present
    ) -> TypedUpdate where Value == Present? {
        TypedUpdate(path, .value("$mul", TypedValue(factor)))
    }
}

// MARK: - Order

extension Field where Value: Comparable {
    /// The update that sets the field if the value is less: `{$min: {name: value}}`.
    public func min(_ value: Value) -> TypedUpdate {
        TypedUpdate(path, .value("$min", TypedValue(value)))
    }

    /// The update that sets the field if the value is greater: `{$max: {name: value}}`.
    public func max(_ value: Value) -> TypedUpdate {
        TypedUpdate(path, .value("$max", TypedValue(value)))
    }
}

extension Field {
    /// The update that sets the optional field if it is missing or the value is less.
    public func min<Present: Comparable & Codable & Sendable>(
        _ value: Present
    ) -> TypedUpdate where Value == Present? {
        TypedUpdate(path, .value("$min", TypedValue(value)))
    }

    /// The update that sets the optional field if it is missing or the value is greater.
    public func max<Present: Comparable & Codable & Sendable>(
        _ value: Present
    ) -> TypedUpdate where Value == Present? {
        TypedUpdate(path, .value("$max", TypedValue(value)))
    }
}

// MARK: - Time

extension Field where Value: TimeFieldValue {
    /// The update that sets the field to the time of the write: `{$currentDate: {name: true}}`.
    ///
    /// `TypedUpdate/bson(with:)` throws `badValue` if the encoder does not write dates as BSON
    /// datetimes.
    public func currentDate() -> TypedUpdate {
        TypedUpdate(path, .currentDate(Value.currentDateOperand))
    }
}

// MARK: - Arrays

extension Field where Value: ListFieldValue, Value.Element: Codable & Sendable {
    /// The update that appends an element: `{$push: {tags: "home"}}`.
    public func push(_ element: Value.Element) -> TypedUpdate {
        TypedUpdate(path, .add("$push", [TypedValue(element)], modifiers: [:]))
    }

    /// The update that inserts elements: `{$push: {tags: {$each: [...]}}}`.
    ///
    /// - Parameters:
    ///   - position: the position of the first of them, from 0; at the end by default.
    ///   - keptLast: the number of elements to keep, counted from the end; all by default.
    public func push(
        contentsOf elements: some Sequence<Value.Element>, at position: Int? = nil,
        keepingLast keptLast: Int? = nil
    ) -> TypedUpdate {
        var modifiers: BSONDocument = [:]
        if let position { modifiers.append("$position", .int64(Int64(position))) }
        if let keptLast { modifiers.append("$slice", .int64(Int64(-keptLast))) }
        return TypedUpdate(
            path, .add("$push", elements.map { TypedValue($0) }, modifiers: modifiers))
    }

    /// The update that appends an element unless the array has an equal one:
    /// `{$addToSet: {tags: "home"}}`.
    public func addToSet(_ element: Value.Element) -> TypedUpdate {
        TypedUpdate(path, .add("$addToSet", [TypedValue(element)], modifiers: [:]))
    }

    /// The update that appends those elements that the array does not have.
    public func addToSet(contentsOf elements: some Sequence<Value.Element>) -> TypedUpdate {
        TypedUpdate(path, .add("$addToSet", elements.map { TypedValue($0) }, modifiers: [:]))
    }

    /// The update that removes all elements equal to a value: `{$pull: {tags: "home"}}`.
    public func pull(_ element: Value.Element) -> TypedUpdate {
        TypedUpdate(path, .pull([TypedValue(element)]))
    }

    /// The update that removes all elements equal to one of several: `{$pullAll: {tags: [...]}}`.
    public func pull(contentsOf elements: some Sequence<Value.Element>) -> TypedUpdate {
        TypedUpdate(path, .pull(elements.map { TypedValue($0) }))
    }

    /// The update that removes all elements that fulfil a condition: `{$pull: {items: {…}}}`.
    ///
    /// ```swift
    /// orders.find().update { $0.items.pull { $0.count < 1 } }
    /// ```
    public func pull(
        @TypedFilterBuilder where condition: (Field<Value.Element>) throws -> TypedFilter
    ) rethrows -> TypedUpdate {
        let element = Field<Value.Element>(path: .element(depth: path.depth + 1))
        return TypedUpdate(path, .pullWhere(try condition(element).node))
    }

    /// The update that removes the first element: `{$pop: {tags: -1}}`.
    public func popFirst() -> TypedUpdate { TypedUpdate(path, .constant("$pop", -1)) }

    /// The update that removes the last element: `{$pop: {tags: 1}}`.
    public func popLast() -> TypedUpdate { TypedUpdate(path, .constant("$pop", 1)) }

    /// Every element, for updates: `$0.items.allElements.count.set(0)`, a path with `$[]`.
    public var allElements: Field<Value.Element> {
        Field<Value.Element>(path: path.appending(.position("$[]")))
    }

    /// The first element that fulfilled the filter's condition on the array, for updates: a path
    /// with `$`.
    public var matchedElement: Field<Value.Element> {
        Field<Value.Element>(path: path.appending(.position("$")))
    }
}
