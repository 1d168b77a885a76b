public import BSONCore

/// A field of a document, with the type of its values.
///
/// Comparisons and calls make conditions (``TypedFilter``), updates (``TypedUpdate``), sorts and
/// projections. Fields of nested documents are members:
///
/// ```swift
/// people.find { $0.address.city == "Oslo" && $0.tags.contains("home") }
/// ```
///
/// A path through an array means any of its elements, and one through an optional document has an
/// optional value.
@dynamicMemberLookup
public struct Field<Value: Codable & Sendable>: Sendable {
    let path: TypedFieldPath

    /// Creates a field of a document by its coding key.
    public init(_ name: String) { path = TypedFieldPath(name) }

    init(path: TypedFieldPath) { self.path = path }

    /// Returns the dotted path, as an encoder names the fields.
    ///
    /// - Throws: `badValue` for a key of a dictionary that is empty, contains a dot or begins with
    ///   a dollar.
    public func path(with encoder: BSONEncoder = BSONEncoder()) throws(StoreError) -> String {
        try path.dotted(encoder)
    }
}

// MARK: - Nested fields

extension Field {
    /// A field of the nested document.
    public subscript<Nested>(
        dynamicMember member: KeyPath<Value.Fields, Field<Nested>>
    ) -> Field<Nested> where Value: TypedDocument {
        Field<Nested>(path: path.appending(Value.fields[keyPath: member].path))
    }

    /// A field of the optional nested document.
    public subscript<Nested>(
        dynamicMember member: KeyPath<Value.Wrapped.Fields, Field<Nested>>
    ) -> Field<Nested?> where Value: OptionalFieldValue, Value.Wrapped: TypedDocument {
        Field<Nested?>(path: path.appending(Value.Wrapped.fields[keyPath: member].path))
    }

    /// An optional field of the optional nested document.
    public subscript<Nested>(
        dynamicMember member: KeyPath<Value.Wrapped.Fields, Field<Nested?>>
    ) -> Field<Nested?> where Value: OptionalFieldValue, Value.Wrapped: TypedDocument {
        Field<Nested?>(path: path.appending(Value.Wrapped.fields[keyPath: member].path))
    }

    /// A field of the documents in the array: a condition holds if any of them fulfils it.
    public subscript<Nested>(
        dynamicMember member: KeyPath<Value.Element.Fields, Field<Nested>>
    ) -> Field<Nested> where Value: ListFieldValue, Value.Element: TypedDocument {
        Field<Nested>(path: path.appending(Value.Element.fields[keyPath: member].path))
    }

    /// The element at a position of the array, from 0.
    public subscript(position: Int) -> Field<Value.Element>
    where Value: ListFieldValue, Value.Element: Codable & Sendable {
        precondition(position >= 0, "The position of an element is not negative")
        return Field<Value.Element>(path: path.appending(.position(String(position))))
    }

    /// The value for a key of the dictionary.
    public subscript<Element>(key: String) -> Field<Element?> where Value == [String: Element] {
        Field<Element?>(path: path.appending(.key(key)))
    }
}
