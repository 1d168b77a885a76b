internal import BSONStore

extension RuleSet {
    /// Loads the rules of an app from files in the format that App Services exports.
    ///
    /// - Parameters:
    ///   - files: the contents of files by their paths below the folder; files without rules are
    ///     ignored.
    ///   - legacyFallThrough: whether the default roles are tried when no role from before March
    ///     2023 applies, as in that version.
    /// - Throws: the first error, in the order of the paths.
    public init(
        files: [String: [UInt8]], legacyFallThrough: Bool = false
    ) throws(RuleError) {
        try self.init(
            entries: files.map { ($0.key, $0.value) }, legacyFallThrough: legacyFallThrough)
    }

    /// Loads the rules of an app whose paths may differ only in Unicode normalization.
    ///
    /// - Throws: the first error, in the byte order of the paths.
    package init(
        entries: [(path: String, bytes: [UInt8])], legacyFallThrough: Bool = false
    ) throws(RuleError) {
        self.init()
        var loader = RuleSetLoader(fallsThrough: legacyFallThrough)
        for (path, bytes) in entries.sorted(by: { Name($0.path) < Name($1.path) }) {
            guard let kind = RuleFileKind(path) else { continue }
            try loader.load(path, kind, bytes)
        }
        self = loader.rules
        warnings += customDataWarnings + bucketWarnings
        if customData == nil, let place = loader.customDataUse {
            warnings.append(
                place.warning(
                    "%%user.custom_data is missing for every user: auth/custom_user_data.json does "
                        + "not enable a collection of custom data. The data that \"stitchsync "
                        + "adduser --custom-data\" stores is %%user.data"))
        }
    }

    /// Warnings about roles in a bucket of files, which have no effect.
    private var bucketWarnings: [RuleWarning] {
        namespaces.filter(AttachmentBucket.holds).compactMap { namespace in
            roles(of: namespace)?.roles.first?.place.warning(
                "These rules have no effect: users under rules read and write the files in "
                    + "\(namespace) by the rules of the documents that refer to them")
        }
    }

    /// Warnings about writable custom data: a user who can write it can grant anyone the
    /// permissions that depend on it.
    private var customDataWarnings: [RuleWarning] {
        guard let place = customData?.namespace, roles(of: place) == nil, let defaults else {
            return []
        }
        return defaults.roles.filter(\.mayWrite).map { role in
            role.place.warning(
                "The default role \"\(role.name)\" lets users write \(place), the custom data by "
                    + "which rules know users; give \(place) rules of its own")
        }
    }
}

extension String {
    /// The path components, split at each slash byte even before a combining accent.
    fileprivate var pathParts: [String] {
        utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
    }
}

/// The content of a file of an exported app.
enum RuleFileKind: Sendable, Hashable {
    case collectionRules, defaultRules, schema, sync, value, environment, app, customData
    case accountDeletion

    /// Classifies a path; `nil` for a file without rules.
    init?(_ path: String) {
        let parts = path.pathParts
        guard let name = parts.last, name.hasByteSuffix(".json") else { return nil }
        let folder = parts.dropLast().last
        switch name {
        case "rules.json": self = .collectionRules
        case "default_rule.json": self = .defaultRules
        case "schema.json": self = .schema
        case "custom_user_data.json": self = .customData
        case "account_deletion.json": self = .accountDeletion
        case "realm_config.json", "root_config.json", "app_config.json": self = .app
        case "config.json" where folder == "sync" || parts.count == 1: self = .sync
        case "sync.json": self = .sync
        default:
            switch folder {
            case "values": self = .value
            case "environments": self = .environment
            case "rules": self = .collectionRules
            default: return nil
            }
        }
    }
}

/// The state of loading an app's files.
struct RuleSetLoader {
    var rules = RuleSet()
    let fallsThrough: Bool
    /// The first file that names `%%user.custom_data`.
    private(set) var customDataUse: RuleSourceLocation?
    /// The constants of the environments, by tag.
    private var environments: [Name: BSONDocument] = [:]

    init(fallsThrough: Bool) { self.fallsThrough = fallsThrough }

    /// Loads one file.
    mutating func load(
        _ path: String, _ kind: RuleFileKind, _ bytes: [UInt8]
    ) throws(RuleError) {
        let place = RuleSourceLocation(file: path)
        guard bytes.count <= RuleLimits.fileBytesMax else {
            throw place.error(
                .invalidValue, "The file is larger than \(RuleLimits.fileBytesMax) bytes")
        }
        let value: BSONValue
        do {
            value = try BSONValue(extendedJSONBytes: bytes)
        } catch {
            throw place.error(.invalidJSON, "The file is not JSON: \(error)")
        }
        if customDataUse == nil, value.mentions("%%user.custom_data") { customDataUse = place }
        let object = try RuleObjectReader(value, at: place)
        switch kind {
        case .collectionRules: try collection(object, path)
        case .defaultRules: try defaults(object)
        case .schema: try schema(object, path)
        case .sync: try sync(object)
        case .value: try constant(object)
        case .environment: try environment(object, path)
        case .app:
            rules.constants.environmentTag = try object.optionalText("environment") ?? ""
            useEnvironment()
        case .customData: try customData(object)
        case .accountDeletion: rules.accountDeletion = try AccountDeletionParser.policy(object)
        }
    }

    private mutating func collection(_ object: RuleObjectReader, _ path: String) throws(RuleError) {
        try object.allow([
            "_id", "id", "database", "collection", "roles", "filters", "schema", "relationships",
            "template_id",
        ])
        let parts = path.pathParts
        let isInFolder = parts.last == "rules.json" && parts.count >= 3
        let database =
            try object.optionalText("database")
            ?? (isInFolder ? parts[parts.count - 3] : nil)
        let collection =
            try object.optionalText("collection")
            ?? (isInFolder ? parts[parts.count - 2] : nil)
        guard let database, let collection else {
            let key = database == nil ? "database" : "collection"
            throw object.place.error(.missingKey, "The key \(key) is missing")
        }
        let namespace = Namespace(database, collection)
        do {
            try namespace.check()
        } catch {
            throw object.place.error(.invalidValue, error.message)
        }
        if let other = rules.collections[namespace] {
            throw object.place.error(
                .duplicateCollection, "\(other.file) describes \(namespace) as well")
        }
        rules.collections[namespace] = try list(object.array("roles"), .unified, path)
    }

    private mutating func defaults(_ object: RuleObjectReader) throws(RuleError) {
        try object.allow(["_id", "id", "roles", "filters"])
        if let other = rules.defaults {
            throw object.place.error(
                .duplicateCollection, "\(other.file) holds default roles as well")
        }
        rules.defaults = try list(object.array("roles"), .unified, object.place.file)
    }

    private mutating func list(
        _ values: [(value: BSONValue, place: RuleSourceLocation)], _ layout: RoleParser.Layout,
        _ file: String
    ) throws(RuleError) -> RoleList {
        var parser = RoleParser(layout)
        let roles = try parser.roles(values)
        rules.warnings += parser.warnings
        let isLegacy = if case .legacy = layout { true } else { false }
        return RoleList(roles: roles, file: file, fallsThrough: isLegacy && fallsThrough)
    }

    /// Records the collection of a schema's type.
    private mutating func schema(_ object: RuleObjectReader, _ path: String) throws(RuleError) {
        let parts = path.pathParts
        guard parts.count >= 2, let title = try object.optionalText("title") else { return }
        rules.collectionNames[title] = Name(parts[parts.count - 2])
    }

    private mutating func constant(_ object: RuleObjectReader) throws(RuleError) {
        let name = try object.text("name")
        guard let value = object["value"] else {
            throw object.place.error(.missingKey, "The key value is missing")
        }
        guard !(try object.flag("from_secret")) else {
            rules.warnings.append(
                object.place["from_secret"].warning("Secrets have no value here"))
            return
        }
        rules.constants.values.set(name, to: value)
    }

    private mutating func environment(_ object: RuleObjectReader, _ path: String) throws(RuleError)
    {
        let name = path.pathParts.last.map { String($0.dropLast(5)) } ?? ""
        guard let values = try object.object("values") else { return }
        environments[name == "no-environment" ? "" : name] = BSONDocument(
            values.entries.map { ($0.key, $0.value) })
        useEnvironment()
    }

    private mutating func useEnvironment() {
        rules.constants.environmentValues =
            environments[rules.constants.environmentTag] ?? [:]
    }

    private mutating func customData(_ object: RuleObjectReader) throws(RuleError) {
        guard try object.flag("enabled") else { return }
        let namespace = Namespace(
            try object.text("database_name"), try object.text("collection_name"))
        do {
            try namespace.check()
        } catch {
            throw object.place.error(.invalidValue, error.message)
        }
        rules.customData = RuleSet.CustomData(
            namespace: namespace,
            userIDField: try object.text("user_id_field"))
    }
}

// MARK: - Sync configuration

extension RuleSetLoader {
    private static let syncKeys: Set<String> = [
        "type", "state", "service_name", "database_name", "development_mode_enabled",
        "queryable_fields_names", "collection_queryable_fields_names",
        "indexed_queryable_fields_names", "client_max_offline_days",
        "is_recovery_mode_disabled", "last_disabled", "asymmetric_tables", "permissions",
        "partition", "max_offline_days",
    ]

    private mutating func sync(_ object: RuleObjectReader) throws(RuleError) {
        guard let type = try object.optionalText("type") else { return }
        try object.allow(Self.syncKeys)
        guard type == "flexible" else {
            throw object.place["type"].error(
                .invalidValue, "Only flexible sync has rules; this is \"\(type)\"")
        }
        rules.isSynced = true
        rules.database = try object.optionalText("database_name").map { Name($0) }
        for (value, place) in try object.array("queryable_fields_names") {
            rules.queryable.insert(try Self.queryable(value, at: place))
        }
        for key in ["collection_queryable_fields_names", "indexed_queryable_fields_names"] {
            guard let value = object[key], value != .null else { continue }
            if value.arrayValue != nil {
                for (name, place) in try object.array(key) {
                    rules.queryable.insert(try Self.queryable(name, at: place))
                }
                continue
            }
            guard let map = try object.object(key) else { continue }
            for (name, _) in map.entries {
                for (value, place) in try map.array(name) {
                    let field = try Self.queryable(value, at: place)
                    rules.queryableByCollection[name, default: []].insert(field)
                }
            }
        }
        if let permissions = try object.object("permissions") { try self.permissions(permissions) }
    }

    private static func queryable(
        _ value: BSONValue, at place: RuleSourceLocation
    ) throws(RuleError) -> String {
        let name = try RuleObjectReader.text(value, at: place)
        guard !name.isEmpty, !name.hasBytePrefix("$"), !name.utf8.contains(UInt8(ascii: ".")) else {
            throw place.error(
                .invalidValue, "A queryable field is at the top of a document: \"\(name)\"")
        }
        return name
    }

    /// Loads permissions from before March 2023: either `rules` with an array for each type, or the
    /// types themselves, each with `roles`.
    private mutating func permissions(_ object: RuleObjectReader) throws(RuleError) {
        let file = object.place.file
        for key in ["defaultRoles", "default_roles"] where object[key] != nil {
            guard rules.defaults == nil else {
                throw object.place[key].error(
                    .duplicateCollection, "There are default roles already")
            }
            rules.defaults = try list(object.array(key), .legacy, file)
        }
        if let types = try object.object("rules") {
            for (type, value) in types.entries {
                let place = types.place[type]
                let roles =
                    value.arrayValue != nil
                    ? try types.array(type) : try RuleObjectReader(value, at: place).array("roles")
                rules.types[type] = try list(roles, .legacy, file)
            }
        }
        let others = object.entries.filter {
            !["rules", "defaultRoles", "default_roles"].contains($0.key)
        }
        for (type, value) in others {
            let inner = try RuleObjectReader(value, at: object.place[type])
            try inner.allow(["roles"])
            guard rules.types[type] == nil else {
                throw object.place[type].error(
                    .duplicateCollection, "The type has roles under rules as well")
            }
            rules.types[type] = try list(inner.array("roles"), .legacy, file)
        }
    }
}

extension BSONValue {
    /// Whether a key or a text in the value begins with a text.
    fileprivate func mentions(_ text: String) -> Bool {
        switch self {
        case .string(let own): own.hasBytePrefix(text)
        case .array(let values): values.values.contains { $0.mentions(text) }
        case .document(let fields):
            fields.contains { $0.key.hasBytePrefix(text) || $0.value.mentions(text) }
        default: false
        }
    }
}
