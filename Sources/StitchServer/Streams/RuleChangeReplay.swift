internal import BSONStore
internal import StitchRules

/// Makes of the documents that a stream's user saw under former rules those that the user sees now.
///
/// A stream knows documents as they were seen at its place. What other rules give and take no change
/// in the feed tells; here it is found out for the newest state of the store, so that the stream
/// goes on behind it.
struct RuleChangeReplay: Sendable {
    /// How many documents may come, go and change; with more, everything is to be read anew.
    static let documentsMax = 100_000

    /// What becomes of one document.
    struct ReplayedDocument: Sendable {
        enum Kind: Sendable {
            /// It came into view.
            case enters
            /// It is seen with other fields, or as it became meanwhile.
            case changes
            /// It left the view.
            case leaves
            /// It was deleted meanwhile.
            case goes
        }

        let namespace: Namespace
        let id: BSONValue
        let kind: Kind
    }

    /// The position in the feed behind which the stream goes on.
    let position: Int64
    /// The collections that are decided about otherwise: their changes up to the position are in the
    /// turns.
    let namespaces: Set<Namespace>
    /// What is left to tell, the first one last.
    private(set) var turns: [ReplayedDocument] = []
    /// How many turns were told.
    private(set) var toldCount: Int64 = 0

    /// Compares what was seen at a place with what is seen now.
    ///
    /// - Throws: 286 when that is too much, or when a collection was dropped or renamed meanwhile.
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

    /// Takes the next turn.
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

    /// The documents that changed since the place, as they were there.
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

    /// Says that a stream cannot go on under other rules.
    static let readAnew = CommandFailure(
        286, "The rules for this user have changed; read again and open a new stream")
}
