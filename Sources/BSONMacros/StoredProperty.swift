#if Macros
    /// A stored property of a struct, as the macro writes it.
    struct StoredProperty {
        /// The name as the code has it, with backticks where it needs them.
        let name: String
        let typeName: String
        /// The name that `@FieldName` gives.
        let key: String?
        let isOptional: Bool
        let hasDefault: Bool
        let hasNilDefault: Bool
        /// Whether the property is a `let`.
        let isConstant: Bool

        /// The name of the field in documents.
        var fieldName: String {
            let plain = name.filter { $0 != "`" }
            return key ?? (plain == "id" ? "_id" : plain)
        }

        /// Whether a missing field leaves the default value.
        var keepsDefault: Bool { hasDefault && !hasNilDefault }

        /// Whether decoding sets the property; a `let` with a value has it already.
        var isDecoded: Bool { !(isConstant && hasDefault) }

        /// The type without the mark of an optional.
        var presentTypeName: String {
            if typeName.hasSuffix("?") || typeName.hasSuffix("!") {
                return String(typeName.dropLast())
            }
            if typeName.hasPrefix("Optional<") {
                return String(typeName.dropFirst("Optional<".count).dropLast())
            }
            return typeName
        }
    }
#endif
