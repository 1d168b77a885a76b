internal import BSONStore

/// A page of feed changes and, if the stream shows them, definition changes, in order.
struct FeedPage {
    /// A change of a document, of a whole collection, or of a collection's definition.
    enum Entry {
        case change(StoreChange)
        case definition(DefinitionChange)
    }

    /// The changes.
    private(set) var entries: [Entry] = []
    /// The position after all changes.
    let end: ChangeStreamPosition
    /// Whether the feed had no more changes.
    let isAtEnd: Bool
    /// The later changes of whole collections, if the stream shows definitions.
    private let later: [StoreChange]

    /// Reads the page after a position; without a definition id it omits definition changes.
    ///
    /// - Throws: 286 (ChangeStreamHistoryLost) when the feed does not reach back so far.
    init(
        _ transaction: ReadTransaction, after place: ChangeStreamPosition, in namespace: Namespace?,
        limit: Int
    ) throws {
        let begin = place.kind == .pieces ? place.position - 1 : place.position
        let found = try transaction.changes(after: begin, in: namespace, limit: limit)
        var end = place.marked
        try end.move(to: found.position, transaction)
        guard let definition = place.definition else {
            entries = found.changes.map(Entry.change)
            self.end = end
            isAtEnd = found.isAtEnd
            later = []
            return
        }
        let definitions = try transaction.definitionChanges(
            after: definition, through: found.position, limit: limit)
        // More changes may follow at the same position.
        let isCut = definitions.count == limit
        if isCut, let last = definitions.last {
            try end.move(to: max(place.position, last.position), transaction)
        }
        end.definition = definitions.last?.id ?? definition
        var rest = definitions[...]
        for change in found.changes where change.position <= end.position {
            while let next = rest.first, next.position < change.position {
                entries.append(.definition(rest.removeFirst()))
            }
            entries.append(.change(change))
        }
        entries += rest.map(Entry.definition)
        self.end = end
        isAtEnd = found.isAtEnd && !isCut
        later = try transaction.collectionChanges(after: begin)
    }

    /// Returns the UUID of the collection at the time of a change.
    func uuid(of change: StoreChange, _ transaction: ReadTransaction) throws -> BSONValue? {
        guard change.kind != .dropDatabase else { return nil }
        let next = later.first { other in
            other.position >= change.position && other.namespace == change.namespace
        }
        guard let next else { return try transaction.uuid(change.namespace) }
        let isAnother = next.kind == .renameTarget && next.position != change.position
        return next[isAnother ? .dropTarget : .uuid]
    }
}

extension FeedPage.Entry {
    /// The comment of the change, which the writer set.
    var comment: BSONValue? {
        switch self {
        case .change(let change): change.comment
        case .definition(let change): change.comment
        }
    }

    /// Returns the stream's position after the change.
    func place(after place: ChangeStreamPosition) -> ChangeStreamPosition {
        var next = place
        switch self {
        case .change(let change):
            next.position = change.position
            next.kind = .event
            next.pieceCount = 0
            next.time = WriteStamp(change.comment)?.time
        case .definition(let change):
            next.position = max(place.position, change.position)
            next.kind = .mark
            if next.position != place.position { next.time = nil }
            next.pieceCount = 0
            next.definition = change.id
        }
        return next
    }

    /// Whether a stream with this scope includes the change.
    func isIn(_ scope: ChangeStreamScope) -> Bool {
        switch self {
        case .change(let change): scope.includes(change)
        case .definition(let change): scope.includes(change)
        }
    }
}

extension ChangeStreamPosition {
    /// Creates a position at which no event was returned.
    init(marking position: Int64, _ transaction: ReadTransaction) throws(StoreError) {
        self.init(position: position, kind: .mark)
        try move(to: position, transaction)
    }

    /// The same position without an event.
    var marked: ChangeStreamPosition {
        ChangeStreamPosition(
            position: position, kind: .mark, definition: definition, rules: rules, time: time,
            start: start)
    }

    /// Moves to a position, and reads the time of the change there.
    mutating func move(to position: Int64, _ transaction: ReadTransaction) throws(StoreError) {
        guard position != self.position || time == nil else { return }
        self.position = position
        time = WriteStamp(try transaction.changeComment(at: position))?.time
    }

    /// Checks that the position is of this history: the store may be a restored copy that diverged,
    /// or another store.
    ///
    /// - Throws: 286 (ChangeStreamHistoryLost) if the position now holds another change.
    func check(_ transaction: ReadTransaction) throws {
        guard let time, let comment = try transaction.changeComment(at: position) else { return }
        guard WriteStamp(comment)?.time == time else {
            throw CommandFailure(
                286,
                "Resume of change stream was not possible, as the resume token is of another "
                    + "history: another change is at position \(position) by now")
        }
    }
}
