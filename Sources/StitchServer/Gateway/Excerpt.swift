internal import BSONStore

/// The documents of a collection that a command needs.
struct ExcerptPart: Sendable {
    let namespace: Namespace
    /// The collection's definition; `nil` when the upstream has no such collection.
    let definition: UpstreamDefinition?
    var documents: [BSONDocument] = []
}

/// The documents that one command of a client needs, in a store of their own.
///
/// A gateway copies them from the upstream and runs the command here, by the same code and under the
/// same rules as `serve` on a file. What the command changed is then sent upstream.
final class Excerpt: Sendable {
    private struct State: Sendable {
        /// The collections that exist here, with the definitions they were made from.
        var made: [Namespace: UpstreamDefinition] = [:]
        var useCount = 0
        var byteCount = 0
    }

    let store: DocumentStore
    private let state = Locked(State())

    /// The number of uses, and of bytes, after which a new store takes less memory.
    private static let usesMax = 1_000
    private static let bytesMax = 32 * 1024 * 1024

    init() throws {
        store = try DocumentStore(
            at: .inMemory,
            options: .init(
                changeHistory: .keep(changesMax: 1_000_000), cacheKiB: 2_048,
                tombstonesKept: .zero))
    }

    /// Whether the store has grown so much that a new one is better.
    var isWorn: Bool {
        state.withLock { $0.useCount >= Self.usesMax || $0.byteCount >= Self.bytesMax }
    }

    /// Adds collections with documents.
    ///
    /// - Returns: the position in the feed after which a command's changes follow.
    func fill(_ parts: [ExcerptPart]) throws -> Int64 {
        var made = state.withLock { $0.made }
        var bytes = 0
        let position = try store.write { transaction in
            transaction.bypassesValidation = true
            for part in parts {
                if made[part.namespace] != part.definition {
                    try Self.make(part, transaction)
                    made[part.namespace] = part.definition
                }
                guard !part.documents.isEmpty else { continue }
                try transaction.insertBatch(part.namespace, part.documents)
                bytes += part.documents.reduce(0) { $0 + $1.byteCount }
            }
            return try transaction.changePosition
        }
        state.withLock { [made, bytes] state in
            state.made = made
            state.useCount += 1
            state.byteCount += bytes
        }
        return position
    }

    private static func make(_ part: ExcerptPart, _ transaction: WriteTransaction) throws {
        let namespace = part.namespace
        try transaction.dropCollection(namespace)
        guard let definition = part.definition else { return }
        try transaction.createCollection(
            namespace, try CollectionOptions(definition.creation(namespace.collection)))
        let indexes = try (definition.indexes ?? []).compactMap { specification in
            specification["name"] == "_id_" ? nil : try IndexDefinition(specification)
        }
        if !indexes.isEmpty { try transaction.createIndexes(namespace, indexes) }
    }

    /// Returns what changed after a position, in order.
    func changes(after position: Int64) throws -> [StoreChange] {
        try store.read { transaction in
            guard try transaction.changePosition > position else { return [] }
            return try transaction.changes(after: position, limit: .max).changes
        }
    }

    /// Removes all documents, and the collections that the command made.
    func clear() throws {
        let made = state.withLock { $0.made }
        try store.write { transaction in
            for namespace in try transaction.collections() {
                if made[namespace] == nil {
                    try transaction.dropCollection(namespace)
                } else if try !transaction.isView(namespace) {
                    try transaction.deleteMany(namespace, filter: .all)
                }
            }
        }
    }
}

/// The excerpts that are not in use.
final class ExcerptPool: Sendable {
    private let idle = Locked<[Excerpt]>([])
    /// The maximum number of kept excerpts; each takes about 2 MiB.
    private static let countMax = 16

    /// Lends an empty excerpt to a body.
    func withExcerpt<R>(_ body: (Excerpt) throws -> R) throws -> R {
        let excerpt = try idle.withLock { $0.popLast() } ?? Excerpt()
        let result = Result { try body(excerpt) }
        giveBack(excerpt)
        return try result.get()
    }

    private func giveBack(_ excerpt: Excerpt) {
        guard !excerpt.isWorn, Result(catching: { try excerpt.clear() }).value != nil else {
            excerpt.store.close()
            return
        }
        let isKept = idle.withLock { idle in
            guard idle.count < Self.countMax else { return false }
            idle.append(excerpt)
            return true
        }
        if !isKept { excerpt.store.close() }
    }

    /// Closes the idle excerpts.
    func close() {
        let all = idle.withLock { idle in
            defer { idle = [] }
            return idle
        }
        for excerpt in all { excerpt.store.close() }
    }
}
