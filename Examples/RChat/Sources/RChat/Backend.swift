import BSONStore
import StitchSync

/// The app's backend, which does what the tutorial leaves to triggers: it keeps the directory up,
/// lets members into rooms and counts what they did not read.
///
/// It is a client, too, but signs in as an administrator, whom rules do not bind.
struct Backend {
    private let engine: SyncEngine

    private var users: SyncCollection<BSONDocument> { engine.collection(Collections.users) }
    private var chatsters: SyncCollection<BSONDocument> { engine.collection(Collections.chatsters) }
    private var messages: SyncCollection<BSONDocument> { engine.collection(Collections.messages) }
    private var memberships: SyncCollection<BSONDocument> {
        engine.collection(Collections.memberships)
    }

    init(address: String, file: String) throws {
        engine = try SyncEngine(
            store: try DocumentStore(at: .file(file)),
            remote: try Server.remote(address, user: "backend"))
    }

    /// Serves the users until the process ends.
    func run(users names: [String]) async throws {
        await users.configure(
            conflictHandler: .mergeFields(),
            changeEventListener: { event in
                guard let user = event.fullDocument, event.operationType != .evict else { return }
                await attempt { try await written(user) }
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
                await attempt { try await admitted(membership) }
            })
        await chatsters.configure(conflictHandler: .localWins)
        try await engine.subscriptions.update { set in
            for collection in [users, chatsters, messages, memberships] {
                set.insertOrAssign(try collection.query(), named: collection.namespace.collection)
            }
        }
        try await engine.subscriptions.waitForSynchronization()
        for name in names where try await users.findOne(id: .string(name)) == nil {
            try await users.insertOne([
                "_id": .string(name), "userName": .string(name), "presence": "here",
                "memberSince": .datetime(.now), "note": "seen by the moderators only",
                "conversations": [:], "unread": [:],
            ])
        }
        try await engine.waitForSynchronization()
        Terminal.say("ready")
        try await engine.run()
    }

    /// A user was written: what is public of it goes into the directory, and the members of its rooms
    /// are let in.
    private func written(_ user: BSONDocument) async throws {
        guard let id = user["_id"] else { return }
        try await chatsters.updateOne(
            ["_id": id],
            ["$set": ["userName": user["userName"] ?? "", "presence": user["presence"] ?? ""]],
            upsert: true)
        for (name, room) in user["conversations"]?.documentValue ?? [:] {
            // Nobody gets into a room by making one of the same name: the first has it.
            guard let room = room.documentValue, room["owner"] == id, room["isOpen"] != true,
                try await memberships.count(["owns": .string(name), "userID": ["$ne": id]]) == 0
            else { continue }
            for member in room["members"]?.arrayValue ?? [] {
                let own: BSONValue = member == id ? .string(name) : ["$each": []]
                try await memberships.updateOne(
                    ["_id": member],
                    [
                        "$set": ["userID": member],
                        "$addToSet": ["rooms": .string(name), "owns": own],
                    ], upsert: true)
            }
        }
    }

    /// The server knows of a membership: the member is told that the room is open.
    private func admitted(_ membership: BSONDocument) async throws {
        guard let member = membership["userID"] else { return }
        for room in membership["rooms"]?.arrayValue ?? [] {
            guard let name = room.stringValue,
                let owner = try await memberships.findOne(["owns": room])?["userID"],
                let made = try await users.findOne(id: owner)?[path: "conversations.\(name)"]
            else { continue }
            let place = "conversations.\(name)"
            try await users.updateOne(
                ["_id": member, place: ["$exists": false]], ["$set": [place: made]])
            try await users.updateOne(["_id": member], ["$set": ["\(place).isOpen": true]])
        }
    }

    /// A message was sent: who did not write it has one more to read.
    private func sent(_ message: BSONDocument) async throws {
        guard let room = message["conversationID"]?.stringValue, let author = message["authorID"]
        else { return }
        let others: BSONDocument = ["rooms": .string(room), "userID": ["$ne": author]]
        for member in try await memberships.find(others) {
            guard let id = member["userID"] else { continue }
            try await users.updateOne(["_id": id], ["$inc": ["unread.\(room)": 1]])
        }
    }

    private func attempt(_ work: () async throws -> Void) async {
        do { try await work() } catch { Terminal.say("backend: \(error)") }
    }
}
