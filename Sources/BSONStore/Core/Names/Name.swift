/// A name of something: a field, a variable, an index, a collection, a database or a user.
///
/// Two names are one only when their UTF-8 bytes are: "é" as one character and as "e" with an
/// accent after it are two names, as in MongoDB. A `String` as key takes them for one.
package struct Name: Sendable, Hashable, Comparable, ExpressibleByStringLiteral,
    CustomStringConvertible
{
    /// The name as text.
    package let text: String

    /// Takes a text as it is.
    package init(_ text: String) { self.text = text }

    /// Takes a literal as it is.
    package init(stringLiteral text: String) { self.text = text }

    /// The name as text.
    package var description: String { text }

    /// Whether the bytes are the same.
    package static func == (left: Name, right: Name) -> Bool {
        left.text.hasSameBytes(as: right.text)
    }

    /// Whether the left name's bytes come first.
    package static func < (left: Name, right: Name) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }

    /// Feeds the bytes.
    package func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        hasher.combine(0xFF as UInt8)
    }
}

extension Dictionary where Key == Name {
    /// The value of a name.
    package subscript(_ name: String) -> Value? {
        get { self[Name(name)] }
        _modify { yield &self[Name(name)] }
    }

    /// The value of a name, or another one where there is none.
    package subscript(_ name: String, default value: @autoclosure () -> Value) -> Value {
        get { self[Name(name), default: value()] }
        _modify { yield &self[Name(name), default: value()] }
    }

    /// Removes the value of a name.
    @discardableResult
    package mutating func removeValue(forKey name: String) -> Value? {
        removeValue(forKey: Name(name))
    }

    /// Sets the value of a name.
    @discardableResult
    package mutating func updateValue(_ value: Value, forKey name: String) -> Value? {
        updateValue(value, forKey: Name(name))
    }
}

extension Set where Element == Name {
    /// Takes names from texts.
    package init(names texts: some Sequence<String>) { self.init(texts.map { Name($0) }) }

    /// Whether the name is among them.
    package func contains(_ name: String) -> Bool { contains(Name(name)) }

    /// Adds a name and says whether it is new.
    @discardableResult
    package mutating func insert(
        _ name: String
    ) -> (inserted: Bool, memberAfterInsert: Name) { insert(Name(name)) }

    /// Takes a name out.
    @discardableResult
    package mutating func remove(_ name: String) -> Name? { remove(Name(name)) }
}
