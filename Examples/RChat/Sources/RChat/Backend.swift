import BSONStore
import StitchSync

/// The app's backend, which does what the tutorial leaves to triggers: it keeps the directory up,
/// lets members into rooms and counts what they did not read.
///
/// It is a client, too, but signs in as an administrator, whom rules do not bind.
struct Backend {
    let engine: SyncEngine

    var users: SyncCollection<BSONDocument> { engine.collection(Collections.users) }
    var memberships: SyncCollection<BSONDocument> { engine.collection(Collections.memberships) }
    private var chatsters: SyncCollection<Chatster> {
        engine.collection(Collections.chatsters, of: Chatster.self)
    }
    private var messages: SyncCollection<ChatMessage> {
        engine.collection(Collections.messages, of: ChatMessage.self)
    }

    init(address: String, file: String) throws {
        engine = try SyncEngine(
            store: try DocumentStore(at: .file(file)),
            remote: try Server(address, folder: file + "-passwords").remote("backend"))
    }

    /// Serves the users until the process ends.
    func run(users names: [String]) async throws {
        await listen()
        try await engine.subscriptions.update { set in
            let queries = try [
                SubscriptionQuery(users.find()), SubscriptionQuery(chatsters.find()),
                SubscriptionQuery(messages.find()), SubscriptionQuery(memberships.find()),
            ]
            for query in queries {
                set.insertOrAssign(query, named: query.namespace.collection)
            }
        }
        try await engine.subscriptions.waitForSynchronization()
        for name in names {
            if try users.findOne(id: .string(name)) == nil {
                try await users.insertOne([
                    "_id": .string(name), "userName": .string(name), "presence": "away",
                    "memberSince": .datetime(.now), "note": "seen by the moderators only",
                    "conversations": [:], "unread": [:],
                ])
            }
            // A phone that is turned on now finds the whole directory.
            if let user = try users.findOne(id: .string(name)) { try await publish(user) }
        }
        try await engine.waitForSynchronization()
        Terminal.say("ready")
        try await engine.run()
    }

    private func listen() async {
        await users.configure(
            conflictHandler: .mergeFields(),
            changeEventListener: { event in
                guard let id = event.fullDocument?["_id"], event.operationType != .evict else {
                    return
                }
                await attempt { try await written(id) }
            })
        await messages.configure(
            conflictHandler: .remoteWins,
            changeEventListener: { event in
                guard event.operationType == .insert, event.reason == .remote,
                    let message = event.fullDocument
                else { return }
                await attempt { try await sent(message) }
            })
        await memberships.configure(
            conflictHandler: .mergeFields(),
            changeEventListener: { event in
                guard event.reason == .committed, let membership = event.fullDocument else {
                    return
                }
                await attempt { try await committed(membership) }
            })
        // The picture in a document is the user's.
        await chatsters.configure(conflictHandler: .mergeFields())
    }

    /// A user was written: the backend copies what is public into the directory, and does what the
    /// user asks for in the rooms.
    private func written(_ id: BSONValue) async throws {
        // What the backend has done already is not in the event, but in the document of now.
        guard let user = try users.findOne(id: id) else { return }
        try await publish(user)
        for (name, room) in user["conversations"]?.documentValue ?? [:] {
            guard let room = room.documentValue else { continue }
            try await serve(room, name, of: id)
        }
    }

    private func publish(_ user: BSONDocument) async throws {
        guard let id = user["_id"]?.stringValue else { return }
        try await chatsters.updateOne({ $0.id == id }, upsert: true) {
            $0.userName.set(user["userName"]?.stringValue ?? id)
            $0.presence.set(user["presence"]?.stringValue ?? "away")
        }
    }

    /// A message was sent: each member but its author has one more to read.
    private func sent(_ message: ChatMessage) async throws {
        let room = message.conversationID
        let others: BSONDocument = [
            "rooms": .string(room), "userID": ["$ne": .string(message.authorID)],
        ]
        for member in try memberships.find(others).fetch() {
            guard let id = member["userID"] else { continue }
            try await users.updateOne(["_id": id], ["$inc": ["unread.\(room)": 1]])
        }
    }

    private func attempt(_ work: () async throws -> Void) async {
        do { try await work() } catch { Terminal.say("backend: \(error)") }
    }
}
