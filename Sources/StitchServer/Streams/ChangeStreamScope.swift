internal import BSONStore

/// Says whose changes a stream is about: a collection's, a database's or all.
enum ChangeStreamScope: Sendable, Hashable {
    case collection(Namespace)
    case database(String)
    case cluster

    /// Finds out what is watched.
    ///
    /// - Parameter namespace: of the aggregate; the name `$cmd.aggregate` stands for a database.
    /// - Throws: 72 (InvalidOptions) and 73 (InvalidNamespace) with MongoDB's texts.
    init(_ namespace: Namespace, isForCluster: Bool) throws(CommandFailure) {
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
        guard !Self.internalDatabases.contains(namespace.database) else {
            throw CommandFailure(
                .invalidNamespace,
                "$changeStream may not be opened on the internal \(namespace.database) database")
        }
        guard isDatabase || !namespace.collection.hasPrefix("system.") else {
            throw CommandFailure(
                .invalidNamespace,
                "$changeStream may not be opened on the internal \(namespace) collection")
        }
        self = isDatabase ? .database(namespace.database) : .collection(namespace)
    }

    /// Databases whose changes no stream tells of.
    static let internalDatabases: Set<String> = ["admin", "config", "local"]

    /// The only collection whose changes are read, where there is one.
    var namespace: Namespace? {
        if case .collection(let namespace) = self { namespace } else { nil }
    }

    /// Whether the stream tells of documents of a collection.
    func includes(_ namespace: Namespace) -> Bool {
        guard !namespace.collection.hasPrefix("system.") else { return false }
        return switch self {
        case .collection(let own): namespace == own
        case .database(let database): namespace.database == database
        case .cluster: !Self.internalDatabases.contains(namespace.database)
        }
    }

    /// Whether the stream tells of a change.
    func includes(_ change: StoreChange) -> Bool {
        let namespace = change.namespace
        guard !namespace.collection.hasPrefix("system.") else { return false }
        switch self {
        case .collection(let own): return namespace == own
        case .database(let database):
            return namespace.database == database && change.kind != .renameTarget
        case .cluster:
            return !Self.internalDatabases.contains(namespace.database)
                && change.kind != .renameTarget
        }
    }

    /// Whether the stream, if it shows such changes, tells of one of a definition.
    func includes(_ change: DefinitionChange) -> Bool {
        includes(change.namespace)
    }

    /// Whether the stream is over behind a change.
    func ends(with change: StoreChange) -> Bool {
        switch (self, change.kind) {
        case (.collection(let own), .drop), (.collection(let own), .rename),
            (.collection(let own), .renameTarget):
            change.namespace == own
        case (.database(let database), .dropDatabase): change.namespace.database == database
        case (.collection, _), (.database, _), (.cluster, _): false
        }
    }
}
