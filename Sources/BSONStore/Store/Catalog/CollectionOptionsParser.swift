/// A parser of collection options with MongoDB's errors.
struct CollectionOptionsParser {
    /// The parsed options.
    struct Parts {
        var document: BSONDocument = [:]
        var validator: BSONDocument?
        var level: CollectionOptions.ValidationLevel?
        var action: CollectionOptions.ValidationAction?
        var capped: CollectionOptions.Capped?
        var collation: BSONDocument?
        var keepsImages = false
        var view: CollectionOptions.View?
    }

    /// The arguments that every command accepts.
    static let generalArguments: Set<String> = [
        "$db", "$readPreference", "$clusterTime", "apiVersion", "apiStrict",
        "apiDeprecationErrors", "comment", "lsid", "maxTimeMS", "readConcern", "writeConcern",
        "txnNumber", "autocommit", "startTransaction", "stmtId",
    ]
    private static let fields: Set<String> = [
        "capped", "size", "max", "validator", "validationLevel", "validationAction", "collation",
        "changeStreamPreAndPostImages", "viewOn", "pipeline", "storageEngine",
        "indexOptionDefaults", "idIndex", "autoIndexId", "clusteredIndex", "timeseries",
        "expireAfterSeconds", "encryptedFields", "temp", "flags", "recordPreImages",
    ]
    private static let numbers = "[long, int, decimal, double]"
    private static let numberTypes: Set<BSONType> = [.int32, .int64, .double, .decimal128]

    let command: BSONDocument
    let name: String

    init(_ command: BSONDocument, of name: String) {
        self.command = command
        self.name = name
    }

    /// Parses the options of `create`.
    func parts() throws(StoreError) -> Parts {
        for (field, _) in command
        where !Self.fields.contains(field) && field != name
            && !Self.generalArguments.contains(field)
        {
            throw StoreError(
                .idlUnknownField,
                "BSON field '\(name).\(field)' is an unknown field.")
        }
        for field in ["timeseries", "encryptedFields"] where value(field) != nil {
            throw StoreError(
                .commandNotSupported, "collections with '\(field)' are not supported")
        }
        var parts = Parts()
        parts.capped = try capped()
        parts.validator = try document("validator").flatMap { $0.isEmpty ? nil : $0 }
        if let validator = parts.validator { try Self.check(validator) }
        parts.level = try enumeration("validationLevel")
        parts.action = try enumeration("validationAction")
        parts.collation = try collation()
        parts.keepsImages = try images() ?? false
        parts.view = try view()
        parts.document = shown(parts)
        if parts.view != nil { try checkView() }
        return parts
    }

    /// Returns the options in the server's order, without those that have their default.
    private func shown(_ parts: Parts) -> BSONDocument {
        var shown: BSONDocument = [:]
        if let capped = parts.capped {
            shown.append("capped", true)
            shown.append("size", Self.number(capped.bytesMax))
            if let max = capped.documentsMax { shown.append("max", Self.number(max)) }
        }
        if parts.keepsImages {
            shown.append("changeStreamPreAndPostImages", ["enabled": true])
        }
        for field in ["storageEngine", "indexOptionDefaults"] {
            if let value = value(field)?.documentValue, !value.isEmpty {
                shown.append(field, .document(value))
            }
        }
        if let validator = parts.validator { shown.append("validator", .document(validator)) }
        if let level = parts.level { shown.append("validationLevel", .string(level.rawValue)) }
        if let action = parts.action { shown.append("validationAction", .string(action.rawValue)) }
        if let collation = parts.collation { shown.append("collation", .document(collation)) }
        if let clustered = value("clusteredIndex") {
            shown.append("clusteredIndex", Self.clustered(clustered))
        }
        if let view = parts.view {
            shown.append("viewOn", .string(view.on))
            shown.append("pipeline", .array(view.pipeline))
        }
        return shown
    }

    /// Returns the clustered index with its default fields.
    private static func clustered(_ value: BSONValue) -> BSONValue {
        let given = value.documentValue ?? [:]
        return [
            "v": given["v"] ?? 2, "key": given["key"] ?? ["_id": 1],
            "name": given["name"] ?? "_id_", "unique": true,
        ]
    }

    private static func number(_ value: Int64) -> BSONValue {
        Int32(exactly: value).map { .int32($0) } ?? .int64(value)
    }
}

// MARK: - Fields

extension CollectionOptionsParser {
    /// Returns a field's value; null counts as missing.
    func value(_ field: String) -> BSONValue? {
        guard let value = command[field], value != .null else { return nil }
        return value
    }

    /// Returns a field that must hold a document.
    func document(_ field: String) throws(StoreError) -> BSONDocument? {
        guard let value = value(field) else { return nil }
        guard let document = value.documentValue else {
            throw mismatch(field, value, "type 'object'")
        }
        return document
    }

    /// Returns a field that must hold one of a few strings.
    func enumeration<E: RawRepresentable>(
        _ field: String
    ) throws(StoreError) -> E? where E.RawValue == String {
        guard let value = value(field) else { return nil }
        guard let text = value.stringValue else { throw mismatch(field, value, "type 'string'") }
        guard let found = E(rawValue: text) else {
            throw StoreError(
                .badValue,
                "Enumeration value '\(text)' for field '\(name).\(field)' is not a valid value.")
        }
        return found
    }

    /// Whether the collection keeps documents before and after a change; `nil` without the option.
    func images() throws(StoreError) -> Bool? {
        let field = "changeStreamPreAndPostImages"
        guard let document = try document(field) else { return nil }
        for (key, _) in document where key != "enabled" {
            throw StoreError(
                .idlUnknownField,
                "BSON field '\(name).\(field).\(key)' is an unknown field.")
        }
        guard let value = document["enabled"] else {
            throw StoreError(
                .idlFailedToParse,
                "BSON field '\(name).\(field).enabled' is missing but a required field")
        }
        guard let enabled = value.boolValue else {
            throw mismatch("\(field).enabled", value, "type 'bool'")
        }
        return enabled
    }

    /// Returns an integer within bounds.
    func number(
        _ field: String, _ bounds: ClosedRange<Int64>
    ) throws(StoreError) -> Int64? {
        guard let value = value(field) else { return nil }
        guard Self.numberTypes.contains(value.type) else {
            throw mismatch(field, value, "types '\(Self.numbers)'")
        }
        let number = value.clampedNumber ?? 0
        guard number >= bounds.lowerBound else {
            throw outOfBounds(field, ">= \(bounds.lowerBound)", number)
        }
        guard number <= bounds.upperBound else {
            throw outOfBounds(field, "<= \(bounds.upperBound)", number)
        }
        return number
    }

    /// Checks that a validator is a filter that needs neither an index nor scripts.
    static func check(_ validator: BSONDocument) throws(StoreError) {
        for (key, _) in validator where ["$where", "$text", "$near", "$nearSphere"].contains(key) {
            throw StoreError(.badValue, "\(key) is not allowed in this context")
        }
        guard !holdsFunction(.document(validator)) else {
            throw .location(4_660_800, "$function cannot be used inside a validator.")
        }
        _ = try Filter(validator)
    }

    private static func holdsFunction(_ value: BSONValue) -> Bool {
        switch value {
        case .document(let document):
            document.contains { key, value in
                key == "$function" || key != "$literal" && holdsFunction(value)
            }
        case .array(let array): array.contains(where: holdsFunction)
        default: false
        }
    }

    private func outOfBounds(_ field: String, _ bound: String, _ number: Int64) -> StoreError {
        StoreError(
            .badValue,
            "BSON field '\(field)' value must be \(bound), actual value '\(number)'")
    }

    private func mismatch(
        _ field: String, _ value: BSONValue, _ expected: String
    ) -> StoreError {
        StoreError(
            .typeMismatch,
            "BSON field '\(name).\(field)' is the wrong type '\(value.type.alias)', expected "
                + expected)
    }

    private func capped() throws(StoreError) -> CollectionOptions.Capped? {
        if let value = value("capped"), value.boolValue == nil,
            !Self.numberTypes.contains(value.type)
        {
            throw mismatch("capped", value, "types '[bool, long, int, decimal, double]'")
        }
        let isCapped = value("capped").map(PredicateParser.isTrue) ?? false
        let size = try number("size", 1...1_125_899_906_842_624)
        let max = try number("max", .min...Int64(Int32.max))
        guard isCapped else {
            guard size == nil, max == nil else {
                throw StoreError(
                    .invalidOptions,
                    "the 'capped' field needs to be true when either the 'size' or 'max' fields "
                        + "are present")
            }
            return nil
        }
        guard let size else {
            throw StoreError(
                .invalidOptions, "the 'size' field is required when 'capped' is true")
        }
        // Sizes are multiples of 256, as in the server.
        return CollectionOptions.Capped(
            bytesMax: (size + 255) / 256 * 256, documentsMax: max.flatMap { $0 > 0 ? $0 : nil })
    }

    private func collation() throws(StoreError) -> BSONDocument? {
        guard let document = try document("collation") else { return nil }
        // The simple collation compares bytes, as no collation does.
        return try Collation(document).unlessSimple?.document
    }

    private func view() throws(StoreError) -> CollectionOptions.View? {
        guard let source = value("viewOn") else {
            guard value("pipeline") == nil else {
                throw StoreError(
                    .invalidOptions,
                    "'pipeline' requires 'viewOn' to also be specified")
            }
            return nil
        }
        guard let on = source.stringValue else {
            throw mismatch("viewOn", source, "type 'string'")
        }
        guard !on.isEmpty else { throw StoreError(.badValue, "'viewOn' cannot be empty") }
        guard let stages = value("pipeline") else {
            return CollectionOptions.View(on: on, pipeline: [])
        }
        guard let pipeline = stages.arrayValue else {
            throw mismatch("pipeline", stages, "type 'array'")
        }
        // As in MongoDB, a null is no stage.
        return CollectionOptions.View(
            on: on, pipeline: BSONArray(pipeline.filter { $0.type != .null }))
    }

    private func checkView() throws(StoreError) {
        for field in [
            "capped", "size", "max", "autoIndexId", "idIndex", "validator", "validationLevel",
            "validationAction", "storageEngine", "changeStreamPreAndPostImages",
        ] where value(field) != nil && value(field) != .bool(false) {
            throw StoreError(
                .invalidOptions, "option not supported on a view: \(field)")
        }
    }
}
