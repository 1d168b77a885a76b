internal import BSONStore

/// The fetch of documents from the remote.
struct Fetch {
    let context: PassContext

    /// Fetches as many documents as fit into one answer, at least one; returns the rest for later.
    ///
    /// It sends no request for no documents.
    func documents(
        for batch: [SyncRecord], absenceCauses: [[UInt8]: AbsenceCause] = [:]
    ) async throws -> (fetched: [FetchedDocument], rest: [SyncRecord]) {
        guard !batch.isEmpty else { return ([], []) }
        let (ids, bytesMax) = (batch.map(\.documentID), context.limits.batchBytes)
        let lookups = try await context.request { remote in
            try await remote.find(ids: ids, bytesMax: bytesMax)
        }
        try Fetch.check(lookups.count, for: ids.count)
        var (fetchedDocuments, rest): ([FetchedDocument], [SyncRecord]) = ([], [])
        fetchedDocuments.reserveCapacity(batch.count)
        var byteCount = 0
        for (record, lookup) in zip(batch, lookups) {
            guard let lookup else {
                rest.append(record)
                continue
            }
            if case .found(let document) = lookup { byteCount += document.byteCount }
            fetchedDocuments.append(FetchedDocument(record, lookup, absenceCauses))
        }
        guard !fetchedDocuments.isEmpty else {
            throw RemoteError(
                .retryable, "the remote answered for none of \(ids.count) requested documents")
        }
        context.findings.count { $0.looked += fetchedDocuments.count }
        context.engine.progress.count { $0.downloadedBytes += byteCount }
        return (fetchedDocuments, rest)
    }

    /// The records of documents that are fetched together.
    struct Batch: Sendable {
        let records: [SyncRecord]
        /// The data that the last commit stores in addition.
        var extras = CommitExtras.nothing
    }

    /// Fetches batches of documents; the next ones are under way while one is taken.
    ///
    /// - Parameters:
    ///   - next: returns the next batch; `nil` at the end.
    ///   - take: takes the documents of one answer, and what their commit stores in addition.
    func batches(
        absenceCauses: [[UInt8]: AbsenceCause] = [:], next: () async throws -> Batch?,
        take: ([FetchedDocument], CommitExtras) async throws -> Void
    ) async throws {
        try await RequestsAhead(context: context).run(next: next) { batch in
            try await documents(for: batch.records, absenceCauses: absenceCauses)
        } take: { batch, answer in
            var (fetchedDocuments, rest) = answer
            while !fetchedDocuments.isEmpty {
                try await take(fetchedDocuments, rest.isEmpty ? batch.extras : .nothing)
                (fetchedDocuments, rest) = try await documents(
                    for: rest, absenceCauses: absenceCauses)
            }
        }
    }

    /// Fetches documents; returns one answer for each.
    func find(_ ids: [BSONValue]) async throws -> [RemoteLookup] {
        let lookups = try await context.request { remote in
            try await remote.find(ids: ids)
        }
        try Fetch.check(lookups.count, for: ids.count)
        return lookups
    }

    /// Checks that there is one answer for each id.
    ///
    /// Its errors are not typed: inlined in an optimised build into a function that suspends, a typed
    /// one crashes the compiler (6.3.1).
    static func check(_ answers: Int, for ids: Int) throws {
        guard answers == ids else {
            throw RemoteError(
                .retryable, "the remote gave \(answers) answers for \(ids) requested documents")
        }
    }
}

extension ArraySlice {
    /// Removes and returns the first elements, at most so many; `nil` at the end.
    mutating func takeFirst(_ count: Int) -> ArraySlice? {
        guard !isEmpty else { return nil }
        let first = prefix(count)
        self = dropFirst(count)
        return first
    }
}
