internal import BSONStore
internal import StitchRules

/// The documents of the upstream, for a command that reads.
///
/// The command runs on a store without documents. When a query there reads a collection, the store
/// calls ``forEach(_:_:_:)``. The query becomes a ``ClientQuery``, which ``UpstreamReader`` sends as a
/// ``VisibleQuery``; for a query by `_id` it asks for the documents of these ids. The store then
/// applies the query and the rules to the documents that arrive, as on a file.
final class UpstreamCandidates: CandidateSource {
    /// What the queries of the command have asked for.
    private struct State {
        var asked: Set<[UInt8]> = []
        /// The answers to what was asked twice: a stage asks once more for each document.
        var kept: [[UInt8]: [BSONDocument]] = [:]
        var holding: MemoryHolding?
        /// The failure of the upstream, which an error of the store cannot hold.
        var failure: CommandFailure?
    }

    private let reader: UpstreamReader
    /// The definitions of the collections that the command names, and their views'.
    private let definitions: [Namespace: UpstreamCollection]
    /// The collection whose documents are in the store that reads; `nil` for none.
    private let local: Namespace?
    /// The variables that the command gives to its filters; `nil` where a view has its own.
    private let variables: BSONDocument?
    /// Whether a stage may ask for the same several times.
    private let asksAgain: Bool
    private let state = Locked(State())

    /// - Parameters:
    ///   - parts: the collections that the command names.
    ///   - local: the collection whose documents are in the store that reads; `nil` for none.
    init(_ reader: UpstreamReader, _ parts: [CollectionPart], without local: Namespace? = nil) {
        self.reader = reader
        self.local = local
        definitions = Dictionary(
            parts.map { ($0.namespace, $0.definition) }, uniquingKeysWith: { first, _ in first }
        ).compactMapValues { $0 }
        let hasViews = definitions.values.contains { $0.viewOn != nil }
        variables = hasViews ? nil : reader.call.document("let")
        asksAgain = reader.call.array("pipeline") != nil || reader.call.target.documentValue != nil
    }

    /// Runs the command.
    ///
    /// - Throws: the failure of the upstream, or the error of the body.
    func answering<R>(_ body: () throws -> R) throws -> R {
        do {
            return try body()
        } catch {
            throw state.withLock { $0.failure } ?? error
        }
    }

    func has(_ namespace: Namespace) -> Bool { namespace != local }

    func forEach(
        _ namespace: Namespace, _ query: CandidateQuery,
        _ body: (BSONDocument) throws(StoreError) -> Bool
    ) throws(StoreError) {
        let memory = MemoryHolding.begin(UpstreamReader.memoryPart)
        let found = try asking { try documents(namespace, query, memory) }
        for document in query.readsLastFirst ? found.reversed() : found {
            guard try body(document) else { return }
        }
    }

    private func documents(
        _ namespace: Namespace, _ query: CandidateQuery, _ memory: MemoryHolding?
    ) throws -> [BSONDocument] {
        guard let definition = definitions[namespace] else { return [] }
        let query = try ClientQuery(
            query.filter, first: query.first, variables: variables, in: definition)
        guard asksAgain else {
            return try reader.candidates(of: query, in: namespace, definition, memory)
        }
        let key = query.key(in: namespace)
        if let kept = state.withLock({ $0.kept[key] }) { return kept }
        let documents = try reader.candidates(of: query, in: namespace, definition, memory)
        try state.withLock { state in
            if state.holding == nil {
                state.holding = MemoryHolding.begin(UpstreamReader.memoryPart)
            }
            guard !state.asked.insert(key).inserted else {
                try state.holding?.add(key.count + 64)
                return
            }
            try state.holding?.add(documents.reduce(0) { $0 + $1.byteCount + 64 })
            state.kept[key] = documents
        }
        return documents
    }

    func count(
        _ namespace: Namespace, _ filter: Filter, limit: Int
    ) throws(StoreError) -> Int? {
        guard !filter.dependsOnDocument(besides: variables) else { return nil }
        return try asking {
            guard let definition = definitions[namespace] else { return 0 }
            let query = try ClientQuery(
                filter, first: nil, variables: variables, in: definition)
            return try reader.count(query, in: namespace, definition, limit: limit)
        }
    }

    /// Runs a body that asks the upstream.
    private func asking<R>(_ body: () throws -> R) throws(StoreError) -> R {
        do {
            return try body()
        } catch let error as StoreError {
            throw error
        } catch {
            let failure = CommandFailure(error)
            state.withLock { $0.failure = failure }
            throw StoreError(StoreError.Code(rawValue: failure.code), failure.message)
        }
    }
}
