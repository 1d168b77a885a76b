internal import BSONStore
internal import StitchRules

/// The events of a change stream, read from the store's feed.
///
/// The source holds only a position: a slow reader uses no memory and blocks no writer.
struct ChangeStreamSource: CursorSource {
    /// A change stream reports the end of its collection.
    var survivesCollectionEnd: Bool { true }
    var newsScope: CommitScope {
        switch scope {
        case .collection(let namespace): .collection(namespace)
        case .database(let database): .database(database)
        case .cluster: .everything
        }
    }
    /// A change stream reports changed rules as events.
    var reportsRuleChanges: Bool { true }
    var changesUpTo: BSONDatetime? { .now }

    /// The number of changes that are read from the feed at once.
    private static let changesMax = 500

    private let rules: UserRules
    let store: DocumentStore
    /// The rules of the reading command.
    var ruleGuard: RuleAccessPolicy?
    /// The events from changed rules that are not yet returned.
    var turnover: RuleChangeReplay?
    let stage: ChangeStreamStage
    let scope: ChangeStreamScope
    private let rest: EventPipeline?
    let memoryBytes: Int
    /// The position up to which the feed was read.
    var place: ChangeStreamPosition
    /// The reading device's own changes, as far as they are known.
    private var echoes: EchoFilter?
    /// The ends of collections, after which an update's document cannot be looked up.
    private var ends = CollectionEnds()
    /// The stamp of the last change that had one.
    private(set) var lastStamp: WriteStamp
    /// The change that ends the stream, until its `invalidate` event is returned.
    private var ending: ChangeStreamEvent<ChangeStreamPosition>?
    /// Whether the `invalidate` event was returned.
    private var isOver = false

    /// Finds the start position.
    ///
    /// - Throws: 286 (ChangeStreamHistoryLost) when the feed does not reach back to it, 280 for a
    ///   position of another feed, and the errors of the pipeline's stages.
    init(
        _ store: DocumentStore, _ rules: UserRules, _ stage: ChangeStreamStage,
        _ scope: ChangeStreamScope,
        rest: BSONArray, options: PipelineOptions, now: BSONTimestamp,
        under ruleGuard: RuleAccessPolicy?, holding memoryBytes: Int
    ) throws {
        self.memoryBytes = memoryBytes
        self.store = store
        self.rules = rules
        self.stage = stage
        self.scope = scope
        self.rest = try rest.isEmpty ? nil : EventPipeline(rest, options)
        lastStamp = WriteStamp(time: now)
        echoes = stage.echoes
        switch stage.start {
        case .now:
            place = try store.read { try ChangeStreamPosition(marking: $0.changePosition, $0) }
        case .behind(let given):
            guard given.kind != .pieces || self.rest?.splits == true else {
                throw SplitEvent.isNotAsked
            }
            place = given
            try store.read { try given.check($0) }
        case .token(let token, _):
            place = try ChangeStreamPosition(token: token)
        case .atTime(let time):
            place = try store.read {
                try ChangeStreamPosition(marking: FeedTimeLookup($0).position(before: time), $0)
            }
            place.start = time
        }
        place.definition = try stage.showsExpandedEvents ? firstDefinition() : nil
        try begin(under: ruleGuard)
        if place.kind == .event { ending = try endingAtStart() }
        // A feed that is too short is reported immediately.
        _ = try store.read { try $0.changes(after: place.position, limit: 1) }
    }

    /// Returns the definition change after which the stream starts.
    private func firstDefinition() throws -> Int64 {
        if let known = place.definition { return known }
        if case .now = stage.start { return try store.read { try $0.definitionID } }
        return try store.read { try $0.definitionID(before: place.position) }
    }

    /// Returns the ending change, if only its `invalidate` event is missing.
    private func endingAtStart() throws -> ChangeStreamEvent<ChangeStreamPosition>? {
        guard place.position > 0 else { return nil }
        let batch: StoreChangeBatch
        do {
            batch = try store.read { try $0.changes(after: place.position - 1, limit: 1) }
        } catch let error as StoreError where error.code == .changeStreamHistoryLost {
            return nil
        }
        return batch.changes.first { scope.ends(with: $0) }.map { ending(at: $0) }
    }

    private func ending(at change: StoreChange) -> ChangeStreamEvent<ChangeStreamPosition> {
        ChangeStreamEvent(
            change: change,
            place: ChangeStreamPosition(
                position: change.position, kind: .invalidate, rules: place.rules,
                time: WriteStamp(change.comment)?.time),
            stamp: WriteStamp(change.comment) ?? lastStamp)
    }

    mutating func next(_ limits: BatchLimits, _ call: CommandCall) throws -> CursorBatch {
        var batch = CursorBatch()
        var bytes = 0
        try go(onUnder: try rules.ruleGuard(call))
        try finish(&batch, limits, &bytes)
        var hasMore = !isOver
        while hasMore, batch.documents.count < limits.documentsMax {
            try call.checkTime()
            guard try turn(&batch, limits, &bytes) else { break }
            hasMore = try store.read { transaction in
                try transaction.withAccessPolicy(ruleGuard) {
                    try read(transaction, &batch, limits, &bytes)
                }
            }
            try finish(&batch, limits, &bytes)
            hasMore = hasMore && !isOver
        }
        batch.isAtEnd = isOver
        batch.resumeToken = place.token
        return batch
    }

    /// Adds the `invalidate` event when it is due.
    private mutating func finish(
        _ batch: inout CursorBatch, _ limits: BatchLimits, _ bytes: inout Int
    ) throws {
        guard let event = ending, batch.documents.count < limits.documentsMax else { return }
        place = event.place
        ending = nil
        isOver = true
        if let document = try store.read({ try passed(event.invalidation, $0) }) {
            batch.documents.append(document)
        }
    }

    /// Reads more changes; returns whether the feed has more now.
    private mutating func read(
        _ transaction: ReadTransaction, _ batch: inout CursorBatch, _ limits: BatchLimits,
        _ bytes: inout Int
    ) throws -> Bool {
        let page = try FeedPage(
            transaction, after: place, in: scope.namespace, limit: Self.changesMax)
        for entry in page.entries {
            let stamp = WriteStamp(entry.comment) ?? lastStamp
            if let start = self.place.start, start <= stamp.time { self.place.start = nil }
            let place = entry.place(after: self.place)
            if let turnover, place.position > turnover.position {
                // Events from changed rules come first.
                try self.place.move(to: turnover.position, transaction)
                return true
            }
            if isToldApart(entry) {
                self.place = place.marked
            } else if entry.isIn(scope), place.start == nil {
                if let event = try document(entry, place, stamp, page, transaction),
                    let document = try passed(event, transaction)
                {
                    guard try give(document, at: place, &batch, limits, &bytes) else {
                        return false
                    }
                } else {
                    self.place = place.marked
                }
                if case .change(let change) = entry, scope.ends(with: change) {
                    ending = ending(at: change)
                    return false
                }
            }
            lastStamp = stamp
            if batch.documents.count >= limits.documentsMax {
                if place != self.place { self.place = place.marked }
                return false
            }
        }
        if let turnover, page.end.position >= turnover.position {
            try place.move(to: turnover.position, transaction)
            place.kind = .mark
            return true
        }
        if page.end.position > place.position || page.end.definition != place.definition {
            let start = place.start
            place = page.end
            place.start = start
        }
        return !page.isAtEnd
    }

    /// Adds an event, split if necessary; returns whether all of it fit.
    private mutating func give(
        _ event: BSONDocument, at place: ChangeStreamPosition, _ batch: inout CursorBatch,
        _ limits: BatchLimits, _ bytes: inout Int
    ) throws -> Bool {
        let splits = rest?.splits ?? false
        guard splits, event.byteCount > SplitEvent.bytesMax else {
            guard event.byteCount <= SplitEvent.wholeBytesMax else {
                throw SplitEvent.tooLarge(event)
            }
            guard self.place.kind != .pieces else { throw SplitEvent.isWhole }
            return give(event, place, &batch, limits, &bytes)
        }
        let pieces = try SplitEvent.pieces(event)
        let given = self.place.kind == .pieces ? Int(self.place.pieceCount) : 0
        guard given < pieces.count else { throw SplitEvent.isAnother }
        for (index, fields) in pieces.enumerated().dropFirst(given) {
            var behind = place
            if index + 1 < pieces.count {
                behind.kind = .pieces
                behind.pieceCount = UInt16(index + 1)
            }
            var piece: BSONDocument = [
                "_id": .document(behind.token),
                "splitEvent": [
                    "fragment": .int32(Int32(index + 1)), "of": .int32(Int32(pieces.count)),
                ],
            ]
            for (key, value) in fields { piece.append(key, value) }
            guard give(piece, behind, &batch, limits, &bytes) else { return false }
        }
        return true
    }

    mutating func give(
        _ document: BSONDocument, _ place: ChangeStreamPosition, _ batch: inout CursorBatch,
        _ limits: BatchLimits, _ bytes: inout Int
    ) -> Bool {
        guard limits.hasRoom(count: batch.documents.count, bytes: bytes, for: document) else {
            return false
        }
        batch.documents.append(document)
        bytes += document.byteCount + 16
        self.place = place
        return true
    }

    private mutating func document(
        _ entry: FeedPage.Entry, _ place: ChangeStreamPosition, _ stamp: WriteStamp,
        _ page: FeedPage,
        _ transaction: ReadTransaction
    ) throws -> BSONDocument? {
        switch entry {
        case .definition(let change):
            // Definitions could reveal what rules hide.
            guard ruleGuard == nil else { return nil }
            return SchemaChangeEvent(change: change, place: place, stamp: stamp).document
        case .change(let change):
            var event = ChangeStreamEvent(change: change, place: place, stamp: stamp)
            if stage.showsExpandedEvents {
                event.collectionUUID = try page.uuid(of: change, transaction)
            }
            return try document(event, transaction)
        }
    }

    private mutating func document(
        _ event: ChangeStreamEvent<ChangeStreamPosition>, _ transaction: ReadTransaction
    ) throws -> BSONDocument? {
        var event = event
        var passage: VisibleChange.VisibilityTransition?
        if let ruleGuard {
            guard let seen = ruleGuard.seen(event.change) else { return nil }
            passage = seen.passage
            if echoes != nil, seen.showsAll(of: event.change),
                echoes?.leavesOut(event.change) == true
            {
                return nil
            }
            let uuid = event.collectionUUID
            event = ChangeStreamEvent(change: seen.change, place: event.place, stamp: event.stamp)
            event.collectionUUID = uuid
        } else if echoes?.leavesOut(event.change) == true {
            return nil
        }
        if stage.showsBriefEvents, let brief = BriefEvent(event.change, event.place) {
            var document = brief.document
            if let passage { document.append(passage.rawValue, true) }
            return document
        }
        let namespace = event.change.namespace
        let requestsImages =
            stage.fullDocument == .whenAvailable || stage.fullDocument == .required
            || stage.fullDocumentBeforeChange != .off
        let keepsImages =
            try requestsImages && (transaction.options(namespace)?.keepsImages ?? false)
        let isGone =
            try stage.fullDocument == .updateLookup && event.change.kind == .update
            && ends.follow(event.change, transaction)
        var document = try event.document(stage, keepsImages: keepsImages) { id in
            isGone ? nil : try transaction.get(namespace, id: id)
        }
        if let passage { document.append(passage.rawValue, true) }
        return document
    }

    /// Returns the event after the rest of the pipeline; `nil` if it was filtered out.
    func passed(
        _ event: BSONDocument, _ transaction: ReadTransaction
    ) throws -> BSONDocument? {
        guard let rest else { return event }
        return try rest.pass(event, transaction)
    }
}
