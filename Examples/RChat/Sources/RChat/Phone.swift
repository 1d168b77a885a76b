import BSONStore
import StitchSync
import Synchronization

/// The phone of one user: a store of its own, which an engine keeps in step while it is on.
final class Phone: Sendable {
    let name: String
    let engine: SyncEngine
    /// An element for each time that something on the screen may have changed.
    let news: AsyncStream<Void>
    private let newsContinuation: AsyncStream<Void>.Continuation
    /// The files of documents that were written.
    let (arrivals, arrival) = AsyncStream.makeStream(of: AttachmentFile.self)
    /// What was told of taken back changes.
    private let notices = Mutex<[String]>([])
    private let isOn = Mutex(false)
    private let (offs, off) = AsyncStream.makeStream(of: Void.self)
    private let (ends, end) = AsyncStream.makeStream(of: Void.self)

    /// The longest wait for the server; after it the phone goes on without.
    static let patience = Duration.seconds(10)

    init(_ name: String, _ engine: SyncEngine) {
        self.name = name
        self.engine = engine
        (news, newsContinuation) = AsyncStream.makeStream(
            of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    var user: SyncCollection<BSONDocument> { engine.collection(Collections.users) }
    var chatsters: SyncCollection<Chatster> {
        engine.collection(Collections.chatsters, of: Chatster.self)
    }
    var messages: SyncCollection<ChatMessage> {
        engine.collection(Collections.messages, of: ChatMessage.self)
    }

    /// Syncs until the phone is turned off.
    func run() async throws {
        defer { end.finish() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.engine.run() }
            group.addTask { for await _ in self.offs {} }
            group.addTask {
                await self.followPhotos()
                for await _ in self.offs {}
            }
            try await group.next()
            group.cancelAll()
        }
    }

    /// Ends ``run()`` and waits for its end.
    func turnOff() async {
        off.finish()
        for await _ in ends {}
    }

    /// Listens, and subscribes to what a phone always has: its user, and the directory.
    ///
    /// Conflicts merge by field: the backend counts in a user's document what the phone edits.
    ///
    /// - Throws: `SyncError` of code `.authRequired` where the server refuses the sign-in.
    func set() async throws {
        await listen(to: user)
        await listen(to: chatsters) { event in
            guard let chatster = event.fullDocument, let picture = chatster.picture else { return }
            self.arrival.yield(self.chatsters.file(picture, of: .string(chatster.id)))
        }
        await listen(to: messages) { event in
            if let message = event.fullDocument, let photo = message.photo {
                self.arrival.yield(self.messages.file(photo, of: .objectID(message.id)))
            }
            guard event.operationType == .insert, event.reason != .committed,
                let message = event.fullDocument
            else { return }
            Terminal.say("[\(self.name)] \(message.line)")
        }
        try await user.subscribe(
            to: ["_id": .string(name)], named: "user_id", waitForSync: .never)
        try await unlessUnreachable {
            // A store that knows its user shows documents without the server, but asks it first.
            try await chatsters.subscribe(
                named: "chatsters", waitForSync: .always, timeout: Self.patience)
        }
        isOn.withLock { $0 = true }
        try await setPresence(isHere: true)
    }

    private func listen<Document>(
        to collection: SyncCollection<Document>,
        _ show: @escaping @Sendable (ChangeEvent<Document>) -> Void = { _ in }
    ) async {
        await collection.configure(
            conflictHandler: .mergeFields(),
            changeEventListener: { event in
                self.refresh()
                show(event)
            },
            errorListener: { error, _ in self.show(error) },
            attachments: .upTo(bytes: 1_000_000))
    }

    /// Says that the screen may have changed.
    func refresh() { newsContinuation.yield() }

    private func show(_ error: SyncError) {
        for write in error.compensatingWrites {
            let notice = "taken back: \(write.reason)"
            notices.withLock { $0.append(notice) }
            Terminal.say("[\(name)] \(notice)")
        }
        if error.compensatingWrites.isEmpty, isNews(error) { Terminal.say("[\(name)] \(error)") }
        newsContinuation.yield()
    }

    /// Whether an error tells the user something: not what the user wished, or is told anyway.
    private func isNews(_ error: SyncError) -> Bool {
        switch error.code {
        case .offline: false
        // A request under way may fail after `/offline`.
        case .remoteUnavailable: engine.isOnline
        // Until the phone is on, ``set()`` throws it.
        case .authRequired: isOn.withLock { $0 }
        default: true
        }
    }

    /// Waits for the server in a closure, and goes on where the server does not answer in time.
    func unlessUnreachable(_ work: () async throws -> Void) async throws {
        do {
            try await work()
        } catch let error as SyncError where error.code == .timedOut {
            Terminal.say("[\(name)] the server does not answer; what you write is sent later")
        }
    }
}

// MARK: - What is on the screen

extension Phone {
    /// Everything that the phone shows.
    func screen() async throws -> [String] {
        try await directory() + me() + talk() + notices.withLock { $0 }
    }

    /// The directory.
    func directory() async throws -> [String] {
        try chatsters.find().sort { $0.id.ascending }.fetch().map {
            var line = "\($0.userName) is \($0.presence)"
            if let picture = $0.picture {
                let file = chatsters.file(picture, of: .string($0.id))
                line += ", picture \(picture.shown) \(try shown(file))"
            }
            return line
        }
    }

    /// The user's own document: the rooms, and which fields are there.
    func me() async throws -> [String] {
        guard let me = try user.findOne(id: .string(name)) else { return ["no user yet"] }
        let rooms = me["conversations"]?.documentValue ?? [:]
        return rooms.map { name, room in
            Self.line(name, room.documentValue ?? [:], me[path: "unread.\(name)"]?.int64Value ?? 0)
        } + ["fields: \(me.map(\.key).filter { $0.first != "_" }.sorted().joined(separator: " "))"]
    }

    private static func line(_ name: String, _ room: BSONDocument, _ unread: Int64) -> String {
        if let reason = room["refused"]?.stringValue { return "room \(name): \(reason)" }
        if room["leaves"] == true { return "room \(name) is being left" }
        return room["isOpen"] == true
            ? "room \(name), \(unread) unread" : "room \(name) is being made"
    }

    /// The messages that are on the phone, whatever room they are of.
    func talk() async throws -> [String] {
        let found = try messages.find().sort {
            $0.timestamp.ascending
            $0.id.ascending
        }.fetch()
        return found.isEmpty ? ["no messages"] : try found.map(line)
    }

    /// What was taken back is kept, to be sent again or dropped.
    func rejected() async throws -> [String] {
        try await messages.rejectedWrites.all().map { "kept: \($0.document?.line ?? "a delete")" }
    }
}
