/// A parser of index options with MongoDB's errors.
struct IndexSpecificationParser {
    /// The Boolean options.
    static let flags: Set<String> = [
        "unique", "sparse", "hidden", "background", "dropDups", "prepareUnique",
    ]
    static let options: Set<String> =
        flags.union([
            "v", "key", "name", "ns", "partialFilterExpression", "expireAfterSeconds",
            "collation", "weights", "default_language", "language_override", "textIndexVersion",
            "2dsphereIndexVersion", "coarsestIndexedLevel", "finestIndexedLevel", "bits", "min",
            "max", "bucketSize", "wildcardProjection", "storageEngine", "comment", "clustered",
        ])

    let document: BSONDocument

    init(_ document: BSONDocument) { self.document = document }

    /// Returns an error whose message has the server's prefix.
    func error(_ code: StoreError.Code, _ reason: String) -> StoreError {
        StoreError(
            code,
            "Error in specification \(ShellText.text(of: document)) :: caused by :: \(reason)")
    }

    func checkOptions() throws(StoreError) {
        for (option, _) in document where !Self.options.contains(option) {
            throw error(
                .invalidIndexSpecificationOption,
                "The field '\(option)' is not valid for an index specification. Specification: "
                    + ShellText.text(of: document))
        }
    }

    /// Checks that new indexes may have the version.
    func checkVersion() throws(StoreError) {
        guard let value = document["v"] else { return }
        guard value.isNumber else {
            throw error(
                .typeMismatch, "The field 'v' must be a number, but got \(value.type.alias)")
        }
        guard let version = value.int64Value.flatMap({ Int32(exactly: $0) }) else {
            throw error(
                .badValue,
                "Index version must be representable as a 32-bit integer, but got "
                    + ShellText.text(of: value))
        }
        guard version == 1 || version == 2 else {
            throw error(
                .cannotCreateIndex,
                "Invalid index specification \(ShellText.text(of: document)); cannot create an "
                    + "index with v=\(version)")
        }
        if version == 1, document["collation"] != nil {
            throw error(
                .cannotCreateIndex,
                "Invalid index specification \(ShellText.text(of: document)); cannot create an "
                    + "index with the 'collation' option and v=1")
        }
    }

    func text(_ option: String) throws(StoreError) -> String? {
        guard let value = document[option] else { return nil }
        guard let text = value.stringValue else {
            throw error(
                .typeMismatch,
                "The field '\(option)' must be a string, but got \(value.type.alias)")
        }
        guard !text.isEmpty else {
            throw error(.cannotCreateIndex, "The index name cannot be empty")
        }
        return text
    }

    func flag(_ option: String) throws(StoreError) -> Bool {
        guard let value = document[option] else { return false }
        switch value {
        case .bool, .int32, .int64, .double, .decimal128: return PredicateParser.isTrue(value)
        default:
            throw error(
                .typeMismatch,
                "The field '\(option)' has value \(option): \(ShellText.text(of: value)), which "
                    + "is not convertible to bool")
        }
    }

    func document(_ option: String) throws(StoreError) -> BSONDocument? {
        guard let value = document[option] else { return nil }
        guard let found = value.documentValue else {
            throw error(
                .typeMismatch,
                "The field '\(option)' must be an object, but got \(value.type.alias)")
        }
        return found
    }

    /// Returns the complete collation; `nil` for the simple one.
    func collation() throws(StoreError) -> BSONDocument? {
        guard let value = document["collation"] else { return nil }
        guard let found = value.documentValue else {
            throw error(
                .typeMismatch,
                "The field 'collation' must be an object, but got \(value.type.alias)")
        }
        guard !found.isEmpty else {
            throw error(.badValue, "The field 'collation' cannot be an empty object.")
        }
        do throws(StoreError) {
            return try Collation(found).unlessSimple?.document
        } catch let fault {
            throw error(fault.code, fault.message)
        }
    }

    /// Checks that the index kind supports the options.
    func check(_ keys: [IndexDefinition.Key], hasCollation: Bool) throws(StoreError) {
        let isWildcard = keys.contains { key in
            IndexKeyPatternParser.isWildcard(key.path)
                && (key.kind == .ascending || key.kind == .descending)
        }
        if isWildcard, document["v"]?.int64Value == 1 {
            throw error(
                .cannotCreateIndex, "Wildcard indexes are not supported in index version v:1")
        }
        var plugin = isWildcard ? "wildcard" : ""
        for key in keys { if case .special(let name) = key.kind { plugin = name } }
        if let projection = document["wildcardProjection"] {
            guard let fields = projection.documentValue else {
                throw error(
                    .typeMismatch,
                    "The field 'wildcardProjection' must be a non-empty object, but got "
                        + projection.type.alias)
            }
            guard isWildcard, keys.contains(where: { $0.path == "$**" }) else {
                throw error(
                    isWildcard ? .failedToParse : .badValue,
                    "The field 'wildcardProjection' is only allowed when 'key' is "
                        + "{\"$**\": ±1}")
            }
            guard !fields.isEmpty else {
                throw error(
                    .failedToParse, "The 'wildcardProjection' field can't be an empty object")
            }
        }
        if try flag("unique") {
            guard plugin != "hashed" else {
                throw error(
                    .hashedIndexNotUnique,
                    "Currently hashed indexes cannot guarantee uniqueness. Use a regular index.")
            }
            guard !isWildcard else { throw unsupported(plugin, "the unique option") }
        }
        if isWildcard, try flag("sparse") { throw unsupported(plugin, "the sparse option") }
        if isWildcard, document["expireAfterSeconds"] != nil {
            throw unsupported(plugin, "the expireAfterSeconds option")
        }
        if hasCollation, plugin == "text" || plugin == "2d" {
            throw unsupported(
                plugin,
                "collation: \(ShellText.text(of: document["collation"] ?? .null))")
        }
    }

    private func unsupported(_ plugin: String, _ what: String) -> StoreError {
        error(.cannotCreateIndex, "Index type '\(plugin)' does not support \(what)")
    }

    /// Returns the number of seconds after which documents expire.
    func seconds(fields: Int) throws(StoreError) -> Double? {
        guard let value = document["expireAfterSeconds"] else { return nil }
        let seconds: Double
        switch value {
        case .int32(let number): seconds = Double(number)
        case .int64(let number): seconds = Double(number)
        case .double(let number): seconds = number.isNaN ? 2_147_483_647 : number
        case .decimal128(let number):
            let double = number.doubleValue
            seconds = double.isNaN ? 2_147_483_647 : double
        default:
            throw error(
                .cannotCreateIndex,
                "TTL index 'expireAfterSeconds' option must be numeric, but received a type of "
                    + "'\(value.type.alias)'. Index spec: \(ShellText.text(of: document))")
        }
        guard seconds > -1, seconds < 2_147_483_648 else {
            throw error(
                .cannotCreateIndex,
                "TTL index 'expireAfterSeconds' option must be within an acceptable range, try "
                    + "a different number than \(ShellText.text(of: value)). Index spec: "
                    + ShellText.text(of: document))
        }
        guard fields == 1 else {
            throw error(
                .cannotCreateIndex,
                "TTL indexes are single-field indexes, compound indexes do not support TTL. "
                    + "Index spec: \(ShellText.text(of: document))")
        }
        return seconds.rounded(.towardZero) + 0
    }
}
