/// A builder that combines the conditions of a closure; all of them must hold.
///
/// ```swift
/// items.find {
///     $0.complexity <= 4
///     if let owner { $0.ownerID == owner }
/// }
/// ```
@resultBuilder
public enum TypedFilterBuilder {
    /// Accepts a condition.
    public static func buildExpression(_ condition: TypedFilter) -> TypedFilter { condition }

    /// Accepts a boolean field, which means that the field is true.
    public static func buildExpression<Value: BooleanFieldValue & Codable & Sendable>(
        _ field: Field<Value>
    ) -> TypedFilter { field.filter }

    /// Combines the conditions of a closure.
    public static func buildBlock(_ conditions: TypedFilter...) -> TypedFilter {
        conditions.count == 1 ? conditions[0] : TypedFilter(.all(conditions.map(\.node)))
    }

    /// Accepts an `if` without `else`; it demands nothing where it is not taken.
    public static func buildOptional(_ condition: TypedFilter?) -> TypedFilter { condition ?? .all }

    /// Accepts the first branch.
    public static func buildEither(first condition: TypedFilter) -> TypedFilter { condition }

    /// Accepts the second branch.
    public static func buildEither(second condition: TypedFilter) -> TypedFilter { condition }

    /// Accepts a loop.
    public static func buildArray(_ conditions: [TypedFilter]) -> TypedFilter {
        TypedFilter(.all(conditions.map(\.node)))
    }

    /// Demands nothing: the default of closures that may be omitted.
    public static func everything<Fields>(_ fields: Fields) -> TypedFilter { .all }
}
