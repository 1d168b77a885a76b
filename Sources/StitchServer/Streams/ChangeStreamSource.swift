internal import BSONStore

/// Gives the events of a change stream from the store's feed.
///
/// It holds a place and nothing else: a slow reader costs no memory and holds up nobody.
struct ChangeStreamSource: CursorSource {
    /// Changes that are read from the feed at a time.
    private static let changesMax = 500

    private let store: DocumentStore
    private let stage: ChangeStreamStage
    private let scope: ChangeStreamScope
    private let rest: EventPipeline?
    /// Up to where the feed was looked at.
    private var place: StreamPlace
    /// Where the feed's positions are those of events that begin too early.
    private var startTime: BSONTimestamp?
    /// The time of the last change that had one.
    private var lastStamp: WriteStamp
    /// A change after which the stream is over, whose notice was not given out.
    private var ending: ChangeEvent?
    /// Whether the notice was given out.
    private var isOver = false

    /// Finds the place where the stream begins.
    ///
    /// - Throws: 286 (ChangeStreamHistoryLost) when the feed does not reach back so far, 280 for a
    ///   place of another feed, and what the pipeline's stages say.
    init(
        _ store: DocumentStore, _ stage: ChangeStreamStage, _ scope: ChangeStreamScope,
        rest: BSONArray, options: PipelineOptions, now: BSONTimestamp
    ) throws {
        self.store = store
        self.stage = stage
        self.scope = scope
        self.rest = try rest.isEmpty ? nil : EventPipeline(rest, options)
        lastStamp = WriteStamp(time: now)
        switch stage.start {
        case .now:
            let head = try store.read { try $0.changePosition }
            place = StreamPlace(position: head, kind: .mark)
        case .behind(let given):
            place = given
        case .atTime(let time):
            let position = try store.read { try FeedTimes($0).position(before: time) }
            place = StreamPlace(position: position, kind: .mark)
            startTime = time
        }
        if place.kind == .event { ending = try endingAtStart() }
        // Whether the history reaches back so far is said at once.
        _ = try store.read { try $0.changes(after: place.position, limit: 1) }
    }

    /// The change at which the stream goes on, when only the notice of its end is missing.
    private func endingAtStart() throws -> ChangeEvent? {
        guard place.position > 0 else { return nil }
        let batch: StoreChangeBatch
        do {
            batch = try store.read { try $0.changes(after: place.position - 1, limit: 1) }
        } catch let error as StoreError where error.code == .changeStreamHistoryLost {
            return nil
        }
        return batch.changes.first { scope.ends(with: $0) }.map { ending(at: $0) }
    }

    private func ending(at change: StoreChange) -> ChangeEvent {
        ChangeEvent(
            change: change, place: StreamPlace(position: change.position, kind: .invalidate),
            stamp: WriteStamp(change.comment) ?? lastStamp)
    }

    mutating func next(_ limits: BatchLimits, _ call: CommandCall) throws -> CursorBatch {
        var batch = CursorBatch()
        var bytes = 0
        try finish(&batch, limits, &bytes)
        var hasMore = !isOver
        while hasMore, batch.documents.count < limits.documentsMax {
            try call.checkTime()
            hasMore = try store.read { try read($0, &batch, limits, &bytes) }
            try finish(&batch, limits, &bytes)
            hasMore = hasMore && !isOver
        }
        batch.isAtEnd = isOver
        batch.resumeToken = place.token
        return batch
    }

    /// Gives the notice that the stream is over, when its turn has come.
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

    /// Reads on; returns whether there is more to read now.
    private mutating func read(
        _ transaction: ReadTransaction, _ batch: inout CursorBatch, _ limits: BatchLimits,
        _ bytes: inout Int
    ) throws -> Bool {
        let found = try transaction.changes(
            after: place.position, in: scope.namespace, limit: Self.changesMax)
        for change in found.changes {
            let stamp = WriteStamp(change.comment) ?? lastStamp
            if scope.includes(change), startTime.map({ $0 <= stamp.time }) ?? true {
                let event = ChangeEvent(
                    change: change, place: StreamPlace(position: change.position, kind: .event),
                    stamp: stamp)
                let document = try document(event, transaction)
                if let document {
                    guard
                        limits.hasRoom(
                            count: batch.documents.count, bytes: bytes, for: document)
                    else { return false }
                    batch.documents.append(document)
                    bytes += document.byteCount + 16
                }
                place =
                    document == nil
                    ? StreamPlace(position: change.position, kind: .mark) : event.place
                if scope.ends(with: change) {
                    ending = ending(at: change)
                    return false
                }
            }
            lastStamp = stamp
            if batch.documents.count >= limits.documentsMax {
                if change.position == place.position { return false }
                place = StreamPlace(position: change.position, kind: .mark)
                return false
            }
        }
        if found.position > place.position {
            place = StreamPlace(position: found.position, kind: .mark)
        }
        return !found.isAtEnd
    }

    private func document(
        _ event: ChangeEvent, _ transaction: ReadTransaction
    ) throws -> BSONDocument? {
        let namespace = event.change.namespace
        let asksForImages =
            stage.fullDocument == .whenAvailable || stage.fullDocument == .required
            || stage.fullDocumentBeforeChange != .off
        let keepsImages =
            try asksForImages && (transaction.options(namespace)?.keepsImages ?? false)
        let document = try event.document(stage, keepsImages: keepsImages) { id in
            try transaction.get(namespace, id: id)
        }
        return try passed(document, transaction)
    }

    /// The event as the rest of the pipeline gives it, `nil` when it is left out.
    private func passed(
        _ event: BSONDocument, _ transaction: ReadTransaction
    ) throws -> BSONDocument? {
        guard let rest else { return event }
        return try rest.pass(event, transaction)
    }
}
