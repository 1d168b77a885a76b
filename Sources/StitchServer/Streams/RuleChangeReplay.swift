internal import BSONStore
internal import StitchRules

/// The events that turn the documents visible under former rules into those visible now.
///
/// The feed contains no change for a document that new rules reveal or hide. The replay compares
/// the state at the stream's position with the newest state of the store, and the stream continues
/// from there.
struct RuleChangeReplay: Sendable {
    /// The maximum number of affected documents; above it the client must read everything again.
    static let documentsMax = 100_000

    /// The effect on one document.
    struct ReplayedDocument: Sendable {
        enum Kind: Sendable {
            /// The document became visible.
            case enters
            /// The document has other visible fields or values.
            case changes
            /// The document is no longer visible.
            case leaves
            /// The document was deleted meanwhile.
            case goes
        }

        let namespace: Namespace
        let id: BSONValue
        let kind: Kind
    }

    /// The feed position after which the stream continues.
    let position: Int64
    /// The collections whose rules differ; the replay covers their changes up to the position.
    let namespaces: Set<Namespace>
    /// The remaining effects, in reverse order.
    private(set) var turns: [ReplayedDocument] = []
    /// The number of effects already returned.
    private(set) var toldCount: Int64 = 0

    /// Compares the documents visible at a position with those visible now.
    ///
    /// - Throws: 286 when too many documents are affected, or when a collection was dropped or
    ///   renamed meanwhile.
    init(
        _ transaction: ReadTransaction, after place: Int64, in scope: ChangeStreamScope,
        from former: RuleAccessPolicy, to now: RuleAccessPolicy
    ) throws {
        position = try transaction.changePosition
        let known = try scope.namespace.map { [$0] } ?? transaction.collections()
        let names = known.filter { scope.includes($0) && !former.decidesEqually(now, only: $0) }
        namespaces = Set(names)
        for name in names {
            try add(name, transaction, place, former.access(name), now.access(name))
        }
        turns.reverse()
    }

    /// Removes and returns the next effect.
    mutating func next() -> ReplayedDocument? {
        guard let turn = turns.popLast() else { return nil }
        toldCount += 1
        return turn
    }

    private mutating func add(
        _ name: Namespace, _ transaction: ReadTransaction, _ place: Int64, _ former: RuleAccess,
        _ now: RuleAccess
    ) throws {
        var before = try Self.before(name, transaction, place, position)
        try transaction.forEach(name, filter: .all) { document in
            let id = document["_id"] ?? .null
            let knew = (before.removeValue(forKey: id) ?? document).flatMap(former.visible)
            let kind: ReplayedDocument.Kind
            switch (knew, now.visible(document)) {
            case (nil, nil): return
            case (nil, _?): kind = .enters
            case (_?, nil): kind = .leaves
            case (let knew?, let sees?):
                guard knew != sees else { return }
                kind = .changes
            }
            turns.append(ReplayedDocument(namespace: name, id: id, kind: kind))
            guard turns.count <= Self.documentsMax else { throw Self.readAnew }
        }
        let gone = before.filter { $0.value.flatMap(former.visible) != nil }.keys
        turns += gone.sorted { $0.extendedJSON(.canonical) < $1.extendedJSON(.canonical) }
            .map { ReplayedDocument(namespace: name, id: $0, kind: .goes) }
        guard turns.count <= Self.documentsMax else { throw Self.readAnew }
    }

    /// Returns the state at the position of documents that changed since.
    private static func before(
        _ name: Namespace, _ transaction: ReadTransaction, _ place: Int64, _ end: Int64
    ) throws -> [BSONValue: BSONDocument?] {
        var found: [BSONValue: BSONDocument?] = [:]
        var place = place
        while place < end {
            let page = try transaction.changes(after: place, in: name, limit: 1_000)
            for change in page.changes {
                guard change.kind.isOfDocument, found.count < documentsMax else { throw readAnew }
                if found[change.documentID] == nil {
                    found.updateValue(change.before, forKey: change.documentID)
                }
            }
            guard !page.isAtEnd, page.position > place else { break }
            place = page.position
        }
        return found
    }

    /// The error for a stream that cannot continue under other rules.
    static let readAnew = CommandFailure(
        286, "The rules for this user have changed; read again and open a new stream")
}
