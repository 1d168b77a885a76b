public import BSONStore

/// The parsed and checked rules of an app, for any user.
public struct RuleSet: Sendable, Hashable {
    /// The location of the users' custom data.
    public struct CustomData: Sendable, Hashable {
        /// The collection.
        public let namespace: Namespace
        /// The field that holds the user's id.
        public let userIDField: String
    }

    /// The constants that conditions can use.
    public internal(set) var constants = RuleConstants()
    /// The location of the users' custom data; `nil` without custom data.
    public internal(set) var customData: CustomData?
    /// The handling of documents when a user deletes the account; `nil` without one.
    public internal(set) var accountDeletion: AccountDeletionPolicy?
    /// Whether roles must be compatible with sync, as when sync is configured.
    public var isSynced = false
    /// Warnings about rules that are allowed but probably unintended.
    public internal(set) var warnings: [RuleWarning] = []
    /// The queryable fields of all collections.
    var queryable: Set<Name> = []
    /// The queryable fields by collection name.
    var queryableByCollection: [Name: Set<Name>] = [:]
    /// The only database of an app with sync; `nil` without sync.
    var database: Name?
    var collections: [Namespace: RoleList] = [:]
    /// Roles from before March 2023, by type name.
    var types: [Name: RoleList] = [:]
    /// The names of collections by type name.
    var collectionNames: [Name: Name] = [:]
    var defaults: RoleList?

    /// Makes an empty rule set, which denies everything.
    public init() {}

    /// Returns the queryable fields of a collection, without `_id`, in order.
    public func queryableFields(_ collection: String) -> [String] {
        queryableNames(collection).sorted().map(\.text)
    }

    /// Returns the names of a collection's queryable fields, without `_id`.
    func queryableNames(_ collection: String) -> Set<Name> {
        queryable.union(queryableByCollection[collection] ?? [])
    }

    /// Returns the permissions of a user in a collection.
    public func access(to namespace: Namespace, for user: RuleUser) -> RuleAccess {
        let binding = RuleExpressionBinding(user: user, constants: constants)
        let own = roles(of: namespace)
        let defaults = self.defaults?.roles ?? []
        func facts(_ roles: [RuleRole]) -> [RoleFacts] {
            let queryable = queryableNames(namespace.collection)
            return roles.map { role in
                RoleFacts(
                    applies: binding.bind(role.applyWhen) == .constant(true),
                    isSyncable: !isSynced || role.syncFindings(queryable: queryable).isEmpty)
            }
        }
        let decision = RoleDecision.decide(
            own: own.map { facts($0.roles) }, defaults: facts(defaults),
            fallsThrough: own?.fallsThrough ?? false, isSynced: isSynced)
        switch decision {
        case .own(let index):
            guard let own else { return RuleAccess(namespace, denied: .noRole) }
            return RuleAccess(namespace, own.roles[index], binding)
        case .byDefault(let index): return RuleAccess(namespace, defaults[index], binding)
        case .notSyncable(let isDefault, let index):
            let role = isDefault ? defaults[index] : own?.roles[index]
            return RuleAccess(namespace, denied: .roleNotSyncable, role: role?.name)
        case .none: return RuleAccess(namespace, denied: .noRole)
        }
    }

    /// Returns the roles of a collection; `nil` when it has none of its own.
    func roles(of namespace: Namespace) -> RoleList? {
        if let list = collections[namespace] { return list }
        guard database == nil || database == Name(namespace.database) else { return nil }
        return types.first { type, _ in
            (collectionNames[type] ?? type) == Name(namespace.collection)
        }?.value
    }

    /// The reasons why roles cannot be used with sync, in the order of the files.
    public var syncFindings: [SyncIncompatibility] {
        var found: [SyncIncompatibility] = []
        let named = collections.map { ($0.key.collection, $0.value) } + types.map { ($0.text, $1) }
        for (name, list) in named.sorted(by: { ($0.1.file, $0.0) < ($1.1.file, $1.0) }) {
            let queryable = queryableNames(collectionNames[name]?.text ?? name)
            for role in list.roles { found += role.syncFindings(queryable: queryable) }
        }
        for role in defaults?.roles ?? [] { found += role.syncFindings(queryable: queryable) }
        return found
    }

    /// The collections with roles of their own, sorted; types from before 2023 by their names.
    public var namespaces: [Namespace] {
        let typed = types.keys.map {
            Namespace(database?.text ?? "", (collectionNames[$0] ?? $0).text)
        }
        return (Array(collections.keys) + typed).sorted {
            $0.description.bytesPrecede($1.description)
        }
    }
}
