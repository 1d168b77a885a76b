/// A builder that lists the updates, sort keys or projected fields of a closure.
///
/// ```swift
/// items.updateOne({ $0.id == id }) {
///     $0.done.set(true)
///     if let note { $0.note.set(note) }
/// }
/// ```
@resultBuilder
public enum TypedListBuilder<Element> {
    /// Accepts an element.
    public static func buildExpression(_ element: Element) -> [Element] { [element] }

    /// Combines the elements of a closure.
    public static func buildBlock(_ lists: [Element]...) -> [Element] { lists.flatMap(\.self) }

    /// Accepts an `if` without `else`.
    public static func buildOptional(_ list: [Element]?) -> [Element] { list ?? [] }

    /// Accepts the first branch.
    public static func buildEither(first list: [Element]) -> [Element] { list }

    /// Accepts the second branch.
    public static func buildEither(second list: [Element]) -> [Element] { list }

    /// Accepts a loop.
    public static func buildArray(_ lists: [[Element]]) -> [Element] { lists.flatMap(\.self) }

    /// Lists nothing: the default of closures that may be omitted.
    public static func nothing<Fields>(_ fields: Fields) -> [Element] { [] }
}
