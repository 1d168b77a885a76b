import BSONStore
import StitchRules
import Testing

@testable import StitchSync

/// The tutorial's chat: rules say what is allowed, subscriptions what is wanted.
struct ChatScenarios {
    private static let users = Namespace("RChat", "User")
    private static let chatsters = Namespace("RChat", "Chatster")
    private static let messages = Namespace("RChat", "ChatMessage")

    /// The backend's configuration, with who reads a message.
    private static func configuration(read: String = "{}") -> [UInt8] {
        Array(
            #"""
            {"type": "flexible", "database_name": "RChat",
             "queryable_fields_names": ["authorID", "conversationID", "timestamp", "userName"],
             "permissions": {"rules": {
               "User": [{"name": "own", "applyWhen": {}, "read": {"_id": "%%user.id"},
                         "write": {"_id": "%%user.id"}}],
               "Chatster": [{"name": "all", "applyWhen": {}, "read": {}, "write": false}],
               "ChatMessage": [{"name": "all", "applyWhen": {}, "read": \#(read),
                                "write": {"authorID": "%%user.id"}}]},
              "defaultRoles": []}}
            """#.utf8)
    }

    /// The backend with its data, and the phones that talk to it.
    private final class House: Sendable {
        let store: DocumentStore
        let directory: ScratchDirectoryHolder
        let stores: UserStores
        let told = Locked<[String]>([])

        init() throws {
            let options = DocumentStore.Options(changeHistory: .keep(changesMax: 10_000))
            let store = try DocumentStore(at: .inMemory, options: options)
            let rules = try RuleSet(
                files: ["sync/config.json": ChatScenarios.configuration()])
            let holder = try ScratchDirectoryHolder()
            self.store = store
            directory = holder
            stores = UserStores(directory: holder.path) { user in
                InProcessRemote(store: store, rules: rules, user: RuleUser(id: user))
            }
        }

        /// What the backend's triggers do for a new user.
        func register(_ name: String) async throws {
            try await store.collection(ChatScenarios.users).insertOne([
                "_id": .string(name), "userName": .string(name), "unread": 0,
            ])
            try await store.collection(ChatScenarios.chatsters).insertOne([
                "_id": .string(name), "userName": .string(name),
            ])
        }

        func phone(_ name: String) async throws -> Phone {
            let phone = Phone(engine: try stores.signIn(name), name: name)
            let told = told
            await phone.messages.configure(
                conflictHandler: .remoteWins,
                changeEventListener: { event in
                    told.withLock {
                        $0.append("\(name) \(event.operationType) \(Device.text(event.documentID))")
                    }
                })
            return phone
        }

        func transcript() -> [String] {
            told.withLock { told in
                defer { told = [] }
                return told
            }
        }
    }

    /// Ends with the house.
    private final class ScratchDirectoryHolder: Sendable {
        private let directory: Locked<ScratchDirectory>
        let path: String

        init() throws {
            let made = try ScratchDirectory()
            path = made.path("users")
            directory = Locked(made)
        }
    }

    private struct Phone {
        let engine: SyncEngine
        let name: String

        var messages: SyncCollection<BSONDocument> {
            engine.collection(ChatScenarios.messages)
        }
        var user: SyncCollection<BSONDocument> { engine.collection(ChatScenarios.users) }
        var chatsters: SyncCollection<BSONDocument> { engine.collection(ChatScenarios.chatsters) }

        func open(_ room: String) async throws {
            try await messages.subscribe(
                to: ["conversationID": .string(room)], named: "conversation")
            await engine.flushEvents()
        }

        func say(_ id: String, in room: String) async throws {
            try await messages.insertOne([
                "_id": .string(id), "authorID": .string(name), "conversationID": .string(room),
            ])
            try await sync()
        }

        func sync() async throws {
            try await engine.syncUntilQuiet()
            await engine.flushEvents()
            #expect(try await engine.verify() == [])
        }

        func held() throws -> Set<String> {
            Set(
                try engine.store.collection(ChatScenarios.messages).find().fetch().compactMap {
                    $0["_id"]?.stringValue
                })
        }
    }

    @Test("two users in two rooms see their own user, all chatsters, and the room that is open")
    func tutorial() async throws {
        let house = try House()
        try await house.register("ann")
        try await house.register("ben")
        let (ann, ben) = try await (house.phone("ann"), house.phone("ben"))
        for phone in [ann, ben] {
            try await phone.user.subscribe(to: ["_id": .string(phone.name)], named: "user_id")
            try await phone.chatsters.subscribe(named: "chatsters")
            try await phone.open("kitchen")
            #expect(try phone.user.find().fetch().map { $0["_id"] } == [.string(phone.name)])
            #expect(try phone.chatsters.find().count() == 2)
        }
        try await ann.say("hello", in: "kitchen")
        try await ben.sync()
        #expect(house.transcript() == ["ann insert hello", "ann insert hello", "ben insert hello"])
        try await ben.say("hi", in: "kitchen")
        try await ann.open("garden")
        #expect(
            house.transcript() == [
                "ben insert hi", "ben insert hi", "ann insert hi", "ann evict hello",
                "ann evict hi",
            ])
        #expect(try ann.held() == [])
        #expect(try ben.held() == ["hello", "hi"])
        try await ann.say("anybody", in: "garden")
        try await ben.sync()
        #expect(try ben.held() == ["hello", "hi"])
        try await ann.open("kitchen")
        #expect(try ann.held() == ["hello", "hi"])
        #expect(try house.store.collection(Self.messages).find().count() == 3)
    }

    @Test("somebody else's user is asked for in vain, an unqueryable field tells of itself")
    func refusals() async throws {
        let house = try House()
        try await house.register("ann")
        try await house.register("ben")
        let ann = try await house.phone("ann")
        try await ann.user.subscribe(named: "all users")
        #expect(try ann.user.find().fetch().map { $0["_id"] } == ["ann"])
        let error = await #expect(throws: SyncError.self) {
            try await ann.user.subscribe(
                to: ["$or": [["unread": 1], ["_id": "ann"]]], named: "bad")
        }
        #expect(error?.code == .subscriptionFailed)
        #expect(error?.message.contains(#"key "unread" is not a queryable field"#) == true)
        #expect(try ann.user.find().count() == 1)
        try await ann.engine.subscriptions.remove(named: "bad")
        #expect(try ann.engine.subscriptions.state == .complete)
        // A write by somebody who is not the author is refused, and nobody sees it.
        try await ann.messages.insertOne(["_id": "fake", "authorID": "ben"])
        try await ann.sync()
        #expect(try house.store.collection(Self.messages).find().count() == 0)
    }

    @Test("signing out clears the phone, deletes nothing, and the next user sees nothing of it")
    func signingOut() async throws {
        let house = try House()
        try await house.register("ann")
        try await house.register("ben")
        let ann = try await house.phone("ann")
        try await ann.open("kitchen")
        try await ann.say("hello", in: "kitchen")
        try await ann.messages.insertOne([
            "_id": "later", "authorID": "ann", "conversationID": "kitchen",
        ])
        try await house.stores.signOut("ann", waitingForUpload: .seconds(30))
        #expect(try house.store.collection(Self.messages).find().count() == 2)
        let ben = try await house.phone("ben")
        #expect(try ben.held() == [])
        #expect(try ben.engine.subscriptions.version == 0)
        try await ben.open("garden")
        #expect(try ben.held() == [])
        try await house.stores.signOut("ben", waitingForUpload: nil)
        let again = try await house.phone("ann")
        #expect(try again.held() == [] && again.engine.subscriptions.count == 0)
        try await again.open("kitchen")
        #expect(try again.held() == ["hello", "later"])
    }

    @Test("rules that change while the phone runs take away and give; nothing is deleted or lost")
    func changedRules() async throws {
        func rules(_ read: String) throws -> RuleSet {
            try RuleSet(files: ["sync/config.json": Self.configuration(read: read)])
        }
        let options = DocumentStore.Options(changeHistory: .keep(changesMax: 10_000))
        let store = try DocumentStore(at: .inMemory, options: options)
        let stored = store.collection(Self.messages)
        try await stored.insertMany([
            ["_id": "a", "authorID": "ann", "conversationID": "kitchen"],
            ["_id": "b", "authorID": "ben", "conversationID": "kitchen"],
            ["_id": "c", "authorID": "ben", "conversationID": "garden"],
        ])
        let ann = RuleUser(id: "ann")
        let own = #"{"authorID": "%%user.id"}"#
        let remote = InProcessRemote(store: store, rules: try rules(own), user: ann)
        let engine = try SyncEngine(store: try DocumentStore(at: .inMemory), remote: remote)
        let told = Locked<[String]>([])
        let items = engine.collection(Self.messages)
        await items.configure(
            conflictHandler: .remoteWins,
            changeEventListener: { event in
                told.withLock {
                    $0.append("\(event.operationType) \(Device.text(event.documentID))")
                }
            })
        try await items.subscribe(to: ["conversationID": "kitchen"])
        // An id is asked for beside: it waits until its document may be seen.
        try await items.sync(ids: ["c"])
        for (read, news) in [
            ("{}", ["insert b", "replace c"]), ("{}", []), (own, ["evict b", "evict c"]),
            ("{}", ["insert b", "replace c"]),
        ] {
            try await engine.syncUntilQuiet()
            await engine.flushEvents()
            told.withLock { $0 = [] }
            remote.use(try rules(read), for: ann)
            try await engine.syncUntilQuiet()
            await engine.flushEvents()
            #expect(told.withLock { Set($0) } == Set(news), "after \(read)")
            #expect(try await engine.verify() == [])
        }
        #expect(try engine.subscriptions.state == .complete)
        #expect(try stored.find().count() == 3)
    }

    @Test("all subscriptions removed at once clear the phone and delete nothing")
    func removingAll() async throws {
        let house = try House()
        try await house.register("ann")
        let ann = try await house.phone("ann")
        try await ann.user.subscribe(to: ["_id": "ann"], named: "user_id")
        try await ann.open("kitchen")
        try await ann.say("hello", in: "kitchen")
        try await ann.engine.subscriptions.removeAll()
        #expect(try ann.held() == [])
        #expect(try ann.user.find().count() == 0)
        #expect(try house.store.collection(Self.messages).find().count() == 1)
        #expect(try house.store.collection(Self.users).find().count() == 1)
    }
}
