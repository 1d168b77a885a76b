package import BSONStore

/// The error that ends a collection's share of a pass, because its remote is another one.
struct CollectionStoppedError: Error {
    let stop: SyncStop
}

/// The check that the remote collection is the one that the documents were synced with, before the
/// pass uses any other answer (decision 7).
extension CollectionPass {
    /// Requests the remote's identity and compares it with the adopted one.
    ///
    /// - Throws: ``CollectionStoppedError`` where the identity differs or the collection is
    ///   stopped.
    mutating func checkIdentity() async throws {
        let answer = try await request { remote in try await remote.identity() }
        isIdentityKnown = answer != .unknown
        let (collection, facts) = try read { records, collection in
            (collection, try records.identityFacts(of: collection, answer: answer))
        }
        isUncreated = answer == .notMade
        switch IdentityDecision.decide(facts) {
        case .goOn: return
        case .adopt: try await adopt(answer)
        case .verify: try await verify(answer, collection)
        case .examine: try await examine(answer, collection)
        case .resume:
            try await updateCollection { $0.stop = nil }
            engine.reportedStops.withLock { $0[namespace] = nil }
        case .stayStopped:
            guard var stop = collection.stop else { return }
            if answer != .unknown, stop.found != answer {
                stop = stop.finding(answer)
                let found = stop
                try await updateCollection { $0.stop = found }
            }
            throw CollectionStoppedError(stop: stop)
        }
    }

    /// Adopts the identity of a collection that the first upload created.
    mutating func adoptCreatedCollection() async throws {
        guard isUncreated, report.uploaded > 0 else { return }
        let answer = try await request { remote in try await remote.identity() }
        guard case .known = answer else { return }
        isUncreated = false
        try await adopt(answer)
    }

    private func adopt(_ identity: RemoteIdentity) async throws {
        try await updateCollection { collection in
            if case .known? = collection.identity, collection.identity != identity {
                // The token belongs to another collection's history.
                (collection.token, collection.lostToken) = (nil, nil)
                collection.needsScan = true
            }
            collection.identity = identity
        }
    }

    /// Stops the collection: its documents stay, and nothing is deleted or uploaded.
    mutating func stop(
        _ code: SyncError.Code, _ found: RemoteIdentity, documentCount: Int? = nil
    ) async throws -> CollectionStoppedError {
        let stop = try await write { sync in
            var collection = sync.collection
            let count = try documentCount ?? sync.records.confirmedCount(in: collection.rowID)
            let stop = SyncStop(
                code, expected: collection.identity, found: found, documentCount: count)
            collection.stop = stop
            try sync.state.save(collection)
            return stop
        }
        return CollectionStoppedError(stop: stop)
    }

    /// Handles another identity, or a missing collection: a drop in the same history is a known
    /// event, anything else is another remote.
    private mutating func examine(
        _ answer: RemoteIdentity, _ collection: SyncStateTable.Collection
    ) async throws {
        let isDropKnown =
            if let token = collection.token { try await historyReportsDrop(after: token) } else {
                false
            }
        guard isDropKnown else { throw try await stop(.remoteChanged, answer) }
        guard configuration.dropped == .remove else {
            throw try await stop(.collectionDropped, answer)
        }
        try await updateCollection {
            ($0.identity, $0.needsScan, $0.isAfterDrop) = (answer, true, true)
        }
    }

    /// Returns whether the history after a position contains a drop or rename of the collection.
    private mutating func historyReportsDrop(after start: ResumeToken) async throws -> Bool {
        var token = start
        let limit = limits.changesPerRead
        do {
            while true {
                let after = token
                let batch = try await request { remote in
                    try await remote.changes(after: after, limit: limit, waitingUpTo: .zero)
                }
                guard batch.hasMore, batch.token != token else { return false }
                token = batch.token
            }
        } catch let error as RemoteError where error.endsHistory {
            return error.errorClass == .collectionDropped
        }
    }

    /// Adopts an identity where none was adopted before, if the remote holds each confirmed
    /// document or has evidence of its delete.
    private mutating func verify(
        _ answer: RemoteIdentity, _ collection: SyncStateTable.Collection
    ) async throws {
        var place = collection.lostToken
        if let token = collection.token, !collection.needsScan {
            place = token
            do {
                try await readChanges(after: token, looking: false)
            } catch let error as RemoteError where error.endsHistory {
                if error.errorClass == .collectionDropped {
                    return try await examine(answer, collection)
                }
                try await updateCollection { ($0.needsScan, $0.lostToken) = (true, token) }
            }
        }
        var (missing, last) = (0, Int64(0))
        while let page = try await missingConfirmed(after: last, since: place) {
            missing += page.missing
            last = page.row
        }
        guard missing == 0 else {
            throw try await stop(.remoteChanged, answer, documentCount: missing)
        }
        try await adopt(answer)
    }

    /// Counts the confirmed documents of a page that are missing at the remote without evidence of
    /// a delete.
    private mutating func missingConfirmed(
        after row: Int64, since place: ResumeToken?
    ) async throws -> (missing: Int, row: Int64)? {
        let limit = limits.batchDocuments
        let page = try read { records, collection in
            try records.records(.all, in: collection.rowID, after: row, limit: limit)
        }
        guard let last = page.last?.rowID else { return nil }
        let confirmed = page.filter { record in
            record.base != .absent && record.attempt == nil && !record.isUnexplained
                && AbsenceCause(hint: record.hint) != .deleted
                && AbsenceCause(hint: record.hint) != .leftView
        }
        guard !confirmed.isEmpty else { return (0, last) }
        let ids = confirmed.map(\.documentID)
        let found = try await request { remote in try await remote.versions(ids: ids) }
        try Self.check(found.count, for: ids.count)
        var absent = zip(confirmed, found).filter { $1 == .absent }.map(\.0)
        guard !absent.isEmpty else { return (0, last) }
        // A list of versions does not distinguish hidden and absent documents.
        let lookups = try await find(absent.map(\.documentID))
        absent = zip(absent, lookups).filter { $1 == .absent }.map(\.0)
        let deleted = try await deletedByEvidence(absent, since: place)
        return (absent.count - deleted.count, last)
    }
}

extension SyncRecordTable {
    /// Whether a collection has a record that meets an SQL condition.
    fileprivate func holds(_ test: String, in collection: Int64) throws -> Bool {
        let select = try connection.prepare(
            "SELECT 1 FROM sync_documents WHERE collection = ? AND \(test) LIMIT 1")
        select.bind(1, collection)
        defer { select.reset() }
        return try select.step()
    }

    /// Returns the number of a collection's confirmed documents.
    func confirmedCount(in collection: Int64) throws -> Int {
        let select = try connection.prepare(
            "SELECT count(*) FROM sync_documents WHERE collection = ? AND base_kind > 0")
        select.bind(1, collection)
        return try select.step() ? Int(select.int64(0)) : 0
    }

    /// Returns the facts about the remote's identity.
    fileprivate func identityFacts(
        of collection: SyncStateTable.Collection, answer: RemoteIdentity
    ) throws -> IdentityFacts {
        let adopted: IdentityFacts.Adopted =
            switch collection.identity {
            case nil, .unknown: .nothing
            case .notMade: .notMade
            case .known: .known
            }
        let told: IdentityFacts.Answer =
            switch answer {
            case .unknown: .unknown
            case .notMade: .notMade
            case .known: answer == collection.identity ? .same : .other
            }
        let isCertain = told == .same || told == .unknown
        return IdentityFacts(
            answer: told, adopted: adopted,
            holdsConfirmed: try !isCertain && holds("base_kind > 0", in: collection.rowID),
            holdsPending: try !isCertain && holds("pending = 1", in: collection.rowID),
            isStopped: collection.stop != nil)
    }
}

extension ReadTransaction {
    /// Whether no record is pending or stale or has an open attempt; for the simulation.
    package var hasSentAll: Bool {
        get throws {
            let waiting = try connection.int64(
                """
                SELECT (SELECT count(*) FROM sync_documents
                        WHERE pending = 1 OR hint > 0 OR attempt IS NOT NULL
                            OR discarded IS NOT NULL)
                    + (SELECT count(*) FROM sync_attempts)
                """)
            return waiting == 0
        }
    }

    /// Whether there are synced collections, each with a known remote and at least one document of
    /// it; for the simulation.
    package var knowsRemotes: Bool {
        get throws {
            let collections = try SyncStateTable(connection: connection).collections()
            let records = SyncRecordTable(connection: connection)
            return try !collections.isEmpty
                && collections.allSatisfy { collection in
                    guard case .known? = collection.identity else { return false }
                    return try records.holds(
                        "(base_kind > 0 OR pending = 1)", in: collection.rowID)
                }
        }
    }
}
