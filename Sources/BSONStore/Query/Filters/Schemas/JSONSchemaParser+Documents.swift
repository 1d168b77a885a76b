extension JSONSchemaParser {
    /// Parses the keywords for documents.
    func documents() throws(StoreError) -> JSONSchema.Documents {
        var documents = JSONSchema.Documents()
        documents.required = try required()
        documents.properties = try properties()
        documents.patterns = try patterns()
        documents.others = try additionalProperties()
        documents.countMin = try countOfFields(.minProperties) ?? 0
        documents.countMax = try countOfFields(.maxProperties) ?? .max
        documents.dependencies = try dependencies()
        return documents
    }

    private func countOfFields(_ keyword: Keyword) throws(StoreError) -> Int64? {
        guard let value = operands[keyword] else { return nil }
        return try IntegerFieldParser.nonNegativeInt64(keyword.rawValue, value)
    }

    private func required() throws(StoreError) -> [String] {
        guard let value = operands[.required] else { return [] }
        guard let array = value.arrayValue else {
            throw Self.mismatch(
                .required,
                "must be an array, but found an element of type \(value.type.alias)")
        }
        var names: [String] = []
        for member in array {
            guard let name = member.stringValue else {
                throw Self.mismatch(
                    .required,
                    "must be an array of strings, but found an element of type: "
                        + member.type.alias)
            }
            names.append(name)
        }
        guard !names.isEmpty else {
            throw Self.failed("$jsonSchema keyword 'required' cannot be an empty array")
        }
        guard Set(names: names).count == names.count else {
            throw Self.failed(
                "$jsonSchema keyword 'required' array cannot contain duplicate values")
        }
        return names
    }

    private func properties() throws(StoreError) -> NamedFields<JSONSchema> {
        var properties = NamedFields<JSONSchema>()
        guard let value = operands[.properties] else { return properties }
        guard let document = value.documentValue else {
            throw Self.mismatch(.properties, "must be an object")
        }
        for (name, schema) in document {
            guard let schema = schema.documentValue else {
                throw StoreError(
                    .typeMismatch,
                    "Nested schema for $jsonSchema property '\(name)' must be an object")
            }
            properties.append(name, try nested(schema))
        }
        return properties
    }

    private func patterns() throws(StoreError) -> [(pattern: CompiledRegex, schema: JSONSchema)] {
        guard let value = operands[.patternProperties] else { return [] }
        guard let document = value.documentValue else {
            throw Self.mismatch(.patternProperties, "must be an object")
        }
        var patterns: [(pattern: CompiledRegex, schema: JSONSchema)] = []
        for (name, schema) in document {
            guard let schema = schema.documentValue else {
                throw Self.mismatch(
                    .patternProperties, "has property '\(name)' which is not an object")
            }
            do throws(StoreError) {
                patterns.append((try Self.pattern(name), try nested(schema)))
            } catch  where error.code == .invalidRegularExpression {
                let reason = error.message.replacing("Regular expression is invalid: ", with: "")
                throw StoreError(
                    .invalidPatternProperty,
                    "Invalid regular expression in $jsonSchema keyword 'patternProperties': "
                        + "\(name) PCRE error string: \(reason)")
            }
        }
        return patterns
    }

    private func additionalProperties() throws(StoreError) -> JSONSchema.Others? {
        switch operands[.additionalProperties] {
        case nil, .bool(true): return nil
        case .bool(false): return JSONSchema.Others.none
        case .document(let schema): return .schema(try nested(schema))
        case .some: throw Self.mismatch(.additionalProperties, "must be an object or a boolean")
        }
    }

    private func dependencies() throws(StoreError) -> [(
        name: String, dependency: JSONSchema.Dependency
    )] {
        guard let value = operands[.dependencies] else { return [] }
        guard let document = value.documentValue else {
            throw Self.mismatch(.dependencies, "must be an object")
        }
        var dependencies: [(name: String, dependency: JSONSchema.Dependency)] = []
        for (name, dependency) in document {
            switch dependency {
            case .document(let schema):
                dependencies.append((name, .schema(try nested(schema))))
            case .array(let names):
                dependencies.append((name, .fields(try fields(names, of: name))))
            default:
                throw StoreError(
                    .typeMismatch,
                    "property '\(name)' in $jsonSchema keyword 'dependencies' must be either an "
                        + "object or an array")
            }
        }
        return dependencies
    }

    private func fields(_ array: BSONArray, of name: String) throws(StoreError) -> [String] {
        guard !array.isEmpty else {
            throw Self.failed(
                "property '\(name)' in $jsonSchema keyword 'dependencies' cannot be an empty array"
            )
        }
        var fields: [String] = []
        var seen: Set<Name> = []
        for member in array {
            guard let field = member.stringValue else {
                throw StoreError(
                    .typeMismatch,
                    "array '\(name)' in $jsonSchema keyword 'dependencies' can only contain "
                        + "strings, but found element of type: \(member.type.alias)")
            }
            guard seen.insert(field).inserted else {
                throw Self.failed(
                    "array '\(name)' in $jsonSchema keyword 'dependencies' contains duplicate "
                        + "element: \(field)")
            }
            fields.append(field)
        }
        return fields
    }
}
