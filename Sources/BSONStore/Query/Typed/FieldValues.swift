public import BSONCore

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A type that is encoded as an array: `Array`, `Set`, and optionals of them.
///
/// Conform your own type to it if it encodes as an array.
public protocol ListFieldValue {
    /// The type of the elements.
    associatedtype Element
}

extension Array: ListFieldValue {}
extension Set: ListFieldValue {}
extension Optional: ListFieldValue where Wrapped: ListFieldValue {
    /// The type of the elements.
    public typealias Element = Wrapped.Element
}

/// An optional type.
public protocol OptionalFieldValue {
    /// The type of values that are not `nil`.
    associatedtype Wrapped
}

extension Optional: OptionalFieldValue {}

/// A type that is encoded as a string: `String` and `String?`.
public protocol TextFieldValue {}

extension String: TextFieldValue {}
extension Optional: TextFieldValue where Wrapped: TextFieldValue {}

/// A type that is encoded as a boolean: `Bool` and `Bool?`.
public protocol BooleanFieldValue {}

extension Bool: BooleanFieldValue {}
extension Optional: BooleanFieldValue where Wrapped: BooleanFieldValue {}

/// A type that the current time can be stored as: `Date`, `BSONDatetime`, `BSONTimestamp`, and
/// optionals of them.
public protocol TimeFieldValue {
    /// The operand of `$currentDate` that yields a value of the type.
    static var currentDateOperand: BSONValue { get }
}

extension Date: TimeFieldValue {
    /// `true`, for a datetime.
    public static var currentDateOperand: BSONValue { true }
}

extension BSONDatetime: TimeFieldValue {
    /// `true`, for a datetime.
    public static var currentDateOperand: BSONValue { true }
}

extension BSONTimestamp: TimeFieldValue {
    /// `{$type: "timestamp"}`.
    public static var currentDateOperand: BSONValue { ["$type": "timestamp"] }
}

extension Optional: TimeFieldValue where Wrapped: TimeFieldValue {
    /// The operand for the wrapped type.
    public static var currentDateOperand: BSONValue { Wrapped.currentDateOperand }
}

/// A range of values for ``FilterOperand``: `1...4`, `1..<5`, `1...`, `...4`, `..<5`.
public protocol FieldValueRange<Bound> {
    /// The type of the values.
    associatedtype Bound: Comparable
    /// The smallest value in the range; `nil` if the range has no lower bound.
    var smallest: Bound? { get }
    /// The upper bound, and whether the range contains it; `nil` if the range has none.
    var greatest: (bound: Bound, isIncluded: Bool)? { get }
}

extension ClosedRange: FieldValueRange {
    /// The lower bound.
    public var smallest: Bound? { lowerBound }
    /// The upper bound, included.
    public var greatest: (bound: Bound, isIncluded: Bool)? { (upperBound, true) }
}

extension Range: FieldValueRange {
    /// The lower bound.
    public var smallest: Bound? { lowerBound }
    /// The upper bound, excluded.
    public var greatest: (bound: Bound, isIncluded: Bool)? { (upperBound, false) }
}

extension PartialRangeFrom: FieldValueRange {
    /// The lower bound.
    public var smallest: Bound? { lowerBound }
    /// No bound.
    public var greatest: (bound: Bound, isIncluded: Bool)? { nil }
}

extension PartialRangeThrough: FieldValueRange {
    /// No bound.
    public var smallest: Bound? { nil }
    /// The upper bound, included.
    public var greatest: (bound: Bound, isIncluded: Bool)? { (upperBound, true) }
}

extension PartialRangeUpTo: FieldValueRange {
    /// No bound.
    public var smallest: Bound? { nil }
    /// The upper bound, excluded.
    public var greatest: (bound: Bound, isIncluded: Bool)? { (upperBound, false) }
}
