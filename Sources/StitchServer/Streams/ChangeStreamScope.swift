internal import BSONStore
internal import StitchRules

/// The scope of a change stream: a collection, a database or all databases.
enum ChangeStreamScope: Sendable, Hashable {
    case collection(Namespace)
    case database(Name)
    case cluster

    /// Creates the scope of an `aggregate`.
    ///
    /// - Parameters:
    ///   - namespace: the namespace of the aggregate; `$cmd.aggregate` stands for a database.
    ///   - isAtGateway: whether a gateway's client asks. Gateways themselves follow what they keep
    ///     in an upstream.
    /// - Throws: 72 (InvalidOptions) and 73 (InvalidNamespace) with MongoDB's texts.
    init(
        _ namespace: Namespace, isForCluster: Bool, isAtGateway: Bool = false
    ) throws(CommandFailure) {
        let isDatabase = namespace.collection == "$cmd.aggregate"
        if isForCluster {
            guard isDatabase, namespace.database == "admin" else {
                throw CommandFailure(
                    .invalidOptions,
                    "A $changeStream with 'allChangesForCluster:true' may only be opened on the "
                        + "'admin' database, and with no collection name; found \(namespace)")
            }
            self = .cluster
            return
        }
        let isOfGateways = namespace.database == RuleAccessPolicy.gatewayDatabase
        guard !Self.internalDatabases.contains(namespace.database) || isOfGateways && !isAtGateway
        else {
            throw CommandFailure(
                .invalidNamespace,
                "$changeStream may not be opened on the internal \(namespace.database) database")
        }
        guard isDatabase || !namespace.collection.hasBytePrefix("system.") else {
            throw CommandFailure(
                .invalidNamespace,
                "$changeStream may not be opened on the internal \(namespace) collection")
        }
        self = isDatabase ? .database(Name(namespace.database)) : .collection(namespace)
    }

    /// The databases that change streams exclude.
    static let internalDatabases: Set<String> = [
        "admin", "config", "local", RuleAccessPolicy.gatewayDatabase,
    ]

    /// The collection, for a stream on one collection.
    var namespace: Namespace? {
        if case .collection(let namespace) = self { namespace } else { nil }
    }

    /// Whether the stream includes the documents of a collection.
    func includes(_ namespace: Namespace) -> Bool {
        guard !namespace.collection.hasBytePrefix("system.") else { return false }
        return switch self {
        case .collection(let own): namespace == own
        case .database(let database): Name(namespace.database) == database
        case .cluster: !Self.internalDatabases.contains(namespace.database)
        }
    }

    /// Whether the stream includes a change.
    func includes(_ change: StoreChange) -> Bool {
        let namespace = change.namespace
        guard !namespace.collection.hasBytePrefix("system.") else { return false }
        switch self {
        case .collection(let own): return namespace == own
        case .database(let database):
            return Name(namespace.database) == database && change.isReportedOutside
        case .cluster:
            return !Self.internalDatabases.contains(namespace.database)
                && change.isReportedOutside
        }
    }

    /// Whether a stream with expanded events includes a definition change.
    func includes(_ change: DefinitionChange) -> Bool {
        // As in MongoDB, a stream on a collection tells nothing of a view of that name.
        includes(change.namespace) && (namespace == nil || change.uuid != nil)
    }

    /// Whether a change ends the stream.
    func ends(with change: StoreChange) -> Bool {
        switch (self, change.kind) {
        case (.collection(let own), .drop), (.collection(let own), .rename),
            (.collection(let own), .renameTarget):
            change.namespace == own
        case (.database(let database), .dropDatabase):
            Name(change.namespace.database) == database
        case (.collection, _), (.database, _), (.cluster, _): false
        }
    }
}

extension StoreChange {
    /// Whether streams that watch more than the collection report the change: a rename within a
    /// database is reported once, for the old name.
    fileprivate var isReportedOutside: Bool { kind != .renameTarget || isRenameAcrossDatabases }

    /// Whether the collection was renamed to another database.
    ///
    /// MongoDB copies such a collection to a temporary one, renames that, and drops the old one.
    var isRenameAcrossDatabases: Bool {
        guard kind == .rename || kind == .renameTarget else { return false }
        let other = after?[kind == .rename ? "to" : "from"]?.documentValue
        guard let database = other?["db"]?.stringValue else { return false }
        return !database.hasSameBytes(as: namespace.database)
    }
}
