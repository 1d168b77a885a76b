internal import BSONStore
internal import StitchRules

/// The events of a client's change stream, taken from a feed that the gateway's clients share.
struct GatewayStream: CursorSource {
    /// A change stream reports the end of its collection.
    var survivesCollectionEnd: Bool { true }
    /// A stream ends when the rules for its user have changed.
    var reportsRuleChanges: Bool { true }
    /// Of a silent deployment the gateway does not know what changed since.
    var changesUpTo: BSONDatetime? { reader?.feed.changesUpTo }
    var news: CommitNotifier? { reader?.feed.news }

    /// The number of events that are read from the feed at once.
    private static let eventsMax = 500
    /// The longest wait, in milliseconds, of a client that asks rather than waits.
    private static let askMax = 50

    private let rules: UserRules
    private let services: StoreBackend
    private let link: UpstreamLink
    private let stage: ChangeStreamStage
    private let scope: ChangeStreamScope
    private let rest: EventPipeline?
    let memoryBytes: Int
    /// The reader of the feed; `nil` for a user who can see no event.
    private let reader: FeedReader?
    private let ruleGuard: RuleAccessPolicy?
    /// The fingerprint of what the rules let the user see.
    private let fingerprint: UInt64?
    /// The reading device's own changes, as far as they are known.
    private var echoes: EchoFilter?
    private var place: FeedToken
    /// What the upstream answered when the stream was opened, until the first batch uses it.
    private var opening: (events: [FeedEvent], end: FeedToken)?
    /// Whether the `invalidate` event was returned.
    private var isOver = false

    /// Finds the start position, which the upstream judges.
    ///
    /// - Throws: 286 (ChangeStreamHistoryLost) when other rules applied at the time of the token, or
    ///   when the upstream's history begins after it; 260 and others for an invalid token.
    init(
        _ stage: ChangeStreamStage, _ scope: ChangeStreamScope, rest: BSONArray,
        options: PipelineOptions, _ backend: GatewayBackend, _ link: UpstreamLink,
        under ruleGuard: RuleAccessPolicy?,
        for call: CommandCall
    ) throws {
        self.stage = stage
        self.scope = scope
        self.rest = try rest.isEmpty ? nil : EventPipeline(rest, options)
        memoryBytes = call.heldQueryBytes
        self.ruleGuard = ruleGuard
        echoes = stage.echoes
        services = backend.services
        rules = backend.services.rules
        self.link = link
        fingerprint = ChangeStreamSource.fingerprint(ruleGuard, scope)
        if case .token(let given, _) = stage.start, fingerprint != nil,
            try FeedToken(given).rules != fingerprint
        {
            throw RuleChangeReplay.readAnew
        }
        let isHidden = scope.namespace.map { ruleGuard?.access($0).isNever == true } ?? false
        reader =
            try isHidden
            ? nil
            : FeedReader(
                backend.feeds.feed(scope, of: TransactionBounds.owner(call.connection)) {
                    try backend.catalog.exists(scope, link, for: call)
                })
        // The upstream must not be asked about what the user must not know of.
        let asked = isHidden ? .collection(GatewayDatabase.users) : scope
        switch stage.start {
        case .now, .behind:
            place = try FeedToken(UpstreamStream.token(of: nil, asked, link, for: call))
            opening = ([], place)
        case .atTime(let time):
            place = try FeedToken(UpstreamStream.token(of: .time(time), asked, link, for: call))
        case .token(let given, let mayBeInvalidate):
            place = try FeedToken(given)
            // Then the feed has what follows; the first batch asks the upstream for the newest.
            guard reader?.feed.covers(place) != true else { break }
            var command = UpstreamStream.command(asked, after: .token(place.document))
            if !mayBeInvalidate { command = Self.resuming(command) }
            let batch = try Self.readable {
                try UpstreamStream.firstBatch(command, asked, link, for: call)
            }
            if let feed = reader?.feed { opening = try Self.read(batch, after: place, feed, link) }
        }
        place.rules = fingerprint
    }

    /// Returns the events of a batch of the upstream, and the position after them.
    private static func read(
        _ batch: UpstreamBatch, after place: FeedToken, _ feed: UpstreamFeed, _ link: UpstreamLink
    ) throws -> (events: [FeedEvent], end: FeedToken) {
        let all = try batch.documents.map { try FeedEvent($0) }
        let events = try feed.completed(all[...], link, remembers: false)
        // The others are read again, from the last one of these.
        if events.count < all.count, let last = events.last { return (events, last.token) }
        let end = try batch.token.map { try FeedToken($0) } ?? events.last?.token ?? place
        return (events, events.last.map { max(end, $0.token) } ?? end)
    }

    /// Returns the command with `resumeAfter`, which refuses the token of an `invalidate` event.
    private static func resuming(_ command: BSONDocument) -> BSONDocument {
        guard
            var options = command["pipeline"]?.arrayValue?.values.first?.documentValue?[
                ChangeStreamStage.name]?.documentValue,
            let token = options.removeValue(forKey: "startAfter")
        else { return command }
        options.append("resumeAfter", token)
        var command = command
        command.set("pipeline", to: [[ChangeStreamStage.name: .document(options)]])
        return command
    }

    mutating func next(_ limits: BatchLimits, _ call: CommandCall) throws -> CursorBatch {
        try checkRules(call)
        // Not kept for an empty batch; the events are read again.
        if limits.documentsMax == 0 { opening = nil }
        var batch = CursorBatch()
        var bytes = 0
        // A client that does not wait asks for everything that has happened until now.
        let waits =
            call.signature.cursor == .continues
            && call.number("maxTimeMS") ?? 1_000 > Self.askMax
        while let reader, !isOver, batch.documents.count < limits.documentsMax {
            try call.checkTime()
            let (events, end) = try events(reader.feed, call, isNewest: !waits)
            var isFull = false
            for event in events {
                guard try give(event, &batch, limits, &bytes) else {
                    isFull = true
                    break
                }
                if isOver { break }
            }
            guard !isFull, !isOver else { break }
            if place < end { place = Self.moved(end, fingerprint) }
            if events.isEmpty { break }
        }
        batch.isAtEnd = isOver
        batch.resumeToken = place.token
        return batch
    }

    private static func moved(_ token: FeedToken, _ fingerprint: UInt64?) -> FeedToken {
        var token = token
        token.rules = fingerprint
        return token
    }

    /// Checks that the rules are those with which the stream began.
    ///
    /// - Throws: 286 when they are not: no event says what other rules show or hide.
    private func checkRules(_ call: CommandCall) throws {
        let now = try rules.ruleGuard(call)
        guard (now == nil) == (ruleGuard == nil),
            now === ruleGuard || ChangeStreamSource.fingerprint(now, scope) == fingerprint
        else { throw RuleChangeReplay.readAnew }
    }

    /// Returns the next events, from the feed or from the upstream itself, and the position after
    /// them.
    ///
    /// - Parameter isNewest: whether the upstream is asked, too, when the feed has no more: it may
    ///   lag behind by a moment.
    private mutating func events(
        _ feed: UpstreamFeed, _ call: CommandCall, isNewest: Bool
    ) throws -> (events: [FeedEvent], end: FeedToken) {
        if let opening {
            self.opening = nil
            return opening
        }
        if case .events(let events, let end) = try feed.events(
            after: place, limit: Self.eventsMax), !events.isEmpty || !isNewest
        {
            return (events, end)
        }
        let batch = try Self.readable {
            try UpstreamStream.firstBatch(
                UpstreamStream.command(scope, after: .token(place.document)), scope, link,
                for: call)
        }
        return try Self.read(batch, after: place, feed, link)
    }

    /// Calls a body that reads events.
    ///
    /// - Throws: 286 for an event that no client could read on after.
    private static func readable(_ body: () throws -> UpstreamBatch) throws -> UpstreamBatch {
        do {
            return try body()
        } catch let fault as CommandFailure where UpstreamStream.unreadable.contains(fault.code) {
            throw RuleChangeReplay.readAnew
        }
    }

    /// Moves on past events that the client does not see; returns whether another one, or an end of
    /// the stream, follows.
    mutating func skipUnseen() -> Bool {
        guard let reader, opening == nil, !isOver else { return true }
        while true {
            guard
                case .events(let events, let end)? = Result(catching: {
                    try reader.feed.events(after: place, limit: Self.eventsMax)
                }).value, !events.contains(where: mayShow)
            else { return true }
            guard place < end else { return events.count >= Self.eventsMax }
            place = Self.moved(end, fingerprint)
            if events.count < Self.eventsMax { return false }
        }
    }

    /// Whether the client may see an event; decided without the cost of showing it.
    private func mayShow(_ event: FeedEvent) -> Bool {
        guard let ruleGuard, !event.lacksBefore, let change = event.change,
            change.kind.isOfDocument, scope.includes(change)
        else { return true }
        let access = ruleGuard.access(event.namespace)
        return [change.before, change.after].contains { $0.map(access.sees) ?? false }
    }

    /// Adds an event if the client sees it; returns whether it fit.
    private mutating func give(
        _ event: FeedEvent, _ batch: inout CursorBatch, _ limits: BatchLimits, _ bytes: inout Int
    ) throws -> Bool {
        let isEnd = event.operationType == "invalidate"
        if var document = try shown(event) {
            if stage.showsBriefEvents { document = BriefEvent.shortening(document) }
            if let rest {
                guard
                    let passed = try services.store.read({ try rest.pass(document, $0) })
                else {
                    place = Self.moved(event.token, fingerprint)
                    isOver = isEnd
                    return true
                }
                document = passed
            }
            guard document.byteCount <= SplitEvent.wholeBytesMax else {
                throw SplitEvent.tooLarge(document)
            }
            guard limits.hasRoom(count: batch.documents.count, bytes: bytes, for: document),
                batch.documents.count < limits.documentsMax
            else { return false }
            batch.documents.append(document)
            bytes += document.byteCount + 16
        }
        place = Self.moved(event.token, fingerprint)
        isOver = isEnd
        return true
    }
}

// MARK: - What the client sees of an event

extension GatewayStream {
    private mutating func shown(_ event: FeedEvent) throws -> BSONDocument? {
        if event.operationType == "invalidate" { return plain(event) }
        // What gateways keep for themselves is in streams of everything, too.
        guard event.namespace.database != GatewayDatabase.name else { return nil }
        guard let ruleGuard else {
            return echoes?.leavesOut(event.operation) == true ? nil : plainIfWanted(event)
        }
        // Definitions could reveal what rules hide.
        guard let change = event.change, scope.includes(change) || !change.kind.isOfDocument else {
            return nil
        }
        let access = ruleGuard.access(event.namespace)
        if change.kind.isOfDocument, event.lacksBefore || event.lacksAfter, !access.isNever {
            if !access.seesAll || access.hidesFields {
                return try shownWithoutImage(event, change, access)
            }
            if event.lacksAfter { return plain(event) }
        }
        guard let seen = ruleGuard.seen(change) else { return nil }
        if echoes != nil, seen.showsAll(of: change), echoes?.leavesOut(event.operation) == true {
            return nil
        }
        return try document(event, seen.change, seen.passage)
    }

    private func document(
        _ event: FeedEvent, _ change: StoreChange, _ passage: VisibleChange.VisibilityTransition?
    ) throws -> BSONDocument {
        let told = ChangeStreamEvent(
            change: change, place: Self.moved(event.token, fingerprint), stamp: event.stamp)
        let keepsImages =
            (change.after != nil || change.kind == .delete) && !event.lacksBefore
        var document = try told.document(stage, keepsImages: keepsImages) { _ in
            // The document as it is now, as the user sees it.
            guard let current = reader?.feed.current(event) else { return nil }
            return ruleGuard.map { $0.access(event.namespace).visible(current) } ?? current
        }
        if let passage { document.append(passage.rawValue, true) }
        return document
    }

    /// Returns the event of a change whose earlier or later document is unknown.
    ///
    /// - Throws: 286 where the document may have left the user's view: the client then reads again.
    private func shownWithoutImage(
        _ event: FeedEvent, _ change: StoreChange, _ access: RuleAccess
    ) throws -> BSONDocument? {
        if let visible = change.after.flatMap(access.visible) {
            // Not what the event tells of the change: the document may have been hidden then, and be
            // read only now.
            return try document(event, change.showing(.replace, nil, visible), nil)
        }
        if event.operationType == "update", !touches(event, access) { return nil }
        throw RuleChangeReplay.readAnew
    }

    /// Whether an update changed a field that decides who sees the document.
    private func touches(_ event: FeedEvent, _ access: RuleAccess) -> Bool {
        guard case .filter(let filter) = access.visibility else { return !access.isNever }
        let description = event.document["updateDescription"]?.documentValue ?? [:]
        var paths = description["updatedFields"]?.documentValue?.keys ?? []
        paths += description["removedFields"]?.arrayValue?.compactMap(\.stringValue) ?? []
        paths += (description["truncatedArrays"]?.arrayValue ?? []).compactMap {
            $0.documentValue?["field"]?.stringValue
        }
        let changed = Set(paths.compactMap { $0.dottedParts.first.map { Name($0) } })
        return RuleFields.names(in: filter.document).map { !$0.isDisjoint(with: changed) } ?? true
    }

    private func plainIfWanted(_ event: FeedEvent) -> BSONDocument? {
        guard stage.showsExpandedEvents || !event.isExpanded else { return nil }
        return plain(event)
    }

    /// Returns the upstream's event with what the client asked for.
    private func plain(_ event: FeedEvent) -> BSONDocument {
        var document = event.document
        document.set("_id", to: .document(Self.moved(event.token, fingerprint).token))
        if event.operationType == "update" {
            switch stage.fullDocument {
            case .off: document.removeValue(forKey: "fullDocument")
            case .updateLookup:
                let current = reader?.feed.current(event).map(BSONValue.document)
                document.set("fullDocument", to: current ?? .null)
            case .whenAvailable, .required: break
            }
        }
        if stage.fullDocumentBeforeChange == .off {
            document.removeValue(forKey: "fullDocumentBeforeChange")
        }
        guard !stage.showsExpandedEvents else { return document }
        for field in ["collectionUUID", "operationDescription"] {
            document.removeValue(forKey: field)
        }
        if var description = document["updateDescription"]?.documentValue {
            description.removeValue(forKey: "disambiguatedPaths")
            document.set("updateDescription", to: .document(description))
        }
        return document
    }
}

/// The fields that a filter of rules reads.
enum RuleFields {
    /// Returns the names of the top-level fields; `nil` if any field may be read.
    static func names(in filter: BSONDocument) -> Set<Name>? {
        var names: Set<Name> = []
        for (key, value) in filter {
            if ["$and", "$or", "$nor"].contains(key) {
                for part in value.arrayValue ?? [] {
                    guard let inner = Self.names(in: part.documentValue ?? [:]) else { return nil }
                    names.formUnion(inner)
                }
            } else if key.hasBytePrefix("$") {
                return nil
            } else if let first = key.dottedParts.first {
                names.insert(Name(first))
            }
        }
        return names
    }
}

/// A stream's use of a feed, counted while the stream is open.
final class FeedReader: Sendable {
    let feed: UpstreamFeed

    init(_ feed: UpstreamFeed) {
        self.feed = feed
        feed.enter()
    }

    deinit { feed.leave() }
}

extension GatewayBackend {
    /// Opens a change stream.
    func stream(
        _ call: CommandCall, _ link: UpstreamLink, _ ruleGuard: RuleAccessPolicy?
    ) throws -> CommandOutcome {
        let request = try AggregateRequest(call)
        guard let options = try request.changeStream() else { throw ChangeStreamStage.mustBeFirst }
        try request.checkTransaction(call)
        try AggregateCommand.checkStreamConcern(call)
        try AggregateCommand.checkCursor(call)
        let batchSize = try CursorArgument.batchSize(call)
        let stage = try ChangeStreamStage(options, readsTokens: false)
        let namespace = try AggregateCommand.target(call)
        let scope = try ChangeStreamScope(
            namespace, isForCluster: stage.isForCluster, isAtGateway: true)
        let isHidden = scope.namespace.map { ruleGuard?.access($0).isNever == true } ?? false
        if ruleGuard != nil, !isHidden { try keepImages(of: scope, link, for: call) }
        let source = try GatewayStream(
            stage, scope, rest: request.rest,
            options: PipelineOptions(
                let: call.document("let"), collation: try call.collation()
            ).with(ServerSources(services, for: call).byName),
            self, link, under: ruleGuard, for: call)
        return try CursorReply.open(
            source, namespace, call, on: services, under: ruleGuard, batchSize: batchSize,
            options: CursorOptions(isTailable: true, awaitsData: true))
    }

    /// Has the upstream keep the documents before changes: they tell who saw a document that is now
    /// hidden or deleted.
    private func keepImages(
        of scope: ChangeStreamScope, _ link: UpstreamLink, for call: CommandCall
    ) throws {
        switch scope {
        case .collection(let namespace):
            guard
                let known = try catalog.definition(namespace, withIndexes: false, link, for: call)
            else { return }
            guard known.viewOn == nil else { throw StoreError.view(namespace) }
            if !known.keepsImages { try keepImages(of: namespace, link) }
        case .database(let database):
            for entry in try UpstreamCatalog.entries(database.text, [:], link, for: call) {
                let known = UpstreamCollection(entry: entry, indexes: nil)
                guard known.viewOn == nil, !known.keepsImages,
                    let name = entry["name"]?.stringValue, !name.hasBytePrefix("system.")
                else { continue }
                try keepImages(of: Namespace(database.text, name), link)
            }
        case .cluster: break
        }
    }

    private func keepImages(of namespace: Namespace, _ link: UpstreamLink) throws {
        guard !withoutImages.withLock({ $0.contains(namespace) }) else { return }
        do {
            _ = try link.run(
                [
                    "collMod": .string(namespace.collection),
                    "changeStreamPreAndPostImages": ["enabled": true],
                ], on: namespace.database, repeatedAs: .read, for: nil)
        } catch let fault as CommandFailure where ErrorLabels.isPassing(fault.code) {
            // The next stream asks again.
        } catch let fault as CommandFailure {
            // Without the privilege, streams are right but end more often.
            withoutImages.withLock { _ = $0.insert(namespace) }
            link.server.settings.log.write(
                .warning,
                "cannot keep earlier documents of \(namespace), so streams of users under rules "
                    + "end when a document may have left their view: \(fault.message)")
        }
        catalog.forget(namespace)
    }
}
