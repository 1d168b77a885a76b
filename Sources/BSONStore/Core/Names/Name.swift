/// A name of something: a field, a variable, an index, a collection, a database or a user.
///
/// Names are equal only if their UTF-8 bytes are. As in MongoDB, "é" as one character and as "e"
/// with a combining accent are two names; as keys of type `String` they would be equal.
package struct Name: Sendable, Hashable, Comparable, ExpressibleByStringLiteral,
    CustomStringConvertible
{
    /// The name as text.
    package let text: String

    /// Creates a name from a text.
    package init(_ text: String) { self.text = text }

    /// Creates a name from a literal.
    package init(stringLiteral text: String) { self.text = text }

    /// The name as text.
    package var description: String { text }

    /// Whether the name is the empty text.
    package var isEmpty: Bool { text.isEmpty }

    /// Whether both names have the same bytes.
    package static func == (left: Name, right: Name) -> Bool {
        left.text.hasSameBytes(as: right.text)
    }

    /// Whether the left name's bytes sort first.
    package static func < (left: Name, right: Name) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }

    /// Hashes the bytes.
    package func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        hasher.combine(0xFF as UInt8)
    }
}

extension Dictionary where Key == Name {
    /// The value for a name.
    package subscript(_ name: String) -> Value? {
        get { self[Name(name)] }
        _modify { yield &self[Name(name)] }
    }

    /// The value for a name, or a default value.
    package subscript(_ name: String, default value: @autoclosure () -> Value) -> Value {
        get { self[Name(name), default: value()] }
        _modify { yield &self[Name(name), default: value()] }
    }

    /// Removes the value for a name.
    @discardableResult
    package mutating func removeValue(forKey name: String) -> Value? {
        removeValue(forKey: Name(name))
    }

    /// Sets the value for a name.
    @discardableResult
    package mutating func updateValue(_ value: Value, forKey name: String) -> Value? {
        updateValue(value, forKey: Name(name))
    }
}

extension Set where Element == Name {
    /// Creates a set of names from texts.
    package init(names texts: some Sequence<String>) { self.init(texts.map { Name($0) }) }

    /// Whether the set contains the name.
    package func contains(_ name: String) -> Bool { contains(Name(name)) }

    /// Adds a name and returns whether it is new.
    @discardableResult
    package mutating func insert(
        _ name: String
    ) -> (inserted: Bool, memberAfterInsert: Name) { insert(Name(name)) }

    /// Removes a name.
    @discardableResult
    package mutating func remove(_ name: String) -> Name? { remove(Name(name)) }
}
