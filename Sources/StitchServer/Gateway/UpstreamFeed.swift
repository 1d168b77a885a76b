internal import BSONStore

/// The change stream of a collection, a database or the whole upstream that a gateway follows for
/// all of its clients.
///
/// It keeps the newest events. A client that is further behind reads the upstream itself until it
/// has caught up.
final class UpstreamFeed: Sendable {
    /// The events after a position.
    enum Page: Sendable {
        /// Events in order, and the position after them.
        case events([FeedEvent], end: FeedToken)
        /// The feed no longer, or not yet, reaches back to the position.
        case outOfReach
    }

    private struct State: Sendable {
        var events: [FeedEvent] = []
        /// The last kept event of each document.
        var newest: [FeedEvent.DocumentKey: FeedEvent] = [:]
        /// The position before the first kept event; `nil` before the stream is open.
        var start: FeedToken?
        /// The position up to which the upstream was read.
        var end: FeedToken?
        var byteCount = 0
        var isStopped = false
        /// Whether the last command to the upstream succeeded.
        var isConnected = false
        /// The time of the last batch; one comes at least each second.
        var lastRead = ContinuousClock.now
        /// The time up to which the events are all there are; `nil` before the first batch.
        var changesUpTo: BSONDatetime?
        var readers = 0
        var lastUsed = ContinuousClock.now
        /// The last known documents of collections that keep no earlier ones.
        var images: [[UInt8]: BSONDocument] = [:]
        var imageOrder: [[UInt8]] = []
        var imageBytes = 0
    }

    /// The limits of the kept events, and of the kept documents.
    private static let eventsMax = 20_000
    private static let bytesMax = 32 * 1024 * 1024
    private static let imageBytesMax = 16 * 1024 * 1024

    let scope: ChangeStreamScope
    /// Reports new events.
    let news = CommitNotifier()
    /// The callback for new events, and for an interruption, after which events may come late.
    private let onChange: @Sendable () -> Void
    private let link: UpstreamLink
    private let state = ThreadCondition(State())

    /// - Parameter onChange: is called for new events, and when the connection breaks.
    init(
        _ scope: ChangeStreamScope, _ link: UpstreamLink,
        onChange: @escaping @Sendable () -> Void = {}
    ) {
        self.scope = scope
        self.link = link
        self.onChange = onChange
    }

    /// Follows the upstream on a thread of its own, until ``stop()``.
    ///
    /// - Throws: 290 when the system has no more threads.
    func start() throws(CommandFailure) {
        guard DetachedThread.start({ self.follow() }) else {
            throw CommandFailure(290, "the gateway has no thread to follow the changes; try later")
        }
    }

    /// Ends the thread, at the latest after its running command.
    func stop() {
        state.withLock(waking: .all) { $0.isStopped = true }
        news.notify()
    }

    /// Counts a stream that reads the feed.
    func enter() { state.withLock { $0.readers += 1 } }

    /// Counts a stream that no longer reads the feed.
    func leave() {
        state.withLock { state in
            state.readers -= 1
            state.lastUsed = .now
        }
    }

    /// Whether no stream has read the feed for a while.
    func isUnused(for age: Duration) -> Bool {
        state.withLock { $0.readers == 0 && $0.lastUsed + age < .now }
    }

    /// The time without a batch after which the connection counts as broken.
    private static let silenceMax: Duration = .seconds(4)

    /// Whether the feed follows the upstream now.
    var isConnected: Bool {
        state.withLock { $0.isConnected && $0.lastRead + Self.silenceMax > .now }
    }

    /// The time up to which the feed has all changes of the upstream; `nil` if it has read nothing.
    ///
    /// It is that of the last command which the upstream answered with all it had: the answer may have
    /// been on its way for long.
    var changesUpTo: BSONDatetime? { state.withLock { $0.changesUpTo } }

    /// The number of streams that read the feed.
    var readerCount: Int { state.withLock { $0.readers } }

    /// Returns the events after a position.
    ///
    /// - Throws: 11600 when the gateway stops.
    func events(after place: FeedToken, limit: Int) throws(CommandFailure) -> Page {
        try state.withLock { (state) throws(CommandFailure) in
            guard !state.isStopped else {
                throw CommandFailure(11600, "this gateway stops; continue at another")
            }
            guard let start = state.start, let end = state.end, start <= place else {
                return .outOfReach
            }
            // A position beyond the feed's is one that the upstream has confirmed.
            let first = Self.index(after: place, in: state.events)
            let last = min(state.events.count, first + limit)
            let events = Array(state.events[first..<last])
            let isAll = last == state.events.count
            return .events(
                events, end: isAll ? max(end, place) : events.last?.token ?? place)
        }
    }

    /// Whether a stream may resume at a position without the upstream's judgement: it is within the
    /// kept events, and not at an event after which a stream has to be started anew.
    func covers(_ place: FeedToken) -> Bool {
        state.withLock { state in
            guard let start = state.start, let end = state.end, start <= place, place <= end else {
                return false
            }
            let next = Self.index(after: place, in: state.events)
            // Of what was before the kept events the kind is unknown.
            guard next > 0 else { return start < place }
            guard state.events[next - 1].token == place else { return true }
            return state.events[next - 1].operationType != "invalidate"
        }
    }

    /// Returns the document of an event as it is now, as far as the feed knows; `nil` for one that
    /// was deleted.
    func current(_ event: FeedEvent) -> BSONDocument? {
        let newest = event.key.flatMap { key in state.withLock { $0.newest[key] } }
        return (newest ?? event).change?.after
    }

    private static func index(after place: FeedToken, in events: [FeedEvent]) -> Int {
        var (low, high) = (0, events.count)
        while low < high {
            let middle = (low + high) / 2
            if events[middle].token <= place { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

// MARK: - Following the upstream

extension UpstreamFeed {
    /// The number of events of one command.
    private static let batchSize = 1_000
    /// The size of a batch behind which the upstream may have left an event out, in bytes.
    private static let fullBatchBytes = 8 * 1024 * 1024
    /// The wait of one command for changes, in milliseconds.
    private static let waitMilliseconds: Int64 = 1_000
    /// The longest pause after a failure.
    private static let pauseMax = 5_000

    private var isStopped: Bool { state.withLock { $0.isStopped } }

    private func follow() {
        var pause = 50
        while !isStopped {
            do {
                let wasOpen = try read { pause = 50 }
                // An upstream that opens no stream is not asked again and again.
                if !wasOpen { state.pause(milliseconds: pause) }
            } catch {
                state.withLock { $0.isConnected = false }
                onChange()
                let code = CommandFailure(error).code
                if UpstreamStream.lostHistory.contains(code) {
                    // The history is gone. Streams that were behind it learn so when they ask.
                    forget()
                } else {
                    // The link itself reports an upstream that cannot be reached.
                    link.server.settings.log.write(
                        code == UpstreamLink.unreachable ? .debug : .warning,
                        "the feed of \(scope) is interrupted: \(error)")
                }
                state.pause(milliseconds: pause)
                pause = min(pause * 2, Self.pauseMax)
            }
        }
    }

    /// Forgets everything, so that the next connection begins now.
    private func forget() {
        state.withLock { state in
            let (readers, lastUsed) = (state.readers, state.lastUsed)
            state = State()
            (state.readers, state.lastUsed) = (readers, lastUsed)
        }
        news.notify()
    }

    /// Reads the stream until it ends, or until the feed stops.
    ///
    /// - Returns: whether the upstream opened a stream.
    private func read(_ hasSucceeded: () -> Void) throws -> Bool {
        let link = try link.atNewPlace(for: nil)
        let (target, database) = UpstreamStream.target(scope)
        var asked = BSONDatetime.now
        var batch = UpstreamBatch(
            try link.run(
                UpstreamStream.command(
                    scope, after: state.withLock { $0.end.map { .token($0.document) } }),
                on: database, repeatedAs: .read, for: nil))
        var isFirst = true
        while !isStopped {
            try add(batch, asked: asked, isFirst: isFirst, link)
            hasSucceeded()
            guard batch.cursor != 0 else { return !isFirst || !batch.documents.isEmpty }
            isFirst = false
            var more = batch.more(Namespace(database, target), size: Self.batchSize)
            more.append("maxTimeMS", .int64(Self.waitMilliseconds))
            asked = .now
            batch = UpstreamBatch(try link.run(more, on: database, repeatedAs: .read, for: nil))
        }
        if batch.cursor != 0 {
            link.close(batch.cursor, Namespace(database, target))
        }
        return true
    }

    /// Adds the events of a batch.
    ///
    /// - Parameter asked: the time before the upstream was asked for it.
    private func add(
        _ batch: UpstreamBatch, asked: BSONDatetime, isFirst: Bool, _ link: UpstreamLink
    ) throws {
        let all = try batch.documents.map { try FeedEvent($0) }
        // The command that opens a stream may return before it has looked for events.
        let isWhole =
            !isFirst && all.count < Self.batchSize
            && all.reduce(0) { $0 + $1.document.byteCount } < Self.fullBatchBytes
        // An empty batch only moves on the position from which an idle client resumes.
        let isNews = !all.isEmpty || isFirst
        // Before the documents are read, which takes a while: what changed is known to have changed.
        if isNews { onChange() }
        var rest = all[...]
        var isOpening = isFirst
        repeat {
            let events = try completed(rest, link, remembers: true)
            rest = rest.dropFirst(events.count)
            let end =
                try rest.isEmpty ? batch.token.map { try FeedToken($0) } : events.last?.token
            add(
                events, end: end ?? events.last?.token, isFirst: isOpening,
                changesUpTo: rest.isEmpty && isWhole ? asked : nil)
            isOpening = false
            if isNews { news.notify() }
        } while !rest.isEmpty
    }

    private func add(
        _ events: [FeedEvent], end: FeedToken?, isFirst: Bool, changesUpTo: BSONDatetime?
    ) {
        guard let end else { return }
        state.withLock { state in
            if state.start == nil { state.start = events.first?.token ?? end }
            if isFirst, state.end == nil, events.isEmpty { state.start = end }
            state.events += events
            for event in events { if let key = event.key { state.newest[key] = event } }
            state.byteCount += events.reduce(0) { $0 + $1.document.byteCount }
            if let known = state.end { state.end = max(known, end) } else { state.end = end }
            Self.trim(&state)
            state.isConnected = true
            state.lastRead = .now
            if let changesUpTo { state.changesUpTo = changesUpTo }
        }
    }

    private static func trim(_ state: inout State) {
        guard state.events.count > eventsMax || state.byteCount > bytesMax else { return }
        var count = 0
        var bytes = state.byteCount
        while count < state.events.count,
            state.events.count - count > eventsMax / 2 || bytes > bytesMax / 2
        {
            bytes -= state.events[count].document.byteCount
            count += 1
        }
        state.start = state.events[count - 1].token
        for event in state.events[..<count] {
            if let key = event.key, state.newest[key]?.token == event.token {
                state.newest[key] = nil
            }
        }
        state.events.removeFirst(count)
        state.byteCount = bytes
    }

    /// The size of the events that are completed at once, in bytes.
    private static let completedBytesMax = 16 * 1024 * 1024

    /// Adds what the upstream did not keep: the document after an update, and the one before a
    /// change where this gateway has seen it.
    ///
    /// - Parameter remembers: whether the events are the feed's own, in order. Those that a client
    ///   reads by itself come at another time, and neither change what is remembered nor use it.
    /// - Returns: the first events, at least one of some: those that fit into a limit of bytes.
    func completed(
        _ events: ArraySlice<FeedEvent>, _ link: UpstreamLink, remembers: Bool,
        bytesMax: Int = completedBytesMax
    ) throws -> [FeedEvent] {
        var completed: [FeedEvent] = []
        completed.reserveCapacity(events.count)
        var bytes = 0
        var rest = events
        var step = max(1, events.count)
        while !rest.isEmpty, bytes < bytesMax || completed.isEmpty {
            let part = rest.prefix(step)
            let (found, fitting) = try afterUpdates(part, link, bytesMax: bytesMax)
            guard let found else {
                step = max(1, min(fitting, part.count / 2))
                continue
            }
            for event in part {
                let whole = try complete(event, found[event.namespace], remembers: remembers)
                bytes += whole.document.byteCount
                completed.append(whole)
            }
            rest = rest.dropFirst(part.count)
        }
        return completed
    }

    /// Reads the documents that updates led to, where the upstream did not keep them.
    ///
    /// - Returns: no documents if those of several events are larger than a limit together; and the
    ///   number of documents that were read within it.
    private func afterUpdates(
        _ events: ArraySlice<FeedEvent>, _ link: UpstreamLink, bytesMax: Int
    ) throws -> (found: [Namespace: [[UInt8]: BSONDocument]]?, fitting: Int) {
        struct TooLarge: Error {}
        let missing = events.filter { $0.operationType == "update" && $0.change?.after == nil }
        var found: [Namespace: [[UInt8]: BSONDocument]] = [:]
        var bytes = 0
        var count = 0
        do {
            for (namespace, group) in Dictionary(grouping: missing, by: \.namespace) {
                let ids = BSONArray(group.map(\.id))
                let query = UpstreamQuery(filter: ["_id": ["$in": .array(ids)]])
                try link.find(namespace, query, for: nil) { document in
                    bytes += document.byteCount
                    guard bytes <= bytesMax || events.count == 1 else { throw TooLarge() }
                    count += 1
                    let key = BSONKey.encode(document["_id"] ?? .null)
                    found[namespace, default: [:]][key] = document
                }
            }
        } catch is TooLarge {
            return (nil, count)
        }
        return (found, count)
    }

    private func complete(
        _ event: FeedEvent, _ found: [[UInt8]: BSONDocument]?, remembers: Bool
    ) throws -> FeedEvent {
        guard event.change?.kind.isOfDocument == true else { return event }
        let key = BSONKey.encode(event.id)
        var document = event.document
        if event.operationType == "update", event.change?.after == nil, let after = found?[key] {
            document.set("fullDocument", to: .document(after))
        }
        guard remembers, event.lacksBefore || event.change?.kind == .insert else {
            return document == event.document ? event : try FeedEvent(document)
        }
        let name = Array("\(event.namespace)\0".utf8) + key
        let before = remembered(name, document["fullDocument"]?.documentValue)
        if event.lacksBefore, let before {
            document.set("fullDocumentBeforeChange", to: .document(before))
        }
        return document == event.document ? event : try FeedEvent(document)
    }

    /// Returns the last known document, and remembers the present one instead.
    private func remembered(_ key: [UInt8], _ after: BSONDocument?) -> BSONDocument? {
        state.withLock { state in
            let before = state.images.removeValue(forKey: key)
            state.imageBytes -= before?.byteCount ?? 0
            if let after {
                state.images[key] = after
                state.imageBytes += after.byteCount
                if before == nil { state.imageOrder.append(key) }
            }
            // Of documents that were deleted and inserted again.
            if state.imageOrder.count > 2 * state.images.count + 1_000 {
                state.imageOrder = Array(state.images.keys)
            }
            var count = 0
            while state.imageBytes > Self.imageBytesMax, count < state.imageOrder.count {
                let oldest = state.imageOrder[count]
                state.imageBytes -= state.images.removeValue(forKey: oldest)?.byteCount ?? 0
                count += 1
            }
            state.imageOrder.removeFirst(count)
            return before
        }
    }
}

/// The command that opens a change stream at the upstream.
enum UpstreamStream {
    /// The codes of a history that cannot be read on: it is gone, or has an event that cannot be read.
    static let lostHistory: Set<Int32> = Set([222, 260, 280, 286]).union(unreadable)

    /// The codes of an event that is larger than a document may be (10334), or whose document is
    /// nested too deeply (15).
    static let unreadable: Set<Int32> = [tooDeep, 10_334]

    /// Overflow: a document is nested too deeply.
    static let tooDeep: Int32 = 15

    /// The start of a stream.
    enum Start: Sendable {
        case token(BSONDocument)
        case time(BSONTimestamp)
    }

    /// Returns the name that a scope's cursors have, and the database.
    static func target(_ scope: ChangeStreamScope) -> (collection: String, database: String) {
        switch scope {
        case .collection(let namespace): (namespace.collection, namespace.database)
        case .database(let database): ("$cmd.aggregate", database.text)
        case .cluster: ("$cmd.aggregate", "admin")
        }
    }

    /// Sends a command that opens a stream, and closes the stream after its first batch.
    static func firstBatch(
        _ command: BSONDocument, _ scope: ChangeStreamScope, _ link: UpstreamLink,
        for call: CommandCall?
    ) throws -> UpstreamBatch {
        let (target, database) = Self.target(scope)
        let batch = UpstreamBatch(try link.run(command, on: database, repeatedAs: .read, for: call))
        if batch.cursor != 0 {
            _ = try link.run(
                batch.kill(Namespace(database, target)), on: database, repeatedAs: .read, for: nil)
        }
        return batch
    }

    /// Returns the token of a start.
    ///
    /// - Parameter start: `nil` for now.
    static func token(
        of start: Start?, _ scope: ChangeStreamScope, _ link: UpstreamLink, for call: CommandCall?
    ) throws -> BSONDocument {
        var command = command(scope, after: start)
        command.set("cursor", to: ["batchSize": 0])
        guard let token = try firstBatch(command, scope, link, for: call).token else {
            throw CommandFailure(
                .internalError, "the upstream names no position of its change stream")
        }
        return token
    }

    /// Returns the command for a scope.
    static func command(_ scope: ChangeStreamScope, after start: Start?) -> BSONDocument {
        var options: BSONDocument = [
            "fullDocument": "whenAvailable", "fullDocumentBeforeChange": "whenAvailable",
            "showExpandedEvents": true,
        ]
        switch start {
        // An `invalidate` event is one to start after, too.
        case .token(let token)?:
            options.append("startAfter", .document(token))
        case .time(let time)?: options.append("startAtOperationTime", .timestamp(time))
        case nil: break
        }
        if case .cluster = scope { options.append("allChangesForCluster", true) }
        var target: BSONValue = 1
        if case .collection(let namespace) = scope { target = .string(namespace.collection) }
        return [
            "aggregate": target, "pipeline": [["$changeStream": .document(options)]],
            "cursor": ["batchSize": 1_000], "readConcern": ["level": "majority"],
        ]
    }
}
