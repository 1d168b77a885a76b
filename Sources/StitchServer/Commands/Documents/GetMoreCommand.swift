internal import BSONStore

/// Returns the next documents of a cursor.
///
/// Source: MongoDB manual, "getMore"; the server's `getmore_command.idl`.
enum GetMoreCommand {
    static let definition = CommandDefinition(
        "getMore", aliases: [], [.inTransaction, .stable],
        fields: [
            "collection": .string, "batchSize": .number, "term": .number,
            "lastKnownCommittedOpTime": .any, "includeQueryStatsMetrics": .flag,
        ], required: ["collection"],
        privileges: .cursor, underRules: .harmless, gateway: .here,
        statements: nil, cursor: .continues, .store(run))

    private static func run(_ call: CommandCall, _ backend: StoreBackend) throws -> CommandOutcome {
        let id: Int64
        switch call.target {
        case .int64(let value): id = value
        default:
            throw CommandFailure(
                .typeMismatch,
                "BSON field 'getMore.getMore' is the wrong type "
                    + "'\(call.target.type.alias)', expected type 'long'")
        }
        let namespace = try call.namespace(call.string("collection") ?? "")
        let batchSize = try call.count("batchSize")
        let cursor = try backend.cursors.pin(
            id, namespace, call.session, by: call.cursorOwner)
        let wait: Int
        do {
            wait = try waitingTime(call, cursor.options)
            if cursor.options.hasTimeLimit, call.server.timesOut { throw CommandCall.timeIsOver }
            try fail(call, cursor)
        } catch {
            backend.cursors.unpin(id, cursor.source, isAtEnd: false)
            throw error
        }
        return try next(
            Reading(
                cursor: cursor, limits: limits(batchSize, cursor.options), call: call,
                deadline: .now + .milliseconds(wait)), cursor.source, backend,
            isTimeUp: wait == 0)
    }

    /// Fails the command where a test asks for it.
    private static func fail(_ call: CommandCall, _ cursor: CursorTable.Cursor) throws {
        let fault = call.server.failPoints.fault("failGetMoreAfterCursorCheckout") { _ in true }
        guard let code = fault?["errorCode"]?.wholeNumber else { return }
        let isStream = cursor.source.reportsRuleChanges
        throw CommandFailure(
            Int32(clamping: code), "Hit the 'failGetMoreAfterCursorCheckout' failpoint",
            labels: isStream && resumable.contains(code) ? ["ResumableChangeStreamError"] : [])
    }

    /// The errors after which a driver may resume a change stream.
    ///
    /// Source: the drivers' specification "Change Streams", section "Resumable Error".
    private static let resumable: Set<Int> = [
        6, 7, 63, 89, 91, 133, 150, 189, 234, 262, 9001, 10107, 11600, 11602, 13388, 13435, 13436,
    ]

    /// The part that stays the same while a cursor waits for more.
    private struct Reading: Sendable {
        let cursor: CursorTable.Cursor
        let limits: BatchLimits
        let call: CommandCall
        let deadline: ContinuousClock.Instant
    }

    private static func limits(_ given: Int?, _ options: CursorOptions) -> BatchLimits {
        guard let size = given ?? options.batchSize, size > 0 else { return BatchLimits() }
        return BatchLimits(documentsMax: size)
    }

    private static func waitingTime(
        _ call: CommandCall, _ options: CursorOptions
    ) throws(CommandFailure) -> Int {
        guard options.awaitsData else {
            guard call["maxTimeMS"] == nil else {
                throw CommandFailure(
                    .badValue,
                    "cannot set maxTimeMS on getMore command for a non-awaitData cursor")
            }
            return 0
        }
        return min(call.number("maxTimeMS") ?? 1_000, 600_000)
    }

    private static func next(
        _ reading: Reading, _ source: any CursorSource, _ backend: StoreBackend, isTimeUp: Bool
    ) throws -> CommandOutcome {
        let cursor = reading.cursor
        let news = source.news ?? backend.commits
        let generation = news.generation
        var source = source
        // Before the documents are read: what follows them has later times.
        let changesUpTo = source.changesUpTo
        let batch: CursorBatch
        do {
            batch = try source.next(reading.limits, reading.call)
        } catch {
            backend.cursors.unpin(cursor.id, source, isAtEnd: true)
            throw error
        }
        if batch.documents.isEmpty, let changesUpTo {
            reading.call.connection.state.withLock {
                $0.noteCaughtUp(cursor.namespace, upTo: changesUpTo)
            }
        }
        if batch.documents.isEmpty, !batch.isAtEnd, !isTimeUp, cursor.options.awaitsData,
            backend.cursors.end(of: cursor.id) == nil
        {
            return wait(reading, source, backend, for: news, after: generation)
        }
        let end = backend.cursors.end(of: cursor.id)
        backend.cursors.unpin(cursor.id, source, isAtEnd: batch.isAtEnd)
        if let end { throw end }
        return .reply(
            CursorReply.reply(
                batch, .next, id: batch.isAtEnd ? 0 : cursor.id, cursor.namespace))
    }

    private static func wait(
        _ reading: Reading, _ source: any CursorSource, _ backend: StoreBackend,
        for news: CommitNotifier, after generation: UInt64
    ) -> CommandOutcome {
        let waiting = NewsWait(news, source)
        return .waiting(
            CommandWait(
                deadline: reading.deadline,
                subscribe: { wake in
                    let ignore = backend.cursors.onEnd(reading.cursor.id, wake)
                    waiting.begin(after: generation, wake)
                    return {
                        ignore()
                        waiting.end()
                    }
                },
                again: { isTimeUp in
                    try next(reading, waiting.source, backend, isTimeUp: isTimeUp)
                },
                abandon: {
                    backend.cursors.unpin(reading.cursor.id, waiting.source, isAtEnd: true)
                }))
    }
}
