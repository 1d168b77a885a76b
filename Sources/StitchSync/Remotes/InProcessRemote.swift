public import BSONStore
public import StitchRules

/// A remote without a network: a store with a change feed, in a file or in memory.
///
/// Several processes may use one file. Direct writes to the store's collections count as changes by
/// a foreign client of a MongoDB server.
///
/// ```swift
/// let remote = try InProcessRemote(at: .inMemory)
/// let engine = try SyncEngine(store: store, remote: remote)
/// ```
public final class InProcessRemote: Remote {
    /// The store that holds the remote's documents.
    public let store: DocumentStore
    private let clock: any Clock<Duration>
    private let commitsOnCallingThread: Bool
    private let rules: RemoteRules

    /// The default number of changes that the feed keeps.
    public static let changesMax = 1_000_000

    /// Opens a remote's store.
    ///
    /// - Throws: `StoreError` as `DocumentStore/init(at:options:)` does.
    public convenience init(
        at location: DocumentStore.Location, clock: any Clock<Duration> = ContinuousClock()
    ) throws {
        let options = DocumentStore.Options(changeHistory: .keep(changesMax: Self.changesMax))
        self.init(store: try DocumentStore(at: location, options: options), clock: clock)
    }

    /// Wraps an open store, which must keep its changes (`DocumentStore/Options/changeHistory`).
    public init(store: DocumentStore, clock: any Clock<Duration> = ContinuousClock()) {
        self.store = store
        self.clock = clock
        commitsOnCallingThread = false
        rules = RemoteRules(nil)
    }

    /// Wraps an open store, which must keep its changes, for one user under access rules.
    ///
    /// The user's roles restrict every read, write and change stream of this remote, as in
    /// `stitchsync serve --rules`.
    public init(
        store: DocumentStore, rules: RuleSet, user: RuleUser,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.store = store
        self.clock = clock
        commitsOnCallingThread = false
        self.rules = RemoteRules(RuleAccessPolicy(rules, user))
    }

    /// Replaces the access rules and the user's data.
    ///
    /// Where the user's permissions on a collection change, its readers of changes get an error of
    /// class `.historyLost` and fetch the collection again, at once if they wait; pending changes
    /// are kept.
    public func use(_ rules: RuleSet, for user: RuleUser) {
        self.rules.set(RuleAccessPolicy(rules, user))
    }

    /// Wraps an open store under a policy, whose denials tests count.
    package init(store: DocumentStore, policy: RuleAccessPolicy) {
        self.store = store
        clock = ContinuousClock()
        commitsOnCallingThread = false
        rules = RemoteRules(policy)
    }

    /// Wraps an open store as the public initializer does, with commits on the caller's thread for
    /// tests.
    package init(store: DocumentStore, commitsOnCallingThread: Bool) {
        self.store = store
        clock = ContinuousClock()
        self.commitsOnCallingThread = commitsOnCallingThread
        rules = RemoteRules(nil)
    }

    /// Returns one collection of the remote's store.
    public func collection(_ namespace: Namespace) -> any RemoteCollection {
        InProcessCollection(
            store: store, namespace: namespace, clock: clock,
            commitsOnCallingThread: commitsOnCallingThread,
            rules: rules)
    }

    /// The files beside the documents, in the store's collections `attachments.files` and
    /// `attachments.chunks` of each database.
    public var attachments: (any RemoteAttachments)? {
        InProcessAttachments(store: store, rules: rules)
    }
}

/// One collection of a remote store.
struct InProcessCollection: RemoteCollection {
    let store: DocumentStore
    let namespace: Namespace
    let clock: any Clock<Duration>
    let commitsOnCallingThread: Bool
    let rules: RemoteRules

    func find(ids: [BSONValue]) async throws(RemoteError) -> [RemoteLookup] {
        try await find(ids: ids, bytesMax: .max).compactMap { $0 }
    }

    func find(
        ids: [BSONValue], bytesMax: Int
    ) async throws(RemoteError) -> [RemoteLookup?] {
        let (ruleGuard, bytesMax) = (rules.ruleGuard, max(1, bytesMax))
        // Both reads use one snapshot, so that a new document does not count as hidden.
        return try read(throughRules: false) { transaction in
            let seen = try transaction.withAccessPolicy(ruleGuard) {
                try transaction.getFirst(namespace, ids: ids, bytesMax: bytesMax)
            }
            if seen.contains(where: { $0 == nil }) { try transaction.confirmAbsent(namespace) }
            var answers: [RemoteLookup?] = seen.map { $0.map(RemoteLookup.found) ?? .absent }
            if ruleGuard != nil {
                let unseen = seen.indices.filter { seen[$0] == nil }
                let stored = try transaction.getFirst(
                    namespace, ids: unseen.map { ids[$0] }, bytesMax: bytesMax)
                for (index, document) in zip(unseen, stored) where document != nil {
                    answers[index] = .hidden
                }
                for index in unseen.dropFirst(stored.count) { answers[index] = nil }
            }
            answers.append(contentsOf: repeatElement(nil, count: ids.count - seen.count))
            return answers
        }
    }

    func find(
        matching filter: BSONDocument, after last: BSONValue?, limit: Int
    ) async throws(RemoteError) -> RemotePage {
        try rules.check(filter, on: namespace)
        let filters = RemotePaging.filters(filter, after: last)
        do throws(StoreError) {
            for filter in filters { _ = try Filter(comparingBytes: filter) }
        } catch {
            throw RemoteError(.rejected, code: Int(error.code.rawValue), error.message)
        }
        return try read { transaction in
            try RemotePaging.page(filter, after: last, limit: limit) { filter, limit in
                let options = try FindOptions(sort: SortOrder(["_id": 1]), limit: limit)
                return try transaction.find(
                    namespace, filter: Filter(comparingBytes: filter), options: options,
                    bytesMax: RemotePaging.bytesMax)
            }
        }
    }

    func versions(
        matching filter: BSONDocument, after last: BSONValue?, limit: Int
    ) async throws(RemoteError) -> RemoteVersionPage {
        RemoteVersionPage(of: try await find(matching: filter, after: last, limit: limit))
    }

    func count(matching filter: BSONDocument) async throws(RemoteError) -> Int? {
        // A count would reveal the number of hidden documents.
        guard rules.ruleGuard == nil else { return nil }
        let parsed: Filter
        do throws(StoreError) {
            parsed = try Filter(comparingBytes: filter)
        } catch {
            return nil
        }
        return try read { try $0.count(namespace, filter: parsed) }
    }

    func versions(ids: [BSONValue]) async throws(RemoteError) -> [RemoteVersionLookup] {
        try read { transaction in
            var versions: [RemoteVersionLookup] = []
            versions.reserveCapacity(ids.count)
            while versions.count < ids.count {
                let documents = try transaction.getFirst(
                    namespace, ids: Array(ids[versions.count...]),
                    bytesMax: RemotePaging.bytesMax)
                if documents.contains(where: { $0 == nil }) {
                    try transaction.confirmAbsent(namespace)
                }
                versions += documents.map { document in
                    guard let document else { return .absent }
                    return .found(
                        VersionField(of: document),
                        content: .content(
                            document.contentHash(excluding: DocumentVersion.fieldName)))
                }
            }
            return versions
        }
    }

    func write(_ writes: [RemoteWrite]) async throws(RemoteError) -> [RemoteWriteOutcome] {
        do {
            do {
                return try await write(writes, individually: false)
            } catch is ConditionalWrite.NeedsSavepoint {
                return try await write(writes, individually: true)
            }
        } catch {
            throw Self.remoteError(error)
        }
    }

    /// The end of an exchange of unique values that is undone.
    private struct UndoneExchange: Error {
        let outcomes: [RemoteWriteOutcome]?
    }

    func write(
        _ writes: [RemoteWrite], exchanging paths: [String]
    ) async throws(RemoteError) -> [RemoteWriteOutcome]? {
        let (namespace, ruleGuard) = (namespace, rules.ruleGuard)
        let work: @Sendable (WriteTransaction) throws -> [RemoteWriteOutcome] = { transaction in
            try transaction.withAccessPolicy(ruleGuard) {
                try transaction.savepoint {
                    let (outcomes, collisions) = try transaction.deferringUniqueKeys {
                        try writes.map {
                            try ConditionalWrite(write: $0, known: .unread)
                                .apply(transaction, namespace, isAlone: true)
                        }
                    }
                    // The error of a collision might reveal documents that rules hide.
                    guard collisions.isEmpty else { throw UndoneExchange(outcomes: nil) }
                    guard outcomes.allSatisfy({ $0 == .applied }) else {
                        throw UndoneExchange(
                            outcomes: outcomes.map { $0 == .applied ? .notMatched : $0 })
                    }
                    return outcomes
                }
            }
        }
        do {
            return commitsOnCallingThread
                ? try writeOnCallingThread(work) : try await store.write(work)
        } catch let undone as UndoneExchange {
            return undone.outcomes
        } catch {
            throw Self.remoteError(error)
        }
    }

    private func write(
        _ writes: [RemoteWrite], individually: Bool
    ) async throws -> [RemoteWriteOutcome] {
        let (namespace, ruleGuard) = (namespace, rules.ruleGuard)
        let work: @Sendable (WriteTransaction) throws -> [RemoteWriteOutcome] = { transaction in
            try transaction.withAccessPolicy(ruleGuard) {
                let found =
                    individually
                    ? nil
                    : try transaction.findInKeyOrder(namespace, ids: writes.map(\.documentID))
                return try writes.indices.map { index in
                    let known = found.map { KnownDocument(read: $0[index]) } ?? .unread
                    return try ConditionalWrite(write: writes[index], known: known)
                        .apply(transaction, namespace, isAlone: individually)
                }
            }
        }
        return commitsOnCallingThread ? try writeOnCallingThread(work) : try await store.write(work)
    }

    private func writeOnCallingThread<R>(_ work: (WriteTransaction) throws -> R) throws -> R {
        try store.write(work)
    }

    var connectionNumber: UInt64? { 0 }

    func identity() async throws(RemoteError) -> RemoteIdentity {
        try read(throughRules: false) { transaction in
            guard let options = try transaction.options(namespace) else { return .notMade }
            guard options.view == nil, case .binary(let uuid)? = try transaction.uuid(namespace)
            else { return .unknown }
            return .known(uuid)
        }
    }

    func tombstones(
        ids: [BSONValue], since place: ResumeToken?
    ) async throws(RemoteError) -> [RemoteTombstone?] {
        // Without the rules, since a fetch distinguishes hidden and absent documents, too.
        try read(throughRules: false) { transaction in
            let position = try place.flatMap { try Self.reached($0, transaction) }
            return try transaction.tombstones(namespace, ids: ids).map { tombstone in
                tombstone.map { tombstone in
                    RemoteTombstone(
                        version: VersionField(tombstone.version),
                        isAfterPlace: position.map { tombstone.position > $0 } ?? false)
                }
            }
        }
    }

    /// Returns the position of a token; `nil` for a token that is known to be of another history.
    private static func reached(
        _ place: ResumeToken, _ transaction: ReadTransaction
    ) throws -> Int64? {
        guard let position = place.document["position"]?.int64Value,
            position <= (try transaction.changePosition)
        else { return nil }
        do throws(StoreError) {
            try HistoryMark.check(place.document["mark"], at: position, in: transaction)
        } catch {
            guard error.code == .changeStreamHistoryLost else { throw error }
            return nil
        }
        return position
    }

    private func read<R>(
        throughRules: Bool = true, _ body: (ReadTransaction) throws -> R
    ) throws(RemoteError) -> R {
        do {
            let ruleGuard = throughRules ? rules.ruleGuard : nil
            return try store.read { transaction in
                try transaction.withAccessPolicy(ruleGuard) { try body(transaction) }
            }
        } catch {
            throw Self.remoteError(error)
        }
    }

    /// Returns the error of a whole request, which is temporary except for a lost history and a
    /// view.
    static func remoteError(_ error: any Error) -> RemoteError {
        guard let error = error as? StoreError else {
            return RemoteError(.retryable, "\(error)")
        }
        let errorClass: RemoteError.Class =
            switch error.code {
            case .changeStreamHistoryLost: .historyLost
            case .commandNotSupportedOnView: .rejected
            default: .retryable
            }
        return RemoteError(errorClass, code: Int(error.code.rawValue), error.message)
    }
}

// MARK: - History

extension InProcessCollection {
    func currentToken() async throws(RemoteError) -> ResumeToken {
        // Read the rules first: their fingerprint then marks changes under later rules.
        let ruleGuard = rules.ruleGuard
        let (position, mark) = try read(throughRules: false) { transaction in
            try checkHasHistory(transaction)
            let position = try transaction.changePosition
            return (position, try HistoryMark.mark(at: position, in: transaction))
        }
        return Self.token(position, mark, namespace, ruleGuard)
    }

    func changes(
        after token: ResumeToken, limit: Int, waitingUpTo wait: Duration
    ) async throws(RemoteError) -> RemoteChangeBatch {
        let stopwatch = Stopwatch(clock)
        while true {
            let (seen, seenRules) = (store.commitCount, rules.changes.count)
            let batch = try batch(after: token, limit: limit)
            guard batch.changes.isEmpty, !batch.hasMore, wait > .zero else { return batch }
            let rest = wait - stopwatch.elapsed
            guard rest > .zero else { return batch }
            try await waitForNews(afterCommit: seen, rules: seenRules, atMost: rest)
        }
    }

    private func batch(
        after token: ResumeToken, limit: Int
    ) throws(RemoteError) -> RemoteChangeBatch {
        let ruleGuard = rules.ruleGuard
        let position = try Self.position(token, namespace, ruleGuard)
        let follower = ruleGuard?.follower(namespace)
        // The user's view of each change, evaluated while the changes are read.
        var glances: [ReplicaChangeFilter.PreliminaryAnswer] = []
        let batch = try read { transaction in
            try checkHasHistory(transaction)
            try HistoryMark.check(token.document["mark"], at: position, in: transaction)
            return try transaction.changes(after: position, in: namespace, limit: limit) {
                after, count in
                guard let follower else { return after == nil }
                let glance = follower.glance(at: after, sharing: count)
                glances.append(glance)
                return glance.needsBefore
            }
        }
        func place(_ position: Int64) throws(RemoteError) -> ResumeToken {
            let mark = try read(throughRules: false) { try HistoryMark.mark(at: position, in: $0) }
            return Self.token(position, mark, namespace, ruleGuard)
        }
        func seen(_ changes: ArraySlice<StoreChange>) -> [RemoteChange] {
            guard let follower else { return changes.map { Self.change($0, $0.after) } }
            var seen: [RemoteChange] = []
            seen.reserveCapacity(changes.count)
            for (change, glance) in zip(changes, glances) {
                switch follower.followed(change, glance) {
                case nil: break
                case .gone(let leftView):
                    seen.append(Self.change(change, nil, leftView: leftView))
                case .now(let document): seen.append(Self.change(change, document))
                }
            }
            return seen
        }
        // A dropped or renamed collection reports no changes of its documents: its reader must
        // fetch everything again, as after MongoDB's `invalidate`.
        guard let end = batch.changes.firstIndex(where: { !$0.kind.isOfDocument }) else {
            return RemoteChangeBatch(
                changes: seen(batch.changes[...]), token: try place(batch.position),
                hasMore: !batch.isAtEnd)
        }
        guard end > 0 else {
            throw RemoteError(.collectionDropped, "the collection was dropped or renamed")
        }
        return RemoteChangeBatch(
            changes: seen(batch.changes[..<end]),
            token: try place(batch.changes[end].position - 1), hasMore: true)
    }

    /// Checks that the namespace is not a view's: a view has no history, as at a server.
    private func checkHasHistory(_ transaction: ReadTransaction) throws {
        guard try transaction.isView(namespace) else { return }
        throw StoreError.view(namespace)
    }

    /// Waits for a commit of any process or for other rules, with a time limit.
    private func waitForNews(
        afterCommit seen: Int, rules seenRules: Int, atMost limit: Duration
    ) async throws(RemoteError) {
        do {
            try await withTimeout(limit, clock: clock) { [store, rules] in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { try await store.waitForCommit(after: seen) }
                    group.addTask { await rules.changes.wait(after: seenRules) }
                    defer { group.cancelAll() }
                    try await group.next()
                }
            }
        } catch is TimeoutError {
            // The caller's own time is over, too.
        } catch is CancellationError {
            throw RemoteError(.retryable, "the wait for changes was cancelled")
        } catch {
            throw Self.remoteError(error)
        }
    }

    /// Returns a change in the engine's form; without a document it is a delete.
    private static func change(
        _ change: StoreChange, _ after: BSONDocument?, leftView: Bool = false
    ) -> RemoteChange {
        let operation = change.comment.flatMap(OperationID.init)
        return RemoteChange(
            documentID: change.documentID, isDelete: after == nil, after: after,
            operation: operation, leftView: leftView)
    }
}
