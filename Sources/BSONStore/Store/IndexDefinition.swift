/// Says what an index holds and enforces, as `createIndexes` takes it and `listIndexes` shows it.
public struct IndexDefinition: Sendable, Hashable {
    /// One indexed field.
    public struct Key: Sendable, Hashable {
        /// The dotted path.
        public let path: String
        /// What the index does with the field's values.
        public let kind: Kind

        /// Names a field and a kind.
        public init(_ path: String, _ kind: Kind = .ascending) {
            self.path = path
            self.kind = kind
        }
    }

    /// What an index does with a field's values.
    public enum Kind: Sendable, Hashable {
        /// Orders them, the smallest first.
        case ascending
        /// Orders them, the greatest first.
        case descending
        /// A kind that is kept and listed but orders nothing: `text`, `2dsphere`, `2d`, `hashed`.
        case special(String)
    }

    /// Indexes have at most so many fields.
    public static let fieldsMax = 32

    /// The fields in order.
    public let keys: [Key]
    /// The name, unique in the collection.
    public let name: String
    /// Two documents may not have equal keys.
    public let isUnique: Bool
    /// Documents that have none of the fields are left out.
    public let isSparse: Bool
    /// Only documents that pass this filter are in the index.
    public let partialFilter: BSONDocument?
    /// Documents may be deleted so many seconds after the date in the field.
    public let expireAfterSeconds: Double?
    /// Queries do not use the index.
    public let isHidden: Bool
    /// The definition as `listIndexes` shows it: `v`, `key`, `name` and the options.
    public let document: BSONDocument

    /// The index of the `_id`, which every collection has.
    public static let id = IndexDefinition(idKeys: [Key("_id")])

    private init(idKeys: [Key]) {
        keys = idKeys
        name = "_id_"
        isUnique = true
        isSparse = false
        partialFilter = nil
        expireAfterSeconds = nil
        isHidden = false
        document = ["v": 2, "key": ["_id": 1], "name": "_id_"]
    }

    /// Whether every field is ordered, so that scans and look-ups can use it.
    public var isOrdered: Bool {
        keys.allSatisfy { key in
            switch key.kind {
            case .ascending, .descending: true
            case .special: false
            }
        }
    }

    /// The key pattern, such as `{age: 1, name: -1}`.
    public var keyPattern: BSONDocument { document["key"]?.documentValue ?? [:] }
}

// MARK: - Reading

extension IndexDefinition {
    /// Reads a specification such as `["key": ["age": 1], "unique": true]`; a missing name is made
    /// of the fields.
    ///
    /// - Throws: 67 (CannotCreateIndex), 14 (TypeMismatch), 197 for unknown options, with MongoDB's
    ///   text.
    ///
    /// Source: the server's `index_key_validate.cpp`.
    public init(_ specification: BSONDocument) throws(StoreError) {
        let context = IndexSpecification(specification)
        guard let pattern = specification["key"]?.documentValue else {
            throw context.error(
                .failedToParse,
                "The 'key' field is a required property of an index "
                    + "specification")
        }
        keys = try Self.keys(pattern, context)
        try context.checkOptions()
        let made = keys.map { "\($0.path)_\(Self.text(of: $0.kind, in: pattern, $0.path))" }
        name = try context.text("name") ?? made.joined(separator: "_")
        isUnique = try context.flag("unique")
        isSparse = try context.flag("sparse")
        isHidden = try context.flag("hidden")
        partialFilter = try context.document("partialFilterExpression")
        expireAfterSeconds = try context.seconds(fields: keys.count)
        if isSparse, partialFilter != nil {
            throw context.error(
                .cannotCreateIndex,
                "cannot mix \"partialFilterExpression\" and \"sparse\" options")
        }
        var document: BSONDocument = [
            "v": 2, "key": .document(pattern), "name": .string(name),
        ]
        for (key, value) in specification where !["v", "key", "name", "ns"].contains(key) {
            if !IndexSpecification.flags.contains(key) || key == "background"
                || PredicateParser.isTrue(value)
            {
                document.append(key, value)
            }
        }
        self.document = document
    }

    private static func text(of kind: Kind, in pattern: BSONDocument, _ path: String) -> String {
        switch kind {
        case .special(let name): name
        case .ascending, .descending: ShellText.text(of: pattern[path] ?? 1)
        }
    }

    private static func keys(
        _ pattern: BSONDocument, _ context: IndexSpecification
    ) throws(StoreError) -> [Key] {
        guard !pattern.isEmpty else {
            throw context.error(.cannotCreateIndex, "Index keys cannot be empty.")
        }
        guard pattern.count <= fieldsMax else {
            throw context.error(
                StoreError.Code(rawValue: 13103), "too many compound keys")
        }
        var keys: [Key] = []
        for (path, value) in pattern {
            guard !path.isEmpty,
                !path.split(separator: ".", omittingEmptySubsequences: false)
                    .contains("")
            else {
                throw context.error(
                    .cannotCreateIndex, "Index keys cannot contain an empty field.")
            }
            guard !path.hasPrefix("$") else {
                throw context.error(
                    .cannotCreateIndex,
                    "Index key contains an illegal field name: field name starts with '$'.")
            }
            guard !keys.contains(where: { $0.path == path }) else {
                throw context.error(
                    .badValue, "The field '\(path)' appears multiple times in the index key pattern"
                )
            }
            keys.append(Key(path, try kind(value, context)))
        }
        return keys
    }

    private static func kind(
        _ value: BSONValue, _ context: IndexSpecification
    ) throws(StoreError) -> Kind {
        switch value {
        case .string(let name):
            guard ["text", "2dsphere", "2d", "hashed"].contains(name) else {
                throw context.error(.cannotCreateIndex, "Unknown index plugin '\(name)'")
            }
            return .special(name)
        case .int32, .int64, .double, .decimal128:
            switch BSONOrder.compare(value, 0) {
            case .greater: return .ascending
            case .less where BSONOrder.compare(value, .double(.nan)) != .equal:
                return .descending
            case .less, .equal:
                throw context.error(
                    .cannotCreateIndex, "Values in the index key pattern cannot be 0.")
            }
        default:
            throw context.error(
                .cannotCreateIndex,
                "Values in v:2 index key pattern cannot be of type \(value.type.alias). Only "
                    + "numbers > 0, numbers < 0, and strings are allowed.")
        }
    }
}
