internal import BSONStore
internal import StitchRules

/// A collection of the upstream with the documents of it that a command needs; without documents where
/// only definitions are read.
struct CollectionPart: Sendable {
    let namespace: Namespace
    /// The collection's definition; `nil` when the upstream has no such collection.
    let definition: UpstreamCollection?
    var documents: [BSONDocument] = []
}

/// A store for the documents that one command of a client needs.
///
/// A gateway copies them from the upstream and runs the command here, by the same code and under the
/// same rules as `serve` on a file. What the command changed is then sent upstream. Documents and
/// changes are undone afterwards; the collections stay for the next command.
final class Excerpt: Sendable {
    private struct State: Sendable {
        /// The collections that exist here, with the definitions they were made from.
        var made: [Namespace: UpstreamCollection] = [:]
        /// The number of collections that were ever made here.
        var madeCount = 0
        /// The most bytes of documents that a command needed.
        var bytesMax = 0
    }

    private let store: DocumentStore
    private let state = Locked(State())

    /// The number of collections, and of bytes, after which a new store takes less memory.
    private static let madeMax = 200
    private static let bytesMax = 4 * 1024 * 1024

    /// - Parameter recordsChanges: whether ``FilledExcerpt/changes()`` is wanted.
    init(recordsChanges: Bool) throws {
        store = try DocumentStore(
            at: .inMemory,
            options: .init(
                changeHistory: recordsChanges ? .keep(changesMax: 1_000_000) : .off,
                cacheKiB: 2_048, tombstonesKept: .zero))
    }

    /// Whether the store has grown so much that a new one is better.
    var isWorn: Bool {
        state.withLock { $0.madeCount >= Self.madeMax || $0.bytesMax >= Self.bytesMax }
    }

    /// Returns the store with the given collections, which have no documents here; those of earlier
    /// commands may be there, too.
    func store(with parts: [CollectionPart]) throws -> DocumentStore {
        try make(parts)
        return store
    }

    /// Runs a body on documents, which are here only as long as it runs.
    ///
    /// - Parameter isWhole: whether there are no other collections than the given ones; else those
    ///   of earlier commands may be there, empty.
    /// - Throws: the errors of the body, and of collections that cannot be made.
    func using<R>(
        _ parts: [CollectionPart], isWhole: Bool, _ body: (FilledExcerpt) throws -> R
    ) throws -> R {
        try make(parts)
        let bytes = parts.reduce(0) { $1.documents.reduce($0) { $0 + $1.byteCount } }
        state.withLock { $0.bytesMax = max($0.bytesMax, bytes) }
        return try OpenTransaction.undone(in: store) { transaction in
            let start = try transaction.useAsOwn { transaction in
                transaction.bypassesValidation = true
                if isWhole { try Self.drop(allBut: parts, transaction) }
                for part in parts where !part.documents.isEmpty {
                    try transaction.insertBatch(part.namespace, part.documents)
                }
                return try transaction.changePosition
            }
            return try body(FilledExcerpt(store: store, transaction: transaction, start: start))
        }
    }

    private static func drop(
        allBut parts: [CollectionPart], _ transaction: WriteTransaction
    ) throws {
        let kept = Set(parts.map(\.namespace))
        for namespace in try transaction.collections() where !kept.contains(namespace) {
            try transaction.dropCollection(namespace)
        }
    }

    /// Makes the collections that are missing here, or have other definitions than upstream.
    private func make(_ parts: [CollectionPart]) throws {
        let made = state.withLock { $0.made }
        let missing = parts.filter { made[$0.namespace] != $0.definition }
        guard !missing.isEmpty else { return }
        try store.write { transaction in
            for part in missing { try Self.make(part, transaction) }
        }
        state.withLock { state in
            for part in missing { state.made[part.namespace] = part.definition }
            state.madeCount += missing.count
        }
    }

    private static func make(_ part: CollectionPart, _ transaction: WriteTransaction) throws {
        let namespace = part.namespace
        try transaction.dropCollection(namespace)
        guard let definition = part.definition else { return }
        try transaction.createCollection(
            namespace, try CollectionOptions(definition.creation(namespace.collection)))
        let indexes = try (definition.indexes ?? []).compactMap { specification in
            specification["name"] == "_id_"
                ? nil : try IndexDefinition(Self.named(specification))
        }
        if !indexes.isEmpty { try transaction.createIndexes(namespace, indexes) }
    }

    /// Returns an index's specification with its collation, which a simple one leaves out: a new
    /// index would inherit the collection's.
    private static func named(_ specification: BSONDocument) -> BSONDocument {
        var specification = specification
        if specification["collation"] == nil {
            specification.append("collation", ["locale": "simple"])
        }
        return specification
    }

    /// Closes the store.
    func close() { store.close() }
}

/// An excerpt with its documents, for one command.
struct FilledExcerpt {
    fileprivate let store: DocumentStore
    /// The transaction that has the documents; it is undone after the command.
    fileprivate let transaction: OpenTransaction<WriteTransaction>
    /// The position in the feed after which the command's changes follow.
    fileprivate let start: Int64

    /// Returns the backend that runs the command here.
    ///
    /// - Parameters:
    ///   - services: the backend with all but the documents.
    ///   - ruleGuard: the rules for the command; `nil` for none.
    ///   - source: the place of the documents that the command reads; `nil` for the excerpt.
    func backend(
        _ services: StoreBackend, under ruleGuard: RuleAccessPolicy?,
        readingFrom source: (any CandidateSource)? = nil
    ) -> StoreBackend {
        StoreBackend(
            store, in: transaction, readingFrom: source, sharing: services, under: ruleGuard)
    }

    /// Returns what the command changed, in order; nothing in an excerpt for reading.
    func changes() throws -> [StoreChange] {
        try transaction.use { transaction in
            guard try transaction.changePosition > start else { return [] }
            return try transaction.changes(after: start, limit: .max).changes
        }
    }
}

/// The excerpts that are not in use.
final class ExcerptPool: Sendable {
    private let idle = Locked<[Excerpt]>([])
    private let recordsChanges: Bool
    /// The maximum number of kept excerpts; each takes about 2 MiB.
    private static let countMax = 16

    /// - Parameter recordsChanges: whether commands that write use the excerpts.
    init(recordsChanges: Bool) { self.recordsChanges = recordsChanges }

    /// Runs a body on documents in an excerpt.
    ///
    /// - Parameter isWhole: whether the body must find no other collections.
    func withExcerpt<R>(
        _ parts: [CollectionPart], isWhole: Bool = false, _ body: (FilledExcerpt) throws -> R
    ) throws -> R {
        try lend { try $0.using(parts, isWhole: isWhole, body) }
    }

    /// Runs a body on a store that has collections without documents.
    func withCollections<R>(
        _ parts: [CollectionPart], _ body: (DocumentStore) throws -> R
    ) throws -> R {
        try lend { try body($0.store(with: parts)) }
    }

    private func lend<R>(_ body: (Excerpt) throws -> R) throws -> R {
        let excerpt =
            try idle.withLock { $0.popLast() } ?? Excerpt(recordsChanges: recordsChanges)
        defer { giveBack(excerpt) }
        return try body(excerpt)
    }

    private func giveBack(_ excerpt: Excerpt) {
        let isKept = idle.withLock { idle in
            guard !excerpt.isWorn, idle.count < Self.countMax else { return false }
            idle.append(excerpt)
            return true
        }
        if !isKept { excerpt.close() }
    }

    /// Closes the idle excerpts.
    func close() {
        let all = idle.withLock { idle in
            defer { idle = [] }
            return idle
        }
        for excerpt in all { excerpt.close() }
    }
}
