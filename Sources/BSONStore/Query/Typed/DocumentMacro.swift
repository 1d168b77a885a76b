#if Macros
    /// Makes a struct a ``TypedDocument``: writes its `Fields`, `CodingKeys` and `Codable` code.
    ///
    /// ```swift
    /// @Document
    /// struct Todo {
    ///     var id: BSONObjectID  // the field "_id"
    ///     @FieldName("owner_id") var ownerID: String
    ///     var task: String
    ///     var done = false  // documents without the field decode as false
    ///     var due: Date?
    /// }
    /// ```
    ///
    /// Each stored property is a field of its name; `id` is `_id`. A property with a default keeps
    /// it for documents that lack the field or hold null. An optional may be missing. The
    /// memberwise initializer stays. A property `id` that is as visible as the struct makes it
    /// `Identifiable`, so its type has to be `Hashable`. Types of literals and of calls such as `Date()` need not be
    /// written; others must be. Structs in fields have `@Document` too if conditions name their
    /// fields.
    ///
    /// The package trait `Macros` adds it.
    @attached(member, names: named(Fields), named(fields), named(CodingKeys))
    @attached(
        extension, conformances: TypedDocument, Identifiable, names: named(init(from:)),
        named(encode(to:)))
    public macro Document() = #externalMacro(module: "BSONMacros", type: "DocumentMacro")

    /// Names the field of a property of a `@Document` struct.
    ///
    /// ```swift
    /// @FieldName("owner_id") var ownerID: String
    /// ```
    ///
    /// - Parameter name: a string literal; not empty, without dots, not beginning with a dollar.
    @attached(peer)
    public macro FieldName(_ name: String) =
        #externalMacro(module: "BSONMacros", type: "FieldNameMacro")
#endif
