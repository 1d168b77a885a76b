/// A parser for filter documents that follows MongoDB, with its error texts.
///
/// Source: MongoDB manual, "Query and Projection Operators"; error texts as in the 7.0 server.
package struct PredicateParser {
    /// The maximum depth of a filter.
    static let depthMax = 100

    /// An operator in the place of a field name.
    enum TopLevelOperator: String, CaseIterable {
        case and = "$and"
        case or = "$or"
        case nor = "$nor"
        case comment = "$comment"
        case expr = "$expr"
        case jsonSchema = "$jsonSchema"
        case text = "$text"
        case `where` = "$where"
        case sampleRate = "$sampleRate"
        case alwaysTrue = "$alwaysTrue"
        case alwaysFalse = "$alwaysFalse"
        case reference = "$ref"
        case referenceID = "$id"
        case referenceDatabase = "$db"
    }

    let options: FilterOptions
    /// The number of open `$elemMatch`; inside one, operators on whole documents are invalid.
    var elementDepth = 0
    /// The number of `$near` and `$nearSphere`; a filter may have one.
    var nearCount = 0
    /// The number of `$text`; a filter may have one.
    var textCount = 0
    /// Whether a `$text` is inside a `$nor`.
    private var excludesText = false
    private var depth = 0

    private init(options: FilterOptions) { self.options = options }

    /// Parses a whole filter.
    ///
    /// - Throws: `badValue` (2) and others with the server's text.
    static func parse(
        _ filter: BSONDocument, options: FilterOptions = .none
    ) throws(StoreError) -> Predicate {
        var parser = PredicateParser(options: options)
        let predicate = try parser.document(filter)
        try parser.checkText()
        if parser.nearCount > 0 { try parser.checkNear(predicate) }
        return predicate
    }

    /// Checks that the filter searches for text once, and for what it has.
    ///
    /// Source: the server's `canonical_query.cpp`, `isValid`.
    private func checkText() throws(StoreError) {
        guard textCount <= 1 else {
            throw StoreError(.badValue, "Too many text expressions")
        }
        guard !excludesText else {
            throw StoreError(.badValue, "text expression not allowed in nor")
        }
    }

    /// Whether a document holds operators, by its first key; a DBRef does not.
    package static func holdsOperators(_ document: BSONDocument, partialReferences: Bool = false)
        -> Bool
    {
        guard document.firstElement?.key.hasBytePrefix("$") == true else { return false }
        let (hasCollection, hasID) = (document["$ref"] != nil, document["$id"] != nil)
        if partialReferences { return !(hasCollection || hasID || document["$db"] != nil) }
        return !(hasCollection && hasID)
    }

    mutating func document(_ filter: BSONDocument) throws(StoreError) -> Predicate {
        try enter()
        defer { leave() }
        var parts: [Predicate] = []
        for (key, value) in filter {
            _ = WorkBudget.isOver()
            if key.hasBytePrefix("$") {
                if let part = try topLevel(key, value) { parts.append(part) }
            } else {
                parts.append(try field(FieldPath(key), value))
            }
        }
        return Self.joined(parts)
    }

    /// Returns a conjunction without needless levels.
    static func joined(_ parts: [Predicate]) -> Predicate {
        var flat: [Predicate] = []
        for part in parts {
            if case .all(let inner) = part { flat += inner } else { flat.append(part) }
        }
        return flat.count == 1 ? flat[0] : .all(flat)
    }

    private mutating func topLevel(
        _ key: String, _ value: BSONValue
    ) throws(StoreError) -> Predicate? {
        guard let name = TopLevelOperator(rawValue: key) else { throw Self.unknown(key) }
        switch name {
        case .and: return Self.joined(try clauses(key, value))
        case .or: return .any(try clauses(key, value))
        case .nor:
            let before = textCount
            let excluded = try clauses(key, value)
            if textCount > before { excludesText = true }
            return .not(.any(excluded))
        case .comment: return nil
        case .expr: return try expression(value)
        case .jsonSchema:
            try requireExpressions(key)
            guard let schema = value.documentValue else {
                throw StoreError(.typeMismatch, "$jsonSchema must be an object")
            }
            return .special(.schema(try JSONSchemaParser.parse(schema)))
        case .text: return try text(value)
        case .where: return try script(value)
        case .sampleRate: return try sampleRate(value)
        case .alwaysTrue:
            try requireOne(key, value)
            return .all([])
        case .alwaysFalse:
            try requireOne(key, value)
            return .any([])
        case .reference, .referenceID, .referenceDatabase:
            return .field(FieldPath(parts: [key]), .compare(.equal, try Self.comparable(value)))
        }
    }

    private static func unknown(_ key: String) -> StoreError {
        let hint =
            key == "$not"
            ? "If you are trying to negate an entire expression, use $nor."
            : "If you have a field name that starts with a '$' symbol, consider using $getField or "
                + "$setField."
        return StoreError(.badValue, "unknown top level operator: \(key). \(hint)")
    }

    private mutating func clauses(
        _ key: String, _ value: BSONValue
    ) throws(StoreError) -> [Predicate] {
        guard let array = value.arrayValue else {
            throw StoreError(.badValue, "\(key) must be an array")
        }
        guard !array.isEmpty else {
            throw StoreError(.badValue, "$and/$or/$nor must be a nonempty array")
        }
        var clauses: [Predicate] = []
        for clause in array {
            _ = WorkBudget.isOver()
            guard let clause = clause.documentValue else {
                throw StoreError(.badValue, "$or/$and/$nor entries need to be full objects")
            }
            clauses.append(try document(clause))
        }
        return clauses
    }

    private mutating func field(
        _ path: FieldPath, _ value: BSONValue
    ) throws(StoreError) -> Predicate {
        switch value {
        case .document(let document) where Self.holdsOperators(document):
            return try operators(document, of: path)
        case .regularExpression(let expression):
            return .field(path, .matches(try Self.checked(expression)))
        default:
            return .field(path, .compare(.equal, try Self.comparable(value)))
        }
    }

    mutating func enter() throws(StoreError) {
        depth += 1
        guard depth <= Self.depthMax else {
            throw StoreError(.badValue, "Query filter exceeded maximum depth: \(Self.depthMax)")
        }
    }

    mutating func leave() { depth -= 1 }

    static func comparable(_ value: BSONValue) throws(StoreError) -> BSONValue {
        if case .undefined = value {
            throw StoreError(.badValue, "cannot compare to undefined")
        }
        return value
    }

    static func checked(
        _ expression: BSONRegularExpression
    ) throws(StoreError) -> BSONRegularExpression {
        _ = try CompiledRegex(expression)
        return expression
    }
}
