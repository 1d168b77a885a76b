internal import BSONStore

/// The check that the remote collection is the one that the documents were synced with, before the
/// pass uses any other answer (decision 7).
struct CheckIdentity {
    let context: PassContext

    /// The remote's answer, as far as later steps need it.
    struct Finding {
        /// Whether the remote reported its identity.
        var isKnown = false
        /// Whether the remote reported that the collection does not exist yet.
        var isUncreated = false
    }

    /// Requests the remote's identity and compares it with the adopted one.
    ///
    /// - Throws: ``CollectionStoppedError`` where the identity differs or the collection is
    ///   stopped.
    func run() async throws -> Finding {
        if let known = try known() { return known }
        let connection = context.remote.connectionNumber
        let answer = try await context.request { remote in try await remote.identity() }
        let (collection, facts) = try context.read { records, collection in
            (collection, try Self.facts(of: collection, records, answer))
        }
        let finding = Finding(isKnown: answer != .unknown, isUncreated: answer == .notMade)
        switch IdentityDecision.decide(facts) {
        case .goOn:
            if facts.answer == .same, let connection {
                context.engine.history?.note(finding, of: context.namespace, over: connection)
            }
        case .adopt: try await adopt(answer)
        case .verify: try await verify(answer, collection)
        case .examine: try await examine(answer, collection)
        case .resume:
            try await context.updateCollection { $0.stop = nil }
            context.engine.reportedStops.withLock { $0[context.namespace] = nil }
        case .stayStopped:
            guard var stop = collection.stop else { return finding }
            if answer != .unknown, stop.found != answer {
                stop = stop.finding(answer)
                let found = stop
                try await context.updateCollection { $0.stop = found }
            }
            throw CollectionStoppedError(stop: stop)
        }
        return finding
    }

    /// Returns the identity that an earlier pass found, where the open wait would know of a change.
    private func known() throws -> Finding? {
        guard let history = context.engine.history,
            let connection = context.remote.connectionNumber
        else { return nil }
        let collection = try context.read { $1 }
        guard collection.stop == nil, !collection.needsScan, let token = collection.token else {
            return nil
        }
        return history.identity(of: context.namespace, at: token, over: connection)
    }

    /// Adopts the identity of a collection that the first upload created.
    ///
    /// - Returns: whether the remote knows its identity now.
    func adoptCreated() async throws -> Bool {
        let answer = try await context.request { remote in try await remote.identity() }
        guard case .known = answer else { return false }
        try await adopt(answer)
        return true
    }

    private func adopt(_ identity: RemoteIdentity) async throws {
        try await context.updateCollection { collection in
            if case .known? = collection.identity, collection.identity != identity {
                // The token belongs to another collection's history.
                (collection.token, collection.lostToken) = (nil, nil)
                collection.needsScan = true
            }
            collection.identity = identity
        }
    }

    /// Handles another identity, or a missing collection: a drop in the same history is a known
    /// event, anything else is another remote.
    private func examine(
        _ answer: RemoteIdentity, _ collection: SyncCollectionState
    ) async throws {
        let isDropKnown =
            if let token = collection.token { try await historyReportsDrop(after: token) } else {
                false
            }
        guard isDropKnown else {
            throw try await StopCollection(context: context).stop(.remoteChanged, answer)
        }
        guard context.configuration.dropped == .remove else {
            throw try await StopCollection(context: context).stop(.collectionDropped, answer)
        }
        try await context.updateCollection {
            ($0.identity, $0.needsScan, $0.isAfterDrop) = (answer, true, true)
        }
    }

    /// Returns whether the history after a position contains a drop or rename of the collection.
    private func historyReportsDrop(after start: ResumeToken) async throws -> Bool {
        var token = start
        let limit = context.limits.changesPerRead
        var budget = PageBudget(changesPerPage: limit)
        do {
            while true {
                let after = token
                let batch = try await context.request { remote in
                    try await remote.changes(after: after, limit: limit, waitingUpTo: .zero)
                }
                // A history that does not end has no evidence of a drop.
                guard batch.hasMore, batch.token != token, budget.mayGoOn(after: batch) else {
                    return false
                }
                token = batch.token
            }
        } catch let error as RemoteError where error.endsHistory {
            return error.errorClass == .collectionDropped
        }
    }

    /// Adopts an identity where none was adopted before, if the remote holds each confirmed
    /// document or has evidence of its delete.
    private func verify(
        _ answer: RemoteIdentity, _ collection: SyncCollectionState
    ) async throws {
        // A scan that the app asked for has lost no position.
        let place = collection.lostToken ?? collection.token
        if let token = collection.token, !collection.needsScan {
            do {
                try await ReadHistoryPages(context: context).markStale(after: token)
            } catch let error as RemoteError where error.endsHistory {
                if error.errorClass == .collectionDropped {
                    return try await examine(answer, collection)
                }
                try await context.updateCollection { ($0.needsScan, $0.lostToken) = (true, token) }
            }
        }
        var (missing, last) = (0, Int64(0))
        while let page = try confirmed(after: last) {
            missing += try await missingCount(of: page.records, since: place)
            last = page.row
        }
        guard missing == 0 else {
            throw try await StopCollection(context: context).stop(
                .remoteChanged, answer, documentCount: missing)
        }
        try await adopt(answer)
    }

    /// Returns a page's records of documents that the remote confirmed and that no known event
    /// removed, with the last row of the page, or `nil` behind the last page.
    private func confirmed(after row: Int64) throws -> (records: [SyncRecord], row: Int64)? {
        let limit = context.limits.batchDocuments
        let page = try context.read { records, collection in
            try records.page(of: .all, in: collection.rowID, after: row, limit: limit)
        }
        guard let last = page.last?.rowID else { return nil }
        let confirmed = page.filter { record in
            let cause = AbsenceCause(staleMark: record.staleMark)
            return record.base != .absent && record.attempt == nil && !record.isUnexplained
                && cause != .deleted && cause != .leftView
        }
        return (confirmed, last)
    }

    /// Counts the documents of confirmed records that are missing at the remote without evidence
    /// of a delete.
    private func missingCount(
        of confirmed: [SyncRecord], since place: ResumeToken?
    ) async throws -> Int {
        guard !confirmed.isEmpty else { return 0 }
        let ids = confirmed.map(\.documentID)
        let found = try await context.request { remote in try await remote.versions(ids: ids) }
        try Fetch.check(found.count, for: ids.count)
        let unlisted = zip(confirmed, found).filter { $1 == .absent }.map(\.0)
        guard !unlisted.isEmpty else { return 0 }
        // A list of versions does not distinguish hidden and absent documents.
        let lookups = try await Fetch(context: context).find(unlisted.map(\.documentID))
        let absent = zip(unlisted, lookups).filter { $1 == .absent }.map(\.0)
        let deleted = try await FindDeletes(context: context).keys(of: absent, since: place)
        return absent.count - deleted.count
    }

    /// Returns the facts about the remote's identity.
    private static func facts(
        of collection: SyncCollectionState, _ records: SyncRecordTable,
        _ answer: RemoteIdentity
    ) throws -> IdentityFacts {
        let adopted: IdentityFacts.Adopted =
            switch collection.identity {
            case nil, .unknown: .nothing
            case .notMade: .notMade
            case .known: .known
            }
        let compared: IdentityFacts.Answer =
            switch answer {
            case .unknown: .unknown
            case .notMade: .notMade
            case .known: answer == collection.identity ? .same : .other
            }
        let isCertain = compared == .same || compared == .unknown
        return IdentityFacts(
            answer: compared, adopted: adopted,
            holdsConfirmed: try !isCertain && records.holds(.confirmed, in: collection.rowID),
            holdsPending: try !isCertain && records.holds(.pending, in: collection.rowID),
            isStopped: collection.stop != nil)
    }
}
