/// A comparison of a field with a value; its raw value is MongoDB's operator.
public enum FieldComparison: String, Sendable, CaseIterable {
    /// Both are equal.
    case equal = "$eq"
    /// They are not equal.
    ///
    /// With a regular expression the filter has `$not` and `$eq`: MongoDB refuses `$ne` with one.
    case notEqual = "$ne"
    /// The field is less.
    case less = "$lt"
    /// The field is less or equal.
    case lessOrEqual = "$lte"
    /// The field is greater.
    case greater = "$gt"
    /// The field is greater or equal.
    case greaterOrEqual = "$gte"
}
