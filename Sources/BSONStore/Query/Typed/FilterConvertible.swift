/// A condition: a ``TypedFilter``, or a boolean ``Field``, which means that the field is true.
///
/// ```swift
/// todos.find { $0.isDone && !$0.isHidden }  // {"isDone": true, "isHidden": {"$ne": true}}
/// ```
public protocol FilterConvertible {
    /// The condition.
    var filter: TypedFilter { get }
}

extension Field: FilterConvertible where Value: BooleanFieldValue {
    /// The condition that the field is true.
    public var filter: TypedFilter {
        TypedFilter(.field(path, .compare(.equal, TypedValue(true))))
    }
}

extension FilterConvertible {
    /// The condition that both conditions hold.
    public static func && (left: Self, right: some FilterConvertible) -> TypedFilter {
        TypedFilter(.all([left.filter.node, right.filter.node]))
    }

    /// The condition that at least one of the conditions holds.
    public static func || (left: Self, right: some FilterConvertible) -> TypedFilter {
        TypedFilter(.any([left.filter.node, right.filter.node]))
    }

    /// The condition itself where a value of the app is true, else the condition that no document
    /// fulfils.
    public static func && (left: Bool, right: Self) -> TypedFilter {
        left ? right.filter : TypedFilter.none
    }

    /// The condition itself where a value of the app is true, else the condition that no document
    /// fulfils.
    public static func && (left: Self, right: Bool) -> TypedFilter {
        right ? left.filter : TypedFilter.none
    }

    /// The condition that every document fulfils where a value of the app is true, else the
    /// condition itself.
    public static func || (left: Bool, right: Self) -> TypedFilter {
        left ? .all : right.filter
    }

    /// The condition that every document fulfils where a value of the app is true, else the
    /// condition itself.
    public static func || (left: Self, right: Bool) -> TypedFilter {
        right ? .all : left.filter
    }

    /// The condition that the condition does not hold, as for a document without the field.
    public static prefix func ! (condition: Self) -> TypedFilter {
        TypedFilter(.not(condition.filter.node))
    }
}
