import BSONStore
import StitchSync

/// One collection of a remote that lies.
struct LyingCollection: RemoteCollection {
    /// The honest one.
    let base: any RemoteCollection
    /// Who decides which lies are told.
    let liar: LyingRemote

    func find(ids: [BSONValue]) async throws(RemoteError) -> [RemoteLookup] {
        try liar.count()
        return liar.twisted(try await base.find(ids: ids).map(told))
    }

    func find(
        ids: [BSONValue], bytesMax: Int
    ) async throws(RemoteError) -> [RemoteLookup?] {
        try liar.count()
        if liar.tells(.emptyPages) { return ids.map { _ in nil } }
        let found = try await base.find(ids: ids, bytesMax: bytesMax)
        return liar.twisted(found.map { $0.map(told) })
    }

    func versions(ids: [BSONValue]) async throws(RemoteError) -> [RemoteVersionLookup] {
        try liar.count()
        let versions = try await base.versions(ids: ids).map { lookup in
            guard case .found(let version, let content) = lookup else { return lookup }
            if liar.tells(.absence) { return .absent }
            let fingerprint =
                liar.tells(.otherContents) ? .content(BSONDocument().contentHash()) : content
            let told = liar.tells(.oddVersions) ? VersionField(of: odd([:])) : version
            return .found(told, content: fingerprint)
        }
        return liar.twisted(versions)
    }

    func find(
        matching filter: BSONDocument, after last: BSONValue?, limit: Int
    ) async throws(RemoteError) -> RemotePage {
        try liar.count()
        if liar.tells(.emptyPages) { return RemotePage(documents: [], isLast: false) }
        let page = try await base.find(matching: filter, after: last, limit: limit)
        let documents = page.documents.map(twisted)
        return RemotePage(
            documents: liar.twisted(documents), isLast: page.isLast && !liar.tells(.moreForEver))
    }

    func count(matching filter: BSONDocument) async throws(RemoteError) -> Int? {
        try liar.count()
        if liar.tells(.counts) { return [-1, 0, .max, .min][liar.below(4)] }
        return try await base.count(matching: filter)
    }

    func write(_ writes: [RemoteWrite]) async throws(RemoteError) -> [RemoteWriteOutcome] {
        try liar.count()
        if liar.tells(.notMatched) { return refused(writes, .notMatched) }
        if liar.tells(.duplicateKey) { return refused(writes, .duplicateKey) }
        if liar.tells(.refusal) { return refused(writes, .failed(liar.error())) }
        let outcomes = try await base.write(writes)
        if liar.tells(.lostAnswer) { throw RemoteError(.retryable, "a lie") }
        // Others in another place would say that a refused write was carried out, which is no refusal.
        return liar.tells(.shortLists) ? outcomes.dropLast() : outcomes
    }

    func currentToken() async throws(RemoteError) -> ResumeToken {
        try liar.count()
        return liar.tells(.newTokens) ? newToken : try await base.currentToken()
    }

    func changes(
        after token: ResumeToken, limit: Int, waitingUpTo wait: Duration
    ) async throws(RemoteError) -> RemoteChangeBatch {
        try liar.count()
        if liar.tells(.newTokens) {
            let changes = liar.tells(.foreignDocuments) ? [stranger] : []
            return RemoteChangeBatch(
                changes: changes, token: newToken, hasMore: liar.tells(.moreForEver))
        }
        let isHasty = liar.tells(.haste)
        let batch = try await base.changes(
            after: token, limit: limit, waitingUpTo: isHasty ? .zero : wait)
        var changes = liar.twisted(batch.changes.map(told))
        if liar.tells(.foreignDocuments) { changes.append(stranger) }
        return RemoteChangeBatch(
            changes: changes, token: liar.tells(.sameToken) ? token : batch.token,
            hasMore: batch.hasMore || liar.tells(.moreForEver))
    }

    func identity() async throws(RemoteError) -> RemoteIdentity {
        try liar.count()
        guard liar.tells(.identities) else { return try await base.identity() }
        let bytes = (0..<16).map { _ in UInt8(liar.below(256)) }
        let other = RemoteIdentity.known(BSONBinary(bytes, subtype: 4))
        return [.unknown, .notMade, other][liar.below(3)]
    }

    func tombstones(
        ids: [BSONValue], since place: ResumeToken?
    ) async throws(RemoteError) -> [RemoteTombstone?] {
        try liar.count()
        let found = try await base.tombstones(ids: ids, since: place)
        // In another order they would tell of deletes that were not.
        if liar.tells(.shortLists) { return found.dropLast() }
        return liar.tells(.longLists) ? found + [nil, nil] : found
    }
}

// MARK: - What is told

extension LyingCollection {
    private static let excess = String(repeating: "x", count: 16 * 1024 * 1024)

    private var newToken: ResumeToken {
        ResumeToken(["n": .int64(Int64(liar.below(.max)))])
    }

    private var stranger: RemoteChange {
        RemoteChange(
            documentID: .string("stranger \(liar.below(1_000))"), isDelete: false,
            version: .absent, operation: nil)
    }

    private func refused(
        _ writes: [RemoteWrite], _ outcome: RemoteWriteOutcome
    ) -> [RemoteWriteOutcome] {
        liar.twisted(writes.map { _ in outcome })
    }

    private func told(_ change: RemoteChange) -> RemoteChange {
        guard !change.isDelete, liar.tells(.oddVersions) else { return change }
        return RemoteChange(
            documentID: change.documentID, isDelete: false, version: VersionField(of: odd([:])),
            operation: change.operation)
    }

    private func told(_ lookup: RemoteLookup) -> RemoteLookup {
        switch lookup {
        case .found(let document): liar.tells(.absence) ? .absent : .found(twisted(document))
        case .absent:
            liar.tells(.foreignDocuments) ? .found(["_id": "stranger", "n": 1]) : .absent
        case .hidden: lookup
        }
    }

    private func twisted(_ document: BSONDocument) -> BSONDocument {
        var document = document
        if liar.tells(.otherContents) { document["text"] = "a lie" }
        if liar.tells(.oddVersions) { document = odd(document) }
        if liar.tells(.foreignDocuments) { document["_id"] = "stranger" }
        if liar.tells(.invalid) { document = invalid(document) }
        if liar.tells(.oversized), liar.below(20) == 0 { document["s"] = .string(Self.excess) }
        return document
    }

    private func invalid(_ document: BSONDocument) -> BSONDocument {
        var document = document
        switch liar.below(4) {
        case 0: document["_id"] = nil
        case 1: document["_id"] = .array([1, 2])
        case 2: document["_id"] = .undefined
        default:
            for _ in 0..<150 { document = ["_id": document["_id"] ?? 0, "d": .document(document)] }
        }
        return document
    }

    /// A document with a version of an odd type.
    private func odd(_ document: BSONDocument) -> BSONDocument {
        let versions: [BSONValue] = [
            .null, .string("x"), .int32(-1), .array([1, 2]), .document([:]), .minKey,
            .document(["spv": 99, "id": "x", "v": 0, "op": 1]),
            .document(["spv": 1, "id": 1, "v": "x", "op": .null]),
            .document(["spv": 1, "id": "x", "v": .int64(.max), "op": "x"]),
            .document(["spv": 1, "id": "x", "v": .double(.nan)]),
        ]
        var document = document
        document[DocumentVersion.fieldName] = versions[liar.below(versions.count)]
        return document
    }
}
