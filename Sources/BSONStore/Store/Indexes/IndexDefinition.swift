/// The definition of an index, as `createIndexes` takes it and `listIndexes` shows it.
public struct IndexDefinition: Sendable, Hashable {
    /// One indexed field.
    public struct Key: Sendable, Hashable {
        /// The dotted path.
        public let path: String
        /// The kind of keys of the field's values.
        public let kind: Kind

        /// Makes a key of a path and a kind.
        public init(_ path: String, _ kind: Kind = .ascending) {
            self.path = path
            self.kind = kind
        }

        /// Whether both have the same path, by its bytes, and the same kind.
        public static func == (left: Key, right: Key) -> Bool {
            left.path.hasSameBytes(as: right.path) && left.kind == right.kind
        }
    }

    /// The kind of keys that an index has of a field's values.
    public enum Kind: Sendable, Hashable {
        /// Ordered, the smallest first.
        case ascending
        /// Ordered, the greatest first.
        case descending
        /// Stored and listed but not ordered: `text`, `2dsphere`, `2d`, `hashed`.
        case special(String)
    }

    /// The fields that a specification may contain.
    package static var options: Set<String> { IndexSpecificationParser.options }

    /// The largest number of fields in an index.
    public static let fieldsMax = 32

    /// The fields in order.
    public let keys: [Key]
    /// The name, unique in the collection.
    public let name: String
    /// Whether no two documents may have equal keys.
    public let isUnique: Bool
    /// Whether documents without any of the fields are omitted.
    public let isSparse: Bool
    /// The filter that a document must match to be in the index.
    public let partialFilter: BSONDocument?
    /// The number of seconds after the date in the field when a document expires.
    public let expireAfterSeconds: Double?
    /// Whether queries ignore the index.
    public let isHidden: Bool
    /// Whether new writes must keep keys unique, as with `unique`; earlier documents may have equal
    /// keys.
    public let preparesUnique: Bool
    /// The collation of the keys; `nil` compares bytes.
    public let collation: BSONDocument?
    /// Whether the specification names a collation, be it the simple one.
    let namesCollation: Bool
    /// The definition as `listIndexes` shows it: `v`, `key`, `name` and the options.
    public let document: BSONDocument

    /// The `_id` index, which every collection has.
    public static let id = IndexDefinition(idKeys: [Key("_id")], nil)

    /// Returns the `_id` index of a collection with a collation, as it is listed.
    ///
    /// The store keeps ids apart by their bytes all the same.
    static func ofIDs(collatedBy collation: BSONDocument?) -> IndexDefinition {
        collation == nil ? .id : IndexDefinition(idKeys: [Key("_id")], collation)
    }

    private init(idKeys: [Key], _ collation: BSONDocument?) {
        keys = idKeys
        name = "_id_"
        isUnique = true
        isSparse = false
        partialFilter = nil
        expireAfterSeconds = nil
        isHidden = false
        preparesUnique = false
        self.collation = collation
        namesCollation = true
        var document: BSONDocument = ["v": 2, "key": ["_id": 1], "name": "_id_"]
        if let collation { document.append("collation", .document(collation)) }
        self.document = document
    }

    /// Whether every field is ordered, so that scans and lookups can use the index.
    public var isOrdered: Bool {
        keys.allSatisfy { key in
            switch key.kind {
            case .ascending, .descending: true
            case .special: false
            }
        }
    }

    /// Whether documents have keys in the index; false for text and geo indexes.
    var hasKeys: Bool {
        if wildcardField == nil, keys.allSatisfy(isOrdinary) { return true }
        let isHashed = keys.contains { $0.kind == .special("hashed") }
        return isOrdered && (wildcardField == nil || keys.count == 1)
            || isHashed && keys.allSatisfy { isOrdinary($0) || $0.kind == .special("hashed") }
    }

    private func isOrdinary(_ key: Key) -> Bool {
        switch key.kind {
        case .ascending, .descending: true
        case .special: false
        }
    }

    /// The field of a wildcard index: `$**` or `a.$**`.
    var wildcardField: String? {
        guard let key = keys.first(where: { IndexKeyPatternParser.isWildcard($0.path) }) else {
            return nil
        }
        return isOrdinary(key) ? key.path : nil
    }

    /// The fields that a wildcard index includes or excludes.
    var wildcardProjection: BSONDocument? { document["wildcardProjection"]?.documentValue }

    /// The settings of a text index, for `$text`.
    var textFields: TextIndexFields? {
        guard keys.contains(where: { $0.kind == .special("text") }) else { return nil }
        var weights: [Name: Double] = [:]
        for (path, weight) in document["weights"]?.documentValue ?? [:] {
            weights[path] = Double(weight.truncatedNumber ?? 1)
        }
        var fields = TextIndexFields(weights: weights)
        if let language = document["default_language"]?.stringValue {
            fields.defaultLanguage = language
        }
        if let field = document["language_override"]?.stringValue {
            fields.languageOverride = field
        }
        return fields
    }

    /// The key pattern, such as `{age: 1, name: -1}`.
    public var keyPattern: BSONDocument { document["key"]?.documentValue ?? [:] }

    /// Whether a pattern names this index: the same fields in the same order, with equal values.
    ///
    /// Numbers of any type are equal by value, so that `{a: 1.0}` names the index `{a: 1}`, and
    /// `{b: 1, a: 1}` does not name `{a: 1, b: 1}`.
    ///
    /// Source: the server's `index_catalog_impl.cpp`, `findIndexesByPattern`, which compares
    /// patterns with `SimpleBSONObjComparator`.
    package func hasKeyPattern(_ pattern: BSONDocument) -> Bool {
        BSONOrder.compare(.document(keyPattern), .document(pattern)) == .equal
    }
}

// MARK: - Parsing

extension IndexDefinition {
    /// Parses a specification such as `["key": ["age": 1], "unique": true]`; derives a missing name
    /// from the fields.
    ///
    /// - Throws: 67 (CannotCreateIndex), 14 (TypeMismatch), 197 for unknown options, with MongoDB's
    ///   messages.
    ///
    /// Source: the server's `index_key_validate.cpp`.
    public init(_ specification: BSONDocument) throws(StoreError) {
        let context = IndexSpecificationParser(specification)
        guard let pattern = specification["key"]?.documentValue else {
            throw context.error(
                .failedToParse,
                "The 'key' field is a required property of an index "
                    + "specification")
        }
        let given = try IndexKeyPatternParser.keys(pattern, context)
        try context.checkOptions()
        try context.checkVersion()
        let made = given.map { "\($0.path)_\(Self.text(of: $0.kind, in: pattern, $0.path))" }
        name = try context.text("name") ?? made.joined(separator: "_")
        // The name is a field name in lists of indexes by name.
        guard !name.utf8.contains(0) else {
            throw context.error(.cannotCreateIndex, "Index name cannot contain null bytes")
        }
        isUnique = try context.flag("unique")
        preparesUnique = try context.flag("prepareUnique")
        isSparse = try context.flag("sparse")
        isHidden = try context.flag("hidden")
        partialFilter = try context.document("partialFilterExpression")
        // All text fields count as one until the definition is completed.
        let completed = given.count { $0.path == "_ftsx" }
        expireAfterSeconds = try context.seconds(fields: given.count - completed)
        collation = try context.collation()
        // An index of version 1 has no collation, as in the server's `index_key_validate.cpp`.
        namesCollation =
            specification["collation"] != nil || specification["v"]?.int64Value == 1
        try context.check(given, hasCollation: collation != nil)
        var document: BSONDocument = ["v": 2, "key": .document(pattern), "name": .string(name)]
        for (key, value) in specification
        where !["v", "key", "name", "ns", "collation"].contains(key) {
            if !IndexSpecificationParser.flags.contains(key) || key == "background"
                || PredicateParser.isTrue(value)
            {
                document.append(key, value)
            }
        }
        if let collation { document.append("collation", .document(collation)) }
        try IndexKeyPatternParser.complete(&document, given, context)
        self.document = document
        keys = try IndexKeyPatternParser.keys(document["key"]?.documentValue ?? pattern, context)
    }

    private static func text(of kind: Kind, in pattern: BSONDocument, _ path: String) -> String {
        switch kind {
        case .special(let name): name
        case .ascending, .descending: ShellText.text(of: pattern[path] ?? 1)
        }
    }
}

extension IndexDefinition {
    /// Returns the definition in a collection with a collation; an index with its own collation
    /// keeps it.
    ///
    /// - Throws: 67 for a text or `2d` index, which must name the simple collation.
    func inheriting(_ default: BSONDocument?) throws(StoreError) -> IndexDefinition {
        guard let collation = `default`, !namesCollation else { return self }
        var specification = document
        specification.append("collation", .document(collation))
        return try IndexDefinition(specification)
    }
}
