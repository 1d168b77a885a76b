/// The changes that a `collMod` command asks for.
///
/// Source: MongoDB manual, "collMod"; the server's `coll_mod.idl`.
struct CollectionModification {
    private static let fields: Set<String> = [
        "collMod", "validator", "validationLevel", "validationAction", "index", "viewOn",
        "pipeline", "changeStreamPreAndPostImages", "cappedSize", "cappedMax", "dryRun",
        "expireAfterSeconds", "collectionUUID",
    ]

    private let changes: BSONDocument

    /// - Parameter changes: the command; a null stands for a missing argument.
    init(_ changes: BSONDocument) {
        self.changes = BSONDocument(
            changes.filter { $0.value.type != .null }.map { ($0.key, $0.value) })
    }

    /// Returns the options after the change.
    func options(_ before: CollectionOptions) throws(StoreError) -> CollectionOptions {
        for (field, _) in changes
        where !Self.fields.contains(field)
            && !CollectionOptionsParser.generalArguments.contains(field)
        {
            throw StoreError(
                .idlUnknownField,
                "BSON field 'collMod.\(field)' is an unknown field.")
        }
        var command = before.document
        for field in Self.replaced {
            if let value = changes[field] { command.set(field, to: value) }
        }
        if let validator = changes["validator"]?.documentValue, !validator.isEmpty {
            if command["validationLevel"] == nil { command.append("validationLevel", "strict") }
            if command["validationAction"] == nil { command.append("validationAction", "error") }
        }
        try checkView(before)
        if changes["expireAfterSeconds"] != nil, !before.isClustered {
            throw StoreError(
                .invalidOptions,
                "'expireAfterSeconds' option is only supported on collections clustered by _id")
        }
        for (field, option) in [("cappedSize", "size"), ("cappedMax", "max")] {
            guard let value = changes[field] else { continue }
            guard before.capped != nil else {
                throw StoreError(.invalidOptions, "Collection must be capped.")
            }
            command.set(option, to: value)
        }
        for field in ["viewOn", "pipeline"] {
            guard let value = changes[field] else { continue }
            guard before.view != nil else {
                throw StoreError(.invalidOptions, "'\(field)' option only supported on a view")
            }
            command.set(field, to: value)
        }
        return CollectionOptions(
            try CollectionOptionsParser(command, of: "collMod").parts())
    }

    /// The options that replace earlier ones.
    private static let replaced = [
        "validator", "validationLevel", "validationAction", "changeStreamPreAndPostImages",
    ]

    private func checkView(_ before: CollectionOptions) throws(StoreError) {
        guard before.view != nil else { return }
        for field in ["index", "expireAfterSeconds", "cappedSize", "cappedMax"] + Self.replaced
        where changes[field] != nil {
            throw StoreError(.invalidOptions, "option not supported on a view: \(field)")
        }
    }

    /// Whether the command only checks if an index could become unique.
    ///
    /// - Throws: 72 for a dry run of anything else.
    ///
    /// Source: MongoDB manual, "collMod", "dryRun"; the server's `coll_mod.cpp`.
    func isDry() throws(StoreError) -> Bool {
        guard let value = changes["dryRun"], PredicateParser.isTrue(value) else { return false }
        let others = Self.fields.subtracting(["collMod", "index", "dryRun", "collectionUUID"])
        guard try index?.isOnlyUnique == true, !changes.contains(where: { others.contains($0.key) })
        else {
            throw StoreError(
                .invalidOptions,
                "The 'dryRun' option is only supported with the 'unique' option of an index")
        }
        return true
    }

    /// The changes, without the command's name and the generic arguments.
    var description: BSONDocument {
        BSONDocument(
            changes.filter {
                Self.fields.contains($0.key) && !["collMod", "collectionUUID"].contains($0.key)
            }
            .map { ($0.key, $0.value) })
    }

    /// The change of an index, if there is one.
    var index: IndexModification? {
        get throws(StoreError) {
            guard let value = changes["index"] else { return nil }
            guard let document = value.documentValue else {
                throw StoreError(
                    .typeMismatch,
                    "BSON field 'collMod.index' is the wrong type '\(value.type.alias)', expected "
                        + "type 'object'")
            }
            return try IndexModification(document)
        }
    }
}

/// The change of one index.
struct IndexModification {
    private let name: String?
    private let keyPattern: BSONDocument?
    /// The new time of expiry, clamped to the range of an int32.
    private let expireAfterSeconds: Int64?
    private let hidden: BSONValue?
    private let prepareUnique: BSONValue?
    /// Whether the index will refuse equal keys.
    let becomesUnique: Bool

    /// - Parameter changes: the argument `index`; a null stands for a missing field.
    init(_ changes: BSONDocument) throws(StoreError) {
        let document = BSONDocument(
            changes.filter { $0.value.type != .null }.map { ($0.key, $0.value) })
        name = document["name"]?.stringValue
        keyPattern = document["keyPattern"]?.documentValue
        expireAfterSeconds = document["expireAfterSeconds"]?.clampedNumber
            .map { min($0, Int64(Int32.max)) }
        hidden = document["hidden"]
        prepareUnique = document["prepareUnique"]
        try Self.checkTypes(document)
        becomesUnique = document["unique"].map(PredicateParser.isTrue) ?? false
        if let unique = document["unique"], !PredicateParser.isTrue(unique) {
            throw StoreError(.badValue, "'unique: false' is not supported")
        }
        for (field, _) in document
        where ![
            "name", "keyPattern", "expireAfterSeconds", "hidden", "unique", "prepareUnique",
        ].contains(field) {
            throw StoreError(
                .idlUnknownField,
                "BSON field 'collMod.index.\(field)' is an unknown field.")
        }
        if name != nil, keyPattern != nil {
            throw StoreError(.invalidOptions, "Cannot specify both key pattern and name.")
        }
        guard name != nil || keyPattern != nil else {
            throw StoreError(
                .invalidOptions, "Must specify either index name or key pattern.")
        }
        let count = [expires, hidden != nil, prepareUnique != nil].count { $0 }
        guard count > 0 || becomesUnique else {
            throw StoreError(
                .invalidOptions,
                "no expireAfterSeconds, hidden, unique, or prepareUnique field")
        }
        if prepareUnique != nil, count > 1 || becomesUnique {
            throw StoreError(
                .invalidOptions, "prepareUnique cannot be combined with any other modification.")
        }
    }

    private static func checkTypes(_ document: BSONDocument) throws(StoreError) {
        for (field, type) in [("name", BSONType.string), ("keyPattern", .document)] {
            guard let value = document[field], value.type != type else { continue }
            throw StoreError(
                .typeMismatch,
                "BSON field 'collMod.index.\(field)' is the wrong type '\(value.type.alias)', "
                    + "expected type '\(type.alias)'")
        }
        let numbers: Set<BSONType> = [.int32, .int64, .double, .decimal128]
        for field in ["hidden", "unique", "prepareUnique", "expireAfterSeconds"] {
            guard let value = document[field] else { continue }
            let isSeconds = field == "expireAfterSeconds"
            guard !numbers.contains(value.type), isSeconds || value.type != .bool else { continue }
            throw StoreError(
                .typeMismatch,
                "BSON field 'collMod.index.\(field)' is the wrong type '\(value.type.alias)', "
                    + "expected types '[\(isSeconds ? "" : "bool, ")long, int, decimal, double]'")
        }
        guard document["expireAfterSeconds"]?.clampedNumber ?? 0 >= 0 else {
            throw StoreError(
                .invalidOptions, "TTL index 'expireAfterSeconds' option cannot be less than 0")
        }
    }

    /// Whether the only change is that the index becomes unique.
    var isOnlyUnique: Bool {
        becomesUnique && !expires && hidden == nil && prepareUnique == nil
    }

    /// Returns the error when the command would change the `_id` index.
    func refusalForID(isClustered: Bool) -> StoreError {
        if expireAfterSeconds != nil {
            return StoreError(.invalidOptions, "the _id field does not support TTL indexes")
        }
        if isClustered, hidden != nil {
            return .location(6_011_800, "can't hide or unhide the clustered index")
        }
        return hidden == nil ? Self.isNotPrepared : StoreError(.badValue, "can't hide _id index")
    }

    private static let isNotPrepared = StoreError(
        .invalidOptions,
        "Cannot make index unique with 'prepareUnique=false'. Run collMod to set it first.")

    /// Whether the index will expire documents.
    var expires: Bool { expireAfterSeconds != nil }

    /// The index as the command names it.
    var nameText: String { name ?? keyPattern.map(ShellText.text(of:)) ?? "" }

    func isFor(_ definition: IndexDefinition) -> Bool {
        if let name { return definition.name.hasSameBytes(as: name) }
        return keyPattern.map { definition.hasKeyPattern($0) } ?? false
    }

    /// Returns the index's specification after the change, and the command's answer.
    func apply(
        to definition: IndexDefinition
    ) throws(StoreError) -> (specification: BSONDocument, answer: BSONDocument) {
        var specification = definition.document
        var answer: BSONDocument = [:]
        if let prepareUnique {
            let prepares = PredicateParser.isTrue(prepareUnique)
            if prepares != definition.preparesUnique, !definition.isUnique {
                answer.append("prepareUnique_old", .bool(definition.preparesUnique))
                answer.append("prepareUnique_new", .bool(prepares))
            }
            if prepares, !definition.isUnique {
                specification.set("prepareUnique", to: true)
            } else {
                specification.removeValue(forKey: "prepareUnique")
            }
        }
        if becomesUnique, !definition.isUnique {
            guard definition.preparesUnique else {
                throw Self.isNotPrepared
            }
            specification.removeValue(forKey: "prepareUnique")
            specification.set("unique", to: true)
            answer.append("unique_new", true)
        }
        if let expireAfterSeconds {
            guard definition.keyPattern.underestimatedCount == 1 else {
                throw StoreError(
                    .invalidOptions,
                    "TTL indexes are single-field indexes, compound indexes do not support TTL")
            }
            if let old = specification["expireAfterSeconds"]?.clampedNumber {
                answer.append("expireAfterSeconds_old", .int64(old))
            }
            specification.set("expireAfterSeconds", to: .int32(Int32(expireAfterSeconds)))
            answer.append("expireAfterSeconds_new", .int64(expireAfterSeconds))
        }
        if let hidden {
            let isHidden = PredicateParser.isTrue(hidden)
            if isHidden != definition.isHidden {
                answer.append("hidden_old", .bool(definition.isHidden))
                answer.append("hidden_new", .bool(isHidden))
            }
            if isHidden {
                specification.set("hidden", to: true)
            } else {
                specification.removeValue(forKey: "hidden")
            }
        }
        return (specification, answer)
    }
}
