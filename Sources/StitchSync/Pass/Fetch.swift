internal import BSONStore

/// The fetch of documents from the remote.
struct Fetch {
    let context: PassContext

    /// Fetches as many documents as fit into one answer, at least one; returns the rest for later.
    func documents(
        for batch: [SyncRecord], told: [[UInt8]: AbsenceCause] = [:]
    ) async throws -> (fetched: [FetchedDocument], rest: [SyncRecord]) {
        let (ids, bytesMax) = (batch.map(\.documentID), context.limits.batchBytes)
        let lookups = try await context.request { remote in
            try await remote.find(ids: ids, bytesMax: bytesMax)
        }
        try Fetch.check(lookups.count, for: ids.count)
        var (looks, rest): ([FetchedDocument], [SyncRecord]) = ([], [])
        looks.reserveCapacity(batch.count)
        var byteCount = 0
        for (record, lookup) in zip(batch, lookups) {
            guard let lookup else {
                rest.append(record)
                continue
            }
            if case .found(let document) = lookup { byteCount += document.byteCount }
            looks.append(FetchedDocument(record, lookup, told))
        }
        guard !looks.isEmpty else {
            throw RemoteError(.retryable, "asked for \(ids.count) documents, none was looked up")
        }
        context.findings.count { $0.looked += looks.count }
        context.engine.progress.count { $0.downloadedBytes += byteCount }
        return (looks, rest)
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
            throw RemoteError(.retryable, "asked for \(ids) documents, got \(answers) answers")
        }
    }
}
