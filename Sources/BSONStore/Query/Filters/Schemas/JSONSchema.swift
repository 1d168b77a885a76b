/// A schema for values, by the keywords of JSON Schema draft 4 and MongoDB's `bsonType`.
///
/// A keyword restricts values of its type only and accepts all others.
///
/// Source: MongoDB manual, "$jsonSchema".
package struct JSONSchema: Sendable {
    /// The accepted types; `nil` for any.
    var types: Predicate.TypeSet?
    var numbers = Numbers()
    var texts = Texts()
    var arrays = Arrays()
    var documents = Documents()
    /// The schemas of which all, some, exactly one or none must accept the value.
    var allOf: [JSONSchema] = []
    var anyOf: [JSONSchema] = []
    var oneOf: [JSONSchema] = []
    var not: [JSONSchema] = []
    /// The keys of the accepted values, with their fields in order; empty for any.
    var enumeration: Set<[UInt8]> = []

    /// The conditions on numbers.
    struct Numbers: Sendable {
        var minimum: BSONValue?
        var maximum: BSONValue?
        var excludesMinimum = false
        var excludesMaximum = false
        var divisor: BSONDecimal128?
    }

    /// The conditions on texts, with lengths in characters.
    struct Texts: Sendable {
        var countMin: Int64 = 0
        var countMax = Int64.max
        var pattern: CompiledRegex?
    }

    /// The conditions on arrays.
    struct Arrays: Sendable {
        var countMin: Int64 = 0
        var countMax = Int64.max
        var isUnique = false
        /// The schemas of the first values.
        var positions: [JSONSchema] = []
        /// The schema of the values behind those positions; `nil` for any.
        var others: Others?
    }

    /// The conditions on documents.
    struct Documents: Sendable {
        var countMin: Int64 = 0
        var countMax = Int64.max
        var required: [String] = []
        var properties = NamedFields<JSONSchema>()
        var patterns: [(pattern: CompiledRegex, schema: JSONSchema)] = []
        /// The schema of the fields that match neither names nor patterns; `nil` for any.
        var others: Others?
        var dependencies: [(name: String, dependency: Dependency)] = []
    }

    /// The condition on the remaining values.
    enum Others: Sendable {
        case none
        indirect case schema(JSONSchema)
    }

    /// The fields that another field requires.
    enum Dependency: Sendable {
        case fields([String])
        indirect case schema(JSONSchema)
    }

    /// Whether the schema accepts a value.
    func accepts(_ value: BSONValue) -> Bool {
        if WorkBudget.isOver() { return false }
        if let types, !types.contains(value.type.rawValue) { return false }
        guard acceptsByType(value) else { return false }
        if !enumeration.isEmpty {
            guard enumeration.contains(BSONKey.encode(Self.ordered(value))) else { return false }
        }
        return allOf.allSatisfy { $0.accepts(value) }
            && (anyOf.isEmpty || anyOf.contains { $0.accepts(value) })
            && (oneOf.isEmpty || oneOf.count(where: { $0.accepts(value) }) == 1)
            && !not.contains { $0.accepts(value) }
    }

    private func acceptsByType(_ value: BSONValue) -> Bool {
        switch value {
        case .double, .int32, .int64, .decimal128: numbers.accepts(value)
        case .string(let text): texts.accepts(text)
        case .document(let document): documents.accepts(document)
        case .array(let array): arrays.accepts(array)
        case .binary, .undefined, .objectID, .bool, .datetime, .null, .regularExpression,
            .dbPointer, .javascript, .symbol, .javascriptWithScope, .timestamp, .minKey, .maxKey:
            true
        }
    }

    /// Returns the value with fields sorted by name, so that comparison ignores their order.
    static func ordered(_ value: BSONValue) -> BSONValue {
        if WorkBudget.isOver() { return value }
        switch value {
        case .document(let document):
            var ordered = BSONDocument()
            let fields = document.sorted {
                WorkBudget.isOver() ? false : $0.key.bytesPrecede($1.key)
            }
            for (name, value) in fields {
                ordered.append(name, Self.ordered(value))
            }
            return .document(ordered)
        case .array(let array): return .array(BSONArray(array.map { ordered($0) }))
        default: return value
        }
    }
}

extension JSONSchema.Others {
    func accepts(_ value: BSONValue) -> Bool {
        switch self {
        case .none: false
        case .schema(let schema): schema.accepts(value)
        }
    }
}

extension JSONSchema.Texts {
    func accepts(_ text: String) -> Bool {
        if countMin > 0 || countMax < .max {
            let count = Int64(text.unicodeScalars.count)
            guard count >= countMin, count <= countMax else { return false }
        }
        guard let pattern else { return true }
        return text.withUTF8Bytes { pattern.isFound(in: $0) }
    }
}

extension JSONSchema {
    /// Returns the position of the first value that equals an earlier one; `nil` if all differ.
    static func firstDuplicate(in values: [BSONValue]) -> Int? {
        var keys: Set<[UInt8]> = []
        return values.firstIndex { !keys.insert(BSONKey.encode(ordered($0))).inserted }
    }
}

extension JSONSchema.Arrays {
    func accepts(_ array: BSONArray) -> Bool {
        let values = array.values
        guard values.count >= countMin, values.count <= countMax else { return false }
        if isUnique, JSONSchema.firstDuplicate(in: values) != nil { return false }
        guard zip(values, positions).allSatisfy({ $1.accepts($0) }) else { return false }
        guard let others else { return true }
        return values.dropFirst(positions.count).allSatisfy { others.accepts($0) }
    }
}

extension JSONSchema.Documents {
    func accepts(_ document: BSONDocument) -> Bool {
        if countMin > 0 || countMax < .max {
            guard document.count >= countMin, document.count <= countMax else { return false }
        }
        let fields = IndexedDocument(document)
        guard required.allSatisfy({ !WorkBudget.isOver() && fields[$0] != nil }) else {
            return false
        }
        for property in properties.fields {
            if WorkBudget.isOver() { return false }
            if let value = fields[property.name], !property.content.accepts(value) { return false }
        }
        guard patterns.isEmpty && others == nil || acceptsRest(of: document) else { return false }
        return dependencies.allSatisfy { name, dependency in
            guard fields[name] != nil else { return true }
            switch dependency {
            case .fields(let names):
                return names.allSatisfy { !WorkBudget.isOver() && fields[$0] != nil }
            case .schema(let schema): return schema.accepts(.document(document))
            }
        }
    }

    private func acceptsRest(of document: BSONDocument) -> Bool {
        document.allSatisfy { name, value in
            if WorkBudget.isOver() { return false }
            var isMentioned = properties.index(of: name) != nil
            for (pattern, schema) in patterns
            where name.withUTF8Bytes({ pattern.isFound(in: $0) }) {
                isMentioned = true
                guard schema.accepts(value) else { return false }
            }
            guard !isMentioned, let others else { return true }
            return others.accepts(value)
        }
    }
}
