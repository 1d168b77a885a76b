import BSONStore
import StitchSync

#if Remote
    import StitchRemote
#endif

/// The list as the person at the terminal uses it: kept in a file, in step with a remote.
struct TodoList: Sendable {
    private let engine: SyncEngine
    private let items: SyncCollection<TodoItem>
    private let say: @Sendable (String) -> Void

    /// Opens a list.
    ///
    /// - Parameters:
    ///   - path: the file of this device.
    ///   - remote: the URI of `stitchsync serve` or of a MongoDB server, or the path of a store file.
    init(at path: String, remote: String, say: @escaping @Sendable (String) -> Void) async throws {
        self.say = say
        let store = try DocumentStore(at: .file(path))
        engine = try SyncEngine(store: store, remote: try Self.remote(remote))
        items = engine.collection(Namespace("todo", "items"), of: TodoItem.self)
        await items.configure(
            conflictHandler: TodoItem.conflictHandler,
            changeEventListener: { event in
                let id = event.documentID.extendedJSON(.relaxed)
                switch event.reason {
                case .remote, .subscription: say("  someone: \(event.operationType) \(id)")
                case .resolution: say("  both changed \(id): merged")
                case .local, .committed, .compensation, .desync: break
                }
            },
            errorListener: { error, _ in say("  sync: \(error.message)") })
    }

    private static func remote(_ name: String) throws -> any Remote {
        #if Remote
            if name.contains("://") { return try ServerRemote(name) }
        #endif
        return try InProcessRemote(at: .file(name))
    }

    /// Carries out one line; `false` ends the program.
    func carryOut(_ line: String) async throws -> Bool {
        let words = line.split(separator: " ", maxSplits: 1).map(String.init)
        let rest = words.count > 1 ? words[1] : ""
        switch words.first ?? "" {
        case "": break
        case "list": try await list()
        case "add": try await add(rest)
        case "done": try await change(rest, ["$set": ["isDone": true]])
        case "text":
            let parts = rest.split(separator: " ", maxSplits: 1).map(String.init)
            let text = parts.count > 1 ? parts[1] : ""
            try await change(parts.first ?? "", ["$set": ["text": .string(text)]])
        case "remove":
            let count = try await items.deleteOne(["_id": .int64(Int64(rest) ?? 0)])
            say(count == 1 ? "removed" : "there is no item \(rest)")
        case "offline": engine.setOnline(false)
        case "online": engine.setOnline(true)
        case "sync": try await sync()
        case "quit": return false
        default:
            say("add TEXT, done N, text N TEXT, remove N, list, offline, online, sync, quit")
        }
        return true
    }

    private func list() async throws {
        for item in try items.find([:]).sort(["_id": 1]).fetch() {
            let waits = try await items.status(of: .int64(Int64(item._id))) == .synced ? "" : " *"
            say("\(item._id) [\(item.isDone ? "x" : " ")] \(item.text)\(waits)")
        }
    }

    private func add(_ text: String) async throws {
        let last = try items.find([:]).sort(["_id": -1]).limit(1).fetch()
        let item = TodoItem(_id: (last.first?._id ?? 0) + 1, text: text, isDone: false)
        try await items.insertOne(item)
        say("\(item._id) [ ] \(text)")
    }

    private func change(_ number: String, _ update: BSONDocument) async throws {
        let result = try await items.updateOne(["_id": .int64(Int64(number) ?? 0)], update)
        if result.matchedCount == 0 { say("there is no item \(number)") }
    }

    /// Asks for all items that the remote has, and passes until both sides agree.
    private func sync() async throws {
        guard engine.isOnline else { return say("offline: \(try await waiting()) to send") }
        try await items.subscribe(named: "all", waitForSync: .never)
        let (report, _) = try await engine.syncUntilQuiet()
        await engine.flushEvents()
        say(report.reachedRemote ? "in step" : "no answer: \(try await waiting()) to send")
    }

    private func waiting() async throws -> Int { try await items.status().pending }
}
