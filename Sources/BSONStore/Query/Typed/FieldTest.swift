internal import BSONCore

/// A test of the value at a path.
enum FieldTest: Sendable {
    /// A comparison with a value.
    case compare(FieldComparison, TypedValue)
    /// Whether the value is one of several.
    case oneOf([TypedValue])
    /// Whether the document has the field.
    case exists
    /// Whether the value has a BSON type.
    case type(BSONType)
    /// Whether the value, divided by the first number, leaves the second.
    case remainder(Int64, Int64)
    /// Whether the text matches a regular expression.
    case pattern(String, options: String)
    /// Whether the array has a number of elements.
    case size(Int)
    /// Whether the array has an element that equals a value.
    case contains(TypedValue)
    /// Whether the array has elements that equal each of several values.
    case containsAll([TypedValue])
    /// Whether the array has an element that fulfils a condition.
    case element(TypedFilter.Node)
}
