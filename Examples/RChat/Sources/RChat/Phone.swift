import BSONStore
import Foundation
import StitchSync
import Synchronization

/// The phone of one user: a store of its own, which an engine keeps in step while it is on.
final class Phone: Sendable {
    let name: String
    let engine: SyncEngine
    /// An element for each time that something on the screen may have changed.
    let news: AsyncStream<Void>
    private let newsContinuation: AsyncStream<Void>.Continuation
    /// What was told of taken back changes.
    private let notices = Mutex<[String]>([])
    private let (offs, off) = AsyncStream.makeStream(of: Void.self)
    private let (ends, end) = AsyncStream.makeStream(of: Void.self)

    init(_ name: String, _ engine: SyncEngine) {
        self.name = name
        self.engine = engine
        (news, newsContinuation) = AsyncStream.makeStream(
            of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    var user: SyncCollection<BSONDocument> { engine.collection(Collections.users) }
    var chatsters: SyncCollection<BSONDocument> { engine.collection(Collections.chatsters) }
    var messages: SyncCollection<BSONDocument> { engine.collection(Collections.messages) }

    /// Syncs until the phone is turned off.
    func run() async throws {
        defer { end.finish() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.engine.run() }
            group.addTask { for await _ in self.offs {} }
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
    func set() async throws {
        for collection in [user, chatsters, messages] {
            await collection.configure(
                conflictHandler: .mergeFields(),
                changeEventListener: { self.show($0) },
                errorListener: { error, _ in self.show(error) })
        }
        try await user.subscribe(to: ["_id": .string(name)], named: "user_id")
        try await chatsters.subscribe(named: "chatsters")
    }

    private func show(_ event: ChangeEvent<BSONDocument>) {
        newsContinuation.yield()
        guard event.namespace == Collections.messages, event.operationType == .insert,
            event.reason != .committed, let message = event.fullDocument
        else { return }
        Terminal.say("[\(name)] \(Self.text(message))")
    }

    private func show(_ error: SyncError) {
        for write in error.compensatingWrites {
            let notice = "taken back: \(write.reason)"
            notices.withLock { $0.append(notice) }
            Terminal.say("[\(name)] \(notice)")
        }
        if error.compensatingWrites.isEmpty { Terminal.say("[\(name)] \(error)") }
        newsContinuation.yield()
    }

    private static func text(_ message: BSONDocument) -> String {
        func field(_ name: String) -> String { message[name]?.stringValue ?? "?" }
        return "\(field("conversationID")) | \(field("authorID")): \(field("text"))"
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
        try await chatsters.find(options: FindOptions(sort: SortOrder(["_id": 1]))).map {
            chatster in
            let name = chatster["userName"]?.stringValue ?? "?"
            return "\(name) is \(chatster["presence"]?.stringValue ?? "?")"
        }
    }

    /// The user's own document: the rooms, and which fields are there.
    func me() async throws -> [String] {
        guard let me = try await user.findOne(id: .string(name)) else { return ["no user yet"] }
        let rooms = me["conversations"]?.documentValue ?? [:]
        return rooms.map { name, room in
            let unread = me[path: "unread.\(name)"]?.int64Value ?? 0
            let isOpen = room.documentValue?["isOpen"] == true
            return isOpen ? "room \(name), \(unread) unread" : "room \(name) is being made"
        } + ["fields: \(me.map(\.key).filter { $0.first != "_" }.sorted().joined(separator: " "))"]
    }

    /// The messages that are on the phone, whatever room they are of.
    func talk() async throws -> [String] {
        let found = try await messages.find(
            options: FindOptions(sort: SortOrder(["timestamp": 1, "_id": 1])))
        return found.isEmpty ? ["no messages"] : found.map(Self.text)
    }

    /// What was taken back is kept, to be sent again or dropped.
    func rejected() async throws -> [String] {
        try await messages.rejectedWrites().map { write in
            "kept: \(write.document.map(Self.text) ?? "a delete")"
        }
    }
}

// MARK: - What its user does

extension Phone {
    /// Makes a room; the backend lets the members in.
    func makeRoom(_ room: String, _ members: [String]) async throws {
        guard !room.isEmpty, room.allSatisfy(\.isLetter) else {
            throw ChatFailure("a room's name has letters only")
        }
        let all = Array(Set(members + [name])).sorted()
        let place = "conversations.\(room)"
        try await user.updateOne(
            ["_id": .string(name), place: ["$exists": false]],
            [
                "$set": [
                    place: [
                        "owner": .string(name),
                        "members": .array(BSONArray(all.map(BSONValue.string))),
                    ]
                ]
            ])
    }

    /// Has the messages of one room on the phone in place of those of the room before.
    func open(_ room: String) async throws {
        try await messages.subscribe(
            to: ["conversationID": .string(room)], named: "conversation")
        try await user.updateOne(
            ["_id": .string(name)], ["$unset": ["unread.\(room)": ""]])
    }

    /// Writes a message, in somebody else's name where one is given: then it is taken back.
    func say(_ text: String, in room: String, as author: String? = nil) async throws {
        try await messages.insertOne([
            "_id": .objectID(BSONObjectID()), "conversationID": .string(room),
            "authorID": .string(author ?? name), "text": .string(text),
            "timestamp": .datetime(.now),
        ])
    }
}
