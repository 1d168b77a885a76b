internal import BSONStore

/// The upload of pending changes: store attempts on disk, send batches, settle each answer.
///
/// Batches are prepared and sent while earlier ones are being answered. Each is named and stored
/// before it is sent, and settled when its own answer arrives, whatever became of the others.
struct Upload {
    let context: PassContext
    let applyRemote: ApplyRemote

    /// The numbers of batches under way: at least one at the remote, one on each way, and one that is
    /// being prepared; more on a slow way.
    static let window = 4...16
    /// The size of the batches under way, in bytes, above which there are no more than the least
    /// number.
    private static let windowBytes = 8 * 1_024 * 1_024

    /// What the answers of all batches have in common.
    private struct Tally {
        /// Documents that another client changed first.
        var overtaken: [BSONValue] = []
        /// Those of them that could not be inserted.
        var duplicates: [BSONValue] = []
        /// Rows of records whose unique value another document had.
        var valueTaken: Set<Int64> = []
        /// Rows of records whose stored bases are no longer needed.
        var outdatedBases: [Int64] = []
        /// A temporary error of a document.
        var failure: RemoteError?
    }

    /// One walk over the records with pending changes.
    private struct Walk {
        /// The subscription set whose earlier writes are uploaded; `nil` uploads all.
        let set: Int64?
        /// The rows whose changes a unique index refused; `nil` in the first walk, over all.
        ///
        /// They are sent together with those that give up their values, and no more after that.
        var only: Set<Int64>?

        var isSecond: Bool { only != nil }
        /// What the second walk sends must not be answered in parts.
        var window: ClosedRange<Int> { isSecond ? 1...1 : Upload.window }
    }

    /// A batch with the answers to its writes.
    private struct Answer: Sendable {
        let batch: OutgoingBatch
        let outcomes: Result<[RemoteWriteOutcome], any Error>
        let time: Duration
    }

    /// Uploads all pending changes, then fetches documents that other clients changed first.
    ///
    /// - Parameter set: the subscription set whose earlier writes are uploaded; `nil` uploads all.
    func run(before set: Int64?) async throws {
        var tally = Tally()
        try await send(Walk(set: set), &tally)
        if !tally.valueTaken.isEmpty {
            try await send(Walk(set: set, only: tally.valueTaken), &tally)
        }
        try await remove(tally.outdatedBases)
        let overtaken = tally.overtaken
        context.findings.count { $0.overtaken += overtaken.count }
        // A reverted document may be older than the remote's edition.
        try await applyRemote.apply(overtaken + context.findings.takeReverted())
        try noteCollisions(tally.duplicates)
        if let failure = tally.failure { throw failure }
    }

    /// Counts the inserts that were refused for their `_id` although the fetch found no document.
    private func noteCollisions(_ ids: [BSONValue]) throws {
        guard !ids.isEmpty else { return }
        let unfound = try context.read { records, collection in
            try ids.filter { id in
                guard let record = try records.record(of: id, in: collection.rowID) else {
                    return false
                }
                return record.isPending && record.base == .absent && record.staleMark == 0
            }
        }
        context.engine.failures.noteCollisions(unfound, of: ids, in: context.namespace)
    }

    /// Returns outcomes in which an insert that collides again and again is refused.
    ///
    /// A collation of the remote may take two ids for the same, or rules may hide the document.
    private func refusingCollisions(
        _ outcomes: [RemoteWriteOutcome], of attempts: [OutgoingAttempt]
    ) -> [RemoteWriteOutcome] {
        let (failures, namespace) = (context.engine.failures, context.namespace)
        guard failures.hasCollisions(in: namespace) else { return outcomes }
        return zip(attempts, outcomes).map { attempt, outcome in
            let id = attempt.record.documentID
            let isCollision = failures.isCollision(id, in: namespace)
            if outcome == .duplicateKey, !isCollision { return outcome }
            failures.forgetCollision(id, in: namespace)
            guard outcome == .duplicateKey else { return outcome }
            return .failed(
                RemoteError(
                    uniquePaths: ["_id"], code: Int(StoreError.Code.duplicateKey.rawValue),
                    "the remote has a document whose _id it takes for the same as "
                        + "\(id.extendedJSON(.relaxed)), and finds none with exactly this _id: the "
                        + "collation of the collection ignores the difference, or rules hide that "
                        + "document. Delete the document here and insert it with another _id"))
        }
    }

    /// Removes the outdated bases that no later commit removed.
    private func remove(_ outdatedBases: [Int64]) async throws {
        guard !outdatedBases.isEmpty else { return }
        try await context.write { sync in try sync.records.removeOutdatedBases(of: outdatedBases) }
    }

    /// Sends the batches of a walk and settles their answers as they arrive.
    ///
    /// - Throws: the first error of a request, once the answers to the others are settled, and the
    ///   store's errors.
    private func send(_ walk: Walk, _ tally: inout Tally) async throws {
        // Most passes upload nothing and begin no write transaction.
        guard try context.read({ try $0.holds(.toUpload, in: $1.rowID) }) else { return }
        let first = try await context.write(beginning(walk, after: 0))
        try await withThrowingTaskGroup(of: Answer.self) { group in
            let arrival = context.engine.answerArriving
            /// The answers that tests let arrive later.
            var held: [Answer] = []
            var window = RequestWindow(walk.window)
            var (underWay, bytesUnderWay) = (0, 0)
            var lastRow: Int64? = 0
            var failure: (any Error)?
            var stored: OutgoingBatch? = first
            while true {
                while let batch = stored {
                    stored = nil
                    report(batch)
                    lastRow = batch.lastRow
                    guard let row = batch.lastRow else { break }
                    if !batch.attempts.isEmpty {
                        underWay += 1
                        bytesUnderWay += batch.byteCount
                        if arrival == nil {
                            group.addTask { await answer(to: batch, walk) }
                        } else {
                            held.append(await answer(to: batch, walk))
                        }
                    }
                    // Behind a batch that is not full nothing waits; the commit of an answer looks.
                    let size =
                        bytesUnderWay > Self.windowBytes ? walk.window.lowerBound : window.size
                    if batch.attempts.isEmpty || batch.isFull && underWay < size {
                        stored = try await context.write(beginning(walk, after: row))
                    }
                }
                guard underWay > 0 else { break }
                let next =
                    if let arrival { held.remove(at: arrival(held.count)) } else {
                        try await group.next()
                    }
                guard let next else { break }
                underWay -= 1
                bytesUnderWay -= next.batch.byteCount
                window.note(next.time)
                switch next.outcomes {
                case .failure(let error): failure = failure ?? error
                case .success(let outcomes):
                    stored = try await settle(
                        next.batch, outcomes, walk, &tally,
                        begin: failure == nil ? lastRow.map { beginning(walk, after: $0) } : nil,
                        isAlone: underWay == 0)
                }
            }
            if let failure { throw failure }
        }
    }

    /// Reports the changes of a batch that are not sent.
    private func report(_ batch: OutgoingBatch) {
        context.findings.add(contentsOf: batch.missing)
        context.findings.count { $0.paused += batch.missing.count }
        for refused in batch.refused {
            context.findings.note(refused, in: context.namespace)
            if refused.decision == .revert {
                context.findings.noteReverted(refused.documentID)
            }
        }
    }

    /// Returns the closure that stores the attempts of the next batch.
    private func beginning(
        _ walk: Walk, after row: Int64
    ) -> @Sendable (SyncTransaction) throws -> OutgoingBatch {
        var limits = context.limits
        if walk.isSecond { limits.batchDocuments = limits.exchangedDocuments }
        let policy = context.uploadPolicy
        let heldBack = context.findings.heldBack
        return { [limits] sync in
            try PrepareUpload(
                sync: sync, limits: limits, policy: policy, heldBack: heldBack, set: walk.set,
                only: walk.only
            ).batch(after: row)
        }
    }

    /// Sends a batch and waits for its answers.
    private func answer(to batch: OutgoingBatch, _ walk: Walk) async -> Answer {
        let clock = ContinuousClock()
        let start = clock.now
        do {
            var outcomes = try await outcomes(of: batch.attempts)
            if walk.isSecond { try await exchange(batch.attempts, &outcomes) }
            return Answer(batch: batch, outcomes: .success(outcomes), time: clock.now - start)
        } catch {
            // Without an answer the remote may still apply the writes, even after a desync has removed
            // their records: then only their events show it.
            context.engine.echoes.beginEra()
            return Answer(batch: batch, outcomes: .failure(error), time: clock.now - start)
        }
    }

    /// Settles the answers to a batch; the same commit stores the attempts of the next batch.
    ///
    /// - Parameters:
    ///   - begin: stores the attempts of the next batch; `nil` to send no further one.
    ///   - isAlone: whether no other batch is under way.
    /// - Returns: the next batch.
    private func settle(
        _ batch: OutgoingBatch, _ answers: [RemoteWriteOutcome], _ walk: Walk,
        _ tally: inout Tally,
        begin: (@Sendable (SyncTransaction) throws -> OutgoingBatch)?, isAlone: Bool
    ) async throws -> OutgoingBatch? {
        let attempts = batch.attempts
        let outcomes = refusingCollisions(answers, of: attempts)
        logDenied(outcomes)
        tally.outdatedBases += zip(attempts, outcomes).compactMap {
            $0.leavesBase(after: $1) ? $0.record.rowID : nil
        }
        let (policy, stale, sendsAgain) = (
            context.uploadPolicy, tally.outdatedBases, !walk.isSecond
        )
        let (settlements, next) = try await context.write { sync in
            let settlements = try SettleUpload(
                sync: sync, policy: policy, sendsTakenAgain: sendsAgain
            ).settle(batch, outcomes)
            let next = try begin?(sync)
            if isAlone, next?.lastRow == nil { try sync.records.removeOutdatedBases(of: stale) }
            return (settlements, next)
        }
        if isAlone, next?.lastRow == nil { tally.outdatedBases = [] }
        context.engine.progress.count { progress in
            progress.uploadedDocuments += outcomes.count { $0 == .applied }
            progress.uploadedBytes += batch.byteCount
        }
        for ((attempt, outcome), settlement) in zip(zip(attempts, outcomes), settlements) {
            switch settlement {
            case .fetchAgain:
                tally.overtaken.append(attempt.record.documentID)
                if outcome == .duplicateKey {
                    tally.duplicates.append(attempt.record.documentID)
                }
            case .sendTogether:
                if let row = attempt.record.rowID { tally.valueTaken.insert(row) }
            case .keepAttempt:
                // Without an answer, only the event shows that the remote applies the write later.
                context.engine.echoes.beginEra()
                if case .failed(let error) = outcome, tally.failure == nil {
                    tally.failure = error
                }
            case .revertRejected: context.findings.noteReverted(attempt.record.documentID)
            case .confirm, .confirmAndKeepPending, .finishDelete, .finishDeleteAndKeepInsert,
                .askRejected, .pauseRejected, .pauseExhausted:
                break
            }
            context.findings.note(
                settlement, of: attempt.record.documentID, in: context.namespace, outcome)
        }
        return next
    }

    /// Sends writes.
    ///
    /// Writes refused by a unique index are sent again as long as others succeed, since one of those
    /// may have released the value; those that release one go first.
    private func outcomes(
        of attempts: [OutgoingAttempt]
    ) async throws -> [RemoteWriteOutcome] {
        var outcomes = try await answers(to: attempts.map(\.write))
        var last = outcomes
        while last.contains(.applied) {
            let taken = outcomes.indices.filter { outcomes[$0].isUniqueValueTaken }
            guard !taken.isEmpty else { break }
            let order = UniqueExchange.order(refused(taken, attempts, outcomes)).map { taken[$0] }
            last = try await answers(to: order.map { attempts[$0].write })
            for (index, outcome) in zip(order, last) { outcomes[index] = outcome }
        }
        return outcomes
    }

    /// Returns what refused writes want and give up.
    private func refused(
        _ indexes: [Int], _ attempts: [OutgoingAttempt], _ outcomes: [RemoteWriteOutcome]
    ) -> [RefusedChange] {
        indexes.map { index in
            RefusedChange(
                paths: outcomes[index].uniquePaths,
                base: attempts[index].record.base.document(local: attempts[index].local),
                intended: attempts[index].local, isOvertaken: outcomes[index] == .notMatched)
        }
    }

    /// Sends the writes together that want each other's unique values, group by group.
    ///
    /// A write that wants a value of an overtaken one counts as overtaken, too. A write keeps its
    /// refusal where it belongs to no group, or where the remote cannot apply them together.
    private func exchange(
        _ attempts: [OutgoingAttempt], _ outcomes: inout [RemoteWriteOutcome]
    ) async throws {
        guard outcomes.contains(where: \.isUniqueValueTaken) else { return }
        let taken = outcomes.indices.filter {
            outcomes[$0].isUniqueValueTaken || outcomes[$0] == .notMatched
        }
        let changes = refused(taken, attempts, outcomes)
        let exchange = UniqueExchange.decide(changes)
        for index in exchange.waiting { outcomes[taken[index]] = .notMatched }
        for group in exchange.groups {
            let members = group.map { taken[$0] }
            guard try await !sendTogether(members, attempts, &outcomes) else { continue }
            // A value that stays taken, and only looks like one of theirs, must not end an exchange.
            let parts = UniqueExchange.decide(group.map { changes[$0] }, byBytes: true).groups
            for part in parts where part.count < group.count {
                _ = try await sendTogether(part.map { members[$0] }, attempts, &outcomes)
            }
        }
    }

    /// Sends writes that are applied together or not at all.
    ///
    /// - Returns: whether they have an answer: `false` where the remote cannot apply them together.
    private func sendTogether(
        _ members: [Int], _ attempts: [OutgoingAttempt], _ outcomes: inout [RemoteWriteOutcome]
    ) async throws -> Bool {
        let paths = Set(members.flatMap { outcomes[$0].uniquePaths }).sorted()
        let writes = members.map { attempts[$0].write }
        do {
            let answers = try await context.request { remote in
                try await remote.write(writes, exchanging: paths)
            }
            guard let answers, answers.count == writes.count else { return false }
            for (index, answer) in zip(members, answers) { outcomes[index] = answer }
        } catch let error as RemoteError {
            // The remote may have applied them: evidence settles their attempts.
            context.engine.echoes.beginEra()
            for index in members { outcomes[index] = .failed(error) }
        }
        return true
    }

    private func answers(to writes: [RemoteWrite]) async throws -> [RemoteWriteOutcome] {
        let outcomes = try await context.request { remote in
            try await remote.write(writes)
        }
        guard outcomes.count == writes.count else {
            throw RemoteError(
                .retryable, "sent \(writes.count) writes, got \(outcomes.count) outcomes")
        }
        return outcomes
    }

    /// Logs a line about denied writes, as Device Sync does.
    private func logDenied(_ outcomes: [RemoteWriteOutcome]) {
        guard outcomes.contains(where: \.isDenied) else { return }
        context.engine.log.note(
            .warning, context.namespace,
            CompensatingWrite.receivedLine(session: context.collectionNumber))
    }
}

extension RemoteWriteOutcome {
    /// Whether a unique index of the remote refused the content.
    fileprivate var isUniqueValueTaken: Bool {
        if case .failed(let error) = self { error.isUniqueValueTaken } else { false }
    }

    /// The paths of the unique index that refused the content, where the remote names them.
    fileprivate var uniquePaths: [String] {
        if case .failed(let error) = self { error.uniquePaths } else { [] }
    }
}

extension OutgoingBatch {
    /// The size of the written data, in bytes.
    fileprivate var byteCount: Int {
        attempts.reduce(0) { $0 + $1.write.action.byteCount }
    }
}

extension RemoteWrite.Action {
    /// The size of the written data, in bytes.
    fileprivate var byteCount: Int {
        switch self {
        case .insert(let document), .replace(let document): document.byteCount
        case .update(set: let set, unset: let unset):
            set.byteCount + unset.reduce(0) { $0 + $1.utf8.count }
        case .delete: 0
        }
    }
}
