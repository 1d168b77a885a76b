internal import BSONStore
internal import StitchRules

/// A writing command of a client: judged here, mostly on an excerpt, and its changes sent upstream,
/// until all of them landed as they were judged.
struct GatewayWrite {
    /// What one run of some statements led to.
    private struct Run {
        let reply: BSONDocument
        let changes: [StoreChange]
        let parts: [CollectionPart]
        /// Whether it consists of inserts that are all allowed, and needed no excerpt.
        var isOfInserts = false

        /// Whether an upstream refused a change for a document that was not there when the run's
        /// documents were read: another client inserts and deletes it.
        func lacksConflict(of fault: CommandFailure, _ change: StoreChange) -> Bool {
            guard fault.code == GatewayWrite.duplicateKey,
                let part = parts.first(where: { $0.namespace == change.namespace })
            else { return false }
            let pattern = fault.details["keyPattern"]
            let isCollated =
                part.definition?.indexes?.contains {
                    $0["key"] == pattern && $0["collation"] != nil
                } ?? false
            // Keys of a collation are not those of the documents.
            guard !isCollated,
                let filter = Result(catching: {
                    try Filter(StatementNeeds.conflict(fault, change.after))
                }).value
            else { return false }
            return !part.documents.contains(where: filter.matches)
        }
    }

    let backend: GatewayBackend
    let link: UpstreamLink
    let call: CommandCall
    let definition: CommandDefinition
    let ruleGuard: RuleAccessPolicy?

    private var reader: UpstreamReader { reader(call) }

    private func reader(_ call: CommandCall) -> UpstreamReader {
        UpstreamReader(
            link: link, catalog: backend.catalog, ruleGuard: ruleGuard, call: call,
            readsCommitted: false)
    }

    // MARK: - Commands with a list of statements

    /// The statements of a command that have not landed yet, and what the others answered.
    private struct Statements {
        let list: StatementList
        let all: [BSONDocument]
        let isOrdered: Bool
        /// The indexes of those that have not landed.
        var pending: [Int]
        /// The ids that the first pending statement has changed already.
        var finished: [BSONValue] = []
        /// The answers of those that landed or failed.
        var tally: StatementTally
        /// The documents that are in the way of refused writes.
        var conflicts = WriteNeeds()
        /// The indexes of those that the upstream refused before.
        var refused: Set<Int> = []

        init(_ list: StatementList, of call: CommandCall) throws {
            self.list = list
            all = try call.documents(list.field)
            isOrdered = call["ordered"]?.isTrue ?? true
            pending = Array(all.indices)
            tally = StatementTally(list)
        }

        /// Whether the command is answered.
        var isOver: Bool { pending.isEmpty || isOrdered && tally.hasErrors }

        /// The numbers that change as statements land.
        var progress: [Int] { [pending.count, finished.count, refused.count] }

        /// The indexes of those to run together: all, or the one of which a part has landed.
        var current: [Int] { finished.isEmpty ? pending : [pending[0]] }

        /// Returns those to run together; one that has changed documents already inserts none.
        func toRun() -> [BSONDocument] {
            current.map { index in
                var statement = all[index]
                if !finished.isEmpty { statement.removeValue(forKey: "upsert") }
                return statement
            }
        }

        /// Notes that the first pending statements landed.
        mutating func removeFirst(_ count: Int = 1) {
            pending.removeFirst(count)
            finished = []
        }
    }

    /// Runs a command with a list of statements and returns its reply.
    ///
    /// - Throws: the command's errors, the upstream's errors, and 112 (WriteConflict) when other
    ///   clients changed the documents again and again.
    func statements(_ list: StatementList) throws -> BSONDocument {
        var statements = try Statements(list, of: call)
        var idle = IdleRuns()
        repeat {
            try backend.begin(&idle, at: statements.progress, link, call, definition)
            let run = try self.run(statements)
            try make(run)
            let (before, current) = (statements.tally, statements.current)
            var after = before
            let outcome = try send(run) { missed in
                after = before
                after.add(run.reply, at: current)
                after.subtract(missedDeletes: missed)
                return after.reply
            }
            switch outcome {
            case .done:
                statements.tally = after
                statements.removeFirst(current.count)
            case .stopped(_, .changed) where isTogether: continue
            case .stopped(let at, .refused(let fault)) where isTogether:
                let index = statements.pending[Self.statement(of: run.changes[at])]
                if try !noteConflict(fault, run, at, of: index, in: &statements) {
                    // Some land, and then it is the reason why the others do not.
                    link.retryable?.giveUp()
                }
            case .stopped(let at, let reason):
                try noteLanded(run, upTo: at, in: &statements)
                guard !statements.isOver, case .refused(let fault) = reason else { continue }
                let index = statements.pending[0]
                guard !isInTransaction else {
                    statements.tally.add(try toldInTransaction(fault, at, run), at: index)
                    return statements.tally.reply
                }
                // With the documents that are in the way, the store here refuses it, too.
                if try noteConflict(fault, run, at, of: index, in: &statements) { continue }
                statements.tally.add(told(fault, run.changes[at]), at: index)
                statements.removeFirst()
            }
        } while !statements.isOver
        return statements.tally.reply
    }

    /// Notes the changes that landed before the upstream stopped, and what the statements before the
    /// stopped one answered.
    private func noteLanded(
        _ run: Run, upTo end: Int, in statements: inout Statements
    ) throws {
        let place = Self.statement(of: run.changes[end])
        if place > 0 {
            let before = Array(statements.current[..<place])
            statements.tally.add(
                try answer(before.map { statements.all[$0] }, statements.list, run, upTo: end),
                at: before)
            statements.removeFirst(place)
            if statements.isOver { return }
        }
        let landed = run.changes[..<end].filter { Self.statement(of: $0) == place }
        let deleted = landed.count { $0.kind == .delete }
        statements.tally.add(changed: landed.count - deleted, deleted: deleted)
        statements.finished += landed.map(\.documentID)
    }

    /// Adds the documents that are in the way of a refused write, and of the inserts after it, to
    /// what the next run reads.
    ///
    /// - Returns: false if the statement was refused before, and the run knew the documents.
    private func noteConflict(
        _ fault: CommandFailure, _ run: Run, _ at: Int, of index: Int,
        in statements: inout Statements
    ) throws -> Bool {
        let change = run.changes[at]
        guard statements.refused.insert(index).inserted || run.lacksConflict(of: fault, change)
        else { return false }
        backend.catalog.forget(change.namespace)
        StatementNeeds.add(
            conflictOf: fault, change.after, in: change.namespace, to: &statements.conflicts)
        let waiting = statements.pending.map { statements.all[$0] }
        switch statements.list {
        case .inserts:
            statements.conflicts.add(ids: waiting.compactMap { $0["_id"] }, in: change.namespace)
        case .mixed:
            let namespaces = try BulkWriteCommand.namespaces(call)
            for statement in waiting {
                guard let place = statement["insert"]?.wholeNumber,
                    namespaces.indices.contains(place),
                    let id = statement["document"]?.documentValue?["_id"]
                else { continue }
                statements.conflicts.add(ids: [id], in: namespaces[place])
            }
        case .updates, .deletes: break
        }
        return true
    }

    /// Runs the current statements on an excerpt, without the documents that are finished.
    private func run(_ statements: Statements) throws -> Run {
        let (list, documents) = (statements.list, statements.toRun())
        if list == .inserts, statements.conflicts.collections.isEmpty,
            let run = try inserts(documents)
        {
            return run
        }
        var parts = try self.parts(list, documents, statements.conflicts)
        if !statements.finished.isEmpty {
            let done = Set(statements.finished.map(BSONKey.encode))
            for index in parts.indices {
                parts[index].documents.removeAll {
                    done.contains(BSONKey.encode($0["_id"] ?? .null))
                }
            }
        }
        return try run(call.carrying(documents, as: list), parts, under: ruleGuard)
    }

    /// Reads what some statements need.
    ///
    /// The upstream may refuse a query of one of them, such as a division by 0. The store here then
    /// tells of which, as it does on a file; for that it needs all documents that the user sees.
    private func parts(
        _ list: StatementList, _ statements: [BSONDocument], _ conflicts: WriteNeeds
    ) throws -> [CollectionPart] {
        var needs = StatementNeeds(call: call, list: list, loadsTakenIDs: isInTransaction)
        func parts() throws -> [CollectionPart] {
            var all = try needs.needs(statements)
            all.add(conflicts)
            return try reader.parts(all)
        }
        do {
            return try parts()
        } catch let fault as CommandFailure where Self.isOfQuery(fault) && !isInTransaction {
            needs.isWide = true
            return try parts()
        }
    }

    /// Whether the upstream's failure may be that of a query: not of its state, of the gateway's
    /// limits and privileges, or of a document that no command can read.
    private static func isOfQuery(_ fault: CommandFailure) -> Bool {
        !ErrorLabels.isPassing(fault.code) && !notOfQuery.contains(fault.code)
    }

    /// DocumentTooDeep (15), 165 and 292 (too many collections, too much memory), 8000 (a missing
    /// privilege) and 11601 (Interrupted).
    private static let notOfQuery: Set<Int32> = [15, 165, 292, 8_000, 11_601]

    /// Returns the run of inserts that are all allowed; `nil` for other statements.
    ///
    /// It needs no store: the upstream refuses those whose keys are taken.
    private func inserts(_ statements: [BSONDocument]) throws -> Run? {
        guard !isInTransaction, let ruleGuard else { return nil }
        let namespace = try call.collection()
        let definition = try backend.catalog.definition(
            namespace, withIndexes: false, link, for: call)
        guard definition?.viewOn == nil,
            let documents = try InsertCommand.storedIfAllAllowed(statements, call, under: ruleGuard)
        else { return nil }
        let changes = documents.enumerated().map { index, document in
            StoreChange(
                position: 0, namespace: namespace, kind: .insert, before: nil, after: document,
                remarks: ["": .int64(Int64(index))])
        }
        return Run(
            reply: ["n": .int32(Int32(clamping: changes.count))], changes: changes,
            parts: [CollectionPart(namespace: namespace, definition: definition)], isOfInserts: true
        )
    }

    private func run(
        _ call: CommandCall, _ parts: [CollectionPart], under ruleGuard: RuleAccessPolicy?,
        readingFrom source: UpstreamCandidates? = nil
    ) throws -> Run {
        try backend.excerpts.withExcerpt(parts) { excerpt in
            let store = excerpt.backend(backend.services, under: ruleGuard, readingFrom: source)
            let command = definition.parse(call, store)
            let outcome =
                try source?.answering { try command.answer(store) } ?? command.answer(store)
            guard case .reply(let reply) = outcome else {
                throw CommandFailure(.internalError, "\(call.name) did not answer at once")
            }
            return Run(reply: reply, changes: try excerpt.changes(), parts: parts)
        }
    }

    /// Returns what some statements answered: they are run again on the documents of their run, and
    /// denials are not reported again.
    private func answer(
        _ statements: [BSONDocument], _ list: StatementList, _ run: Run, upTo end: Int
    ) throws -> BSONDocument {
        guard !run.isOfInserts else { return ["n": .int32(Int32(clamping: statements.count))] }
        let again = try self.run(
            call.carrying(statements, as: list), run.parts, under: ruleGuard?.silent)
        // An upsert gave its document an id that it would not give again.
        var reply = again.reply
        let inserted = run.changes[..<end].filter { $0.kind == .insert }
        func id(_ entry: BSONDocument, _ field: String) -> BSONValue? {
            inserted.first { Self.statement(of: $0) == entry[field]?.wholeNumber }?.documentID
        }
        if let upserts = reply["upserted"]?.arrayValue {
            let corrected = upserts.compactMap(\.documentValue).map { entry -> BSONValue in
                var entry = entry
                if let id = id(entry, "index") { entry.set("_id", to: id) }
                return .document(entry)
            }
            reply.set("upserted", to: .array(BSONArray(corrected)))
        }
        if var cursor = reply["cursor"]?.documentValue, let batch = cursor["firstBatch"]?.arrayValue
        {
            let corrected = batch.compactMap(\.documentValue).map { entry -> BSONValue in
                var entry = entry
                if entry["upserted"] != nil, let id = id(entry, "idx") {
                    entry.set("upserted", to: ["_id": id])
                }
                return .document(entry)
            }
            cursor.set("firstBatch", to: .array(BSONArray(corrected)))
            reply.set("cursor", to: .document(cursor))
        }
        return reply
    }

    // MARK: - Other commands

    /// Runs a command that is one write, or none, and returns its reply.
    ///
    /// - Parameters:
    ///   - target: the only collection whose documents are needed here, while the upstream sends
    ///     those of the others when they are read; `nil` if all are needed here.
    ///   - needs: collects what it needs, anew for each run.
    /// - Throws: as ``statements(_:)`` does.
    func single(
        into target: Namespace? = nil, _ needs: () throws -> WriteNeeds
    ) throws -> BSONDocument {
        var conflicts = WriteNeeds()
        var isRefused = false
        var idle = IdleRuns()
        while true {
            try backend.begin(
                &idle, at: [isRefused ? 1 : 0, isTogether ? 1 : 0], link, call, definition)
            var all = try needs()
            all.add(conflicts)
            let parts = try reader.parts(all)
            let source = target.map { UpstreamCandidates(reader, parts, without: $0) }
            let run = try self.run(
                call.withoutTransaction, parts, under: ruleGuard, readingFrom: source)
            try make(run)
            switch try send(run, { _ in run.reply }) {
            case .done: return run.reply
            case .stopped(_, .changed): continue
            case .stopped(let at, .refused(let fault)):
                let change = run.changes[at]
                guard !isInTransaction else { throw try toldInTransaction(fault, at, run) }
                guard !isRefused || run.lacksConflict(of: fault, change) else {
                    guard isTogether else { throw told(fault, change) }
                    link.retryable?.giveUp()
                    continue
                }
                isRefused = true
                backend.catalog.forget(change.namespace)
                StatementNeeds.add(
                    conflictOf: fault, change.after, in: change.namespace, to: &conflicts)
            }
        }
    }

    /// Returns the `_id`s of the documents that stages lead to.
    func resultIDs(of stages: [BSONValue]) throws -> [BSONValue] {
        var body = call.body
        body.set("pipeline", to: .array(BSONArray(stages)))
        let reading = call.standing(for: body, as: call.signature, givenName: call.givenName)
        return try backend.onEmptyExcerpt(reader(reading)) { call, store in
            try AggregateCommand.documents(ParsedAggregate(call, store), call, store)
                .compactMap { $0["_id"] }
        }
    }

    /// Makes the collections that the first insert would make: with the documents before changes,
    /// which streams of users under rules need.
    private func make(_ run: Run) throws {
        guard link.session == nil else { return }
        let missing = run.parts.filter { $0.definition == nil }.map(\.namespace)
        for namespace in missing
        where run.changes.contains(where: { $0.kind == .insert && $0.namespace == namespace }) {
            do {
                _ = try link.run(
                    [
                        "create": .string(namespace.collection),
                        "changeStreamPreAndPostImages": ["enabled": true],
                    ], on: namespace.database, repeatedAs: .read, for: call)
            } catch let fault as CommandFailure where fault.code == Self.namespaceExists {
                // Another client was faster.
                continue
            }
        }
    }

    private static let namespaceExists: Int32 = 48
    fileprivate static let duplicateKey: Int32 = 11_000

    /// Whether the command is part of a client's transaction.
    private var isInTransaction: Bool { link.session != nil }

    /// Whether all changes land together or none does: in the transaction of a retryable write.
    private var isTogether: Bool {
        link.retryable?.isPossible == true && call.allowsMajority
    }

    /// Sends the changes of a run: those of a retryable write in one transaction with its reply.
    ///
    /// - Parameter reply: returns the reply for a number of deletes that found nothing.
    private func send(
        _ run: Run, _ reply: (_ missedDeletes: Int) -> BSONDocument
    ) throws -> UpstreamWriter.Outcome {
        guard isTogether, !run.changes.isEmpty, let retryable = link.retryable else {
            if !run.changes.isEmpty { try link.retryable?.leaveTransaction(link) }
            let outcome = try writer(run.parts, link).send(run.changes)
            if case .done(let missed) = outcome { _ = reply(missed) }
            return outcome
        }
        var outcome = UpstreamWriter.Outcome.stopped(at: 0, .changed)
        let hasLanded = try retryable.land(link) { inside in
            outcome = try writer(run.parts, inside).send(run.changes)
            guard case .done(let missed) = outcome else { return nil }
            return reply(missed)
        }
        if !hasLanded, case .done = outcome { return .stopped(at: 0, .changed) }
        return outcome
    }

    private func writer(_ parts: [CollectionPart], _ way: UpstreamLink) -> UpstreamWriter {
        let collated = Set(
            parts.filter { $0.definition?.hasCollation == true }.map(\.namespace))
        return UpstreamWriter(
            link: way, call: call, isConditional: link.session == nil,
            hasCollation: { collated.contains($0) },
            countsDeletes: definition.statements == .mixed)
    }

    /// Returns the index of the statement that made a change.
    private static func statement(of change: StoreChange) -> Int {
        change.comment?.wholeNumber ?? 0
    }

    /// Returns the upstream's refusal as the user may know it.
    private func told(_ fault: CommandFailure, _ change: StoreChange) -> CommandFailure {
        guard let ruleGuard else { return fault }
        let access = ruleGuard.access(change.namespace)
        guard !access.seesAll || access.hidesFields, let gate = ruleGuard.gate(change.namespace)
        else { return fault }
        return CommandFailure(gate.reportedDenial(of: change.after ?? change.before ?? [:]))
    }

    /// Returns the upstream's refusal of a change, with which it ended the client's transaction.
    ///
    /// What is in the way is read outside of the transaction.
    private func toldInTransaction(_ fault: CommandFailure, _ at: Int, _ run: Run) throws
        -> CommandFailure
    {
        let change = run.changes[at]
        guard fault.code == Self.duplicateKey, let access = ruleGuard?.access(change.namespace),
            let keys = fault.details["keyPattern"]?.documentValue?.keys,
            !keys.contains(where: access.mask.hides)
        else { return told(fault, change) }
        var needs = WriteNeeds()
        StatementNeeds.add(
            conflictOf: fault, change.after, in: change.namespace, to: &needs)
        let outside = UpstreamReader(
            link: link.within(nil), catalog: backend.catalog, ruleGuard: ruleGuard, call: call,
            readsCommitted: false)
        let before = run.changes[..<at].filter { $0.namespace == change.namespace }
        let changed = Set(before.map { BSONKey.encode($0.documentID) })
        let unchanged = try (outside.parts(needs) + run.parts)
            .filter { $0.namespace == change.namespace }.flatMap(\.documents)
            .filter { !changed.contains(BSONKey.encode($0["_id"] ?? .null)) }
        let present = unchanged + before.compactMap(\.after)
        let filter = try Filter(StatementNeeds.conflict(fault, change.after))
        let isVisible = present.lazy.compactMap(access.visible).contains(where: filter.matches)
        return isVisible ? fault : told(fault, change)
    }

    static let conflict = CommandFailure(
        112, "other clients changed the documents again and again; try again")

    static let held = CommandFailure(
        112, "a transaction of another client keeps the documents from being written; try again")
}

extension CommandCall {
    /// Returns the command without its transaction, for a store of its own.
    var withoutTransaction: CommandCall {
        CommandCall(
            signature: signature, givenName: givenName, body: body, sequences: sequences,
            database: database, connection: connection, server: server, budget: budget,
            session: session, transaction: nil, snapshot: nil, time: time,
            allowsExhaust: false)
    }

    /// Returns the command with other statements, and without its transaction.
    func carrying(_ statements: [BSONDocument], as list: StatementList) -> CommandCall {
        var body = body
        body.removeValue(forKey: list.field)
        // The entries of all parts go into one batch.
        if list == .mixed { body.removeValue(forKey: "cursor") }
        var carried = sequences
        carried[list.field] = statements
        return CommandCall(
            signature: signature, givenName: givenName, body: body, sequences: carried,
            database: database, connection: connection, server: server, budget: budget,
            session: session, transaction: nil, snapshot: nil, time: time,
            allowsExhaust: false)
    }
}
