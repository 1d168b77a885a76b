internal import BSONCore

/// A change of the value at a path.
enum FieldChange: Sendable {
    /// An operator with a value: `$set`, `$setOnInsert`, `$inc`, `$mul`, `$min`, `$max`.
    case value(String, TypedValue)
    /// An operator with a constant operand: `$unset`, `$pop`, `$currentDate`.
    case constant(String, BSONValue)
    /// Sets an optional to `nil` in the form that the encoder has for it.
    case setNil
    /// Sets the current time.
    case currentDate(BSONValue)
    /// Adds elements by `$push` or `$addToSet`; the modifiers are those of `$push`.
    case add(String, [TypedValue], modifiers: BSONDocument)
    /// Removes elements that equal one of several values.
    case pull([TypedValue])
    /// Removes elements that fulfil a condition.
    case pullWhere(TypedFilter.Node)
}
