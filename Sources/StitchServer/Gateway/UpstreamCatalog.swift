internal import BSONStore

/// A collection of the upstream: what decides how it answers, besides its documents.
struct UpstreamCollection: Sendable, Hashable {
    /// The entry of `listCollections`.
    let entry: BSONDocument
    /// The specifications of its indexes; `nil` when they were not asked for.
    let indexes: [BSONDocument]?

    /// The options, as `listCollections` shows them.
    var options: BSONDocument { entry["options"]?.documentValue ?? [:] }

    /// The UUID of the collection.
    var uuid: BSONValue? { entry["info"]?.documentValue?["uuid"] }

    /// The collection that a view reads; `nil` for a collection.
    var viewOn: String? { options["viewOn"]?.stringValue }

    /// The pipeline of a view.
    var pipeline: [BSONValue] { options["pipeline"]?.arrayValue.map(Array.init) ?? [] }

    /// Whether texts are compared by a default collation.
    var hasCollation: Bool {
        options["collation"]?.documentValue?["locale"]?.stringValue.map { $0 != "simple" } ?? false
    }

    /// Whether change streams can show the documents before changes.
    var keepsImages: Bool {
        options["changeStreamPreAndPostImages"]?.documentValue?["enabled"]?.isTrue ?? false
    }

    /// The options that decide about answers; the upstream itself sees to the others, such as the
    /// size of a capped collection.
    private static let answering = [
        "validator", "validationLevel", "validationAction", "collation", "viewOn", "pipeline",
    ]

    /// Returns the command that creates such a collection in an excerpt.
    func creation(_ name: String) -> BSONDocument {
        var command: BSONDocument = ["create": .string(name)]
        for field in Self.answering {
            if let value = options[field] { command.append(field, value) }
        }
        return command
    }
}

/// The collections of the upstream, asked for when they are needed and known for a moment.
final class UpstreamCatalog: Sendable {
    private struct Known: Sendable {
        let definition: UpstreamCollection
        let askedAt: ContinuousClock.Instant
    }

    /// How long a known definition is used.
    ///
    /// A change through this gateway is noticed at once; a change elsewhere may take this long.
    private static let lifetime: Duration = .seconds(1)
    /// The number of collections above which all are forgotten.
    private static let countMax = 10_000

    private let known = Locked<[Namespace: Known]>([:])

    /// Returns the definition of a collection; `nil` when the upstream has none of that name.
    ///
    /// - Parameter withIndexes: whether the indexes are needed.
    func definition(
        _ namespace: Namespace, withIndexes: Bool, _ link: UpstreamLink, for call: CommandCall?
    ) throws -> UpstreamCollection? {
        if let known = known.withLock({ $0[namespace] }),
            known.askedAt + Self.lifetime > .now,
            !withIndexes || known.definition.indexes != nil
        {
            return known.definition
        }
        let now = ContinuousClock.now
        let entries = try Self.entries(
            namespace.database, ["name": .string(namespace.collection)], link, for: call)
        guard let entry = entries.first else {
            forget(namespace)
            return nil
        }
        var definition = UpstreamCollection(entry: entry, indexes: nil)
        if withIndexes, definition.viewOn == nil {
            definition = UpstreamCollection(
                entry: entry, indexes: try Self.indexes(namespace, link, for: call))
        }
        known.withLock { [definition] known in
            if known.count >= Self.countMax { known = [:] }
            known[namespace] = Known(definition: definition, askedAt: now)
        }
        return definition
    }

    /// Returns whether the upstream has what a change stream is to follow.
    func exists(
        _ scope: ChangeStreamScope, _ link: UpstreamLink, for call: CommandCall?
    ) throws -> Bool {
        switch scope {
        case .collection(let namespace):
            try definition(namespace, withIndexes: false, link, for: call) != nil
        case .database(let database):
            try !Self.entries(database.text, [:], link, for: call).isEmpty
        case .cluster: true
        }
    }

    /// Returns the entries of a database's collections.
    static func entries(
        _ database: String, _ filter: BSONDocument, _ link: UpstreamLink, for call: CommandCall?
    ) throws -> [BSONDocument] {
        try list(
            ["listCollections": 1, "filter": .document(filter)],
            Namespace(database, "$cmd.listCollections"), link, for: call)
    }

    private static func indexes(
        _ namespace: Namespace, _ link: UpstreamLink, for call: CommandCall?
    ) throws -> [BSONDocument] {
        do {
            return try list(
                ["listIndexes": .string(namespace.collection)], namespace, link, for: call)
        } catch let fault as CommandFailure where fault.code == 26 {
            return []
        }
    }

    /// Reads a list of the catalogue, which cannot be read in a transaction.
    private static func list(
        _ command: BSONDocument, _ namespace: Namespace, _ link: UpstreamLink,
        for call: CommandCall?
    ) throws -> [BSONDocument] {
        var command = command
        command.append("cursor", ["batchSize": 10_000])
        return UpstreamBatch(
            try link.within(nil).run(command, on: namespace.database, repeatedAs: .read, for: call)
        ).documents
    }

    /// Forgets a collection whose definition turned out to be another.
    func forget(_ namespace: Namespace) { known.withLock { $0[namespace] = nil } }

    /// Forgets all collections, after a command that may have changed any.
    func forgetAll() { known.withLock { $0 = [:] } }
}
