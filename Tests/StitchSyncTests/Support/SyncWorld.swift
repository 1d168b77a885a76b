import BSONStore
import StitchMongo
import TestProcesses
import Testing

@testable import StitchSync

/// Holds a remote and devices whose every doing is written down, in the order in which it happens.
final class SyncWorld: Sendable {
    /// The database of a test: on a server that stays, each has its own.
    @TaskLocal static var database = "app"
    static var namespace: Namespace { Namespace(database, "items") }

    /// Which remote a test's worlds are made with.
    @TaskLocal static var remoteKind = RemoteKind.inProcess

    /// The remote's documents by another way.
    let remoteDocuments: any RemoteDocuments
    let remote: ScriptedRemote
    let lines = Locked<[String]>([])
    /// The remote's own server, where there is one.
    let server: (any KillableServer)?

    init() throws {
        let namespace = Self.namespace
        let history = DocumentStore.Options(changeHistory: .keep(changesMax: 100_000))
        switch Self.remoteKind {
        case .inProcess:
            let store = try DocumentStore(at: .inMemory, options: history)
            remoteDocuments = StoredRemoteDocuments(store: store, namespace: namespace)
            remote = ScriptedRemote(InProcessRemote(store: store))
            server = nil
        case .served(let way):
            let process = try ServerProcess.start()
            let store = try DocumentStore(at: .file(process.path), options: history)
            remoteDocuments = StoredRemoteDocuments(store: store, namespace: namespace)
            let base = try way.remote(to: ServedAddress(port: process.port))
            let holder = ServerHolder(process)
            remote = ScriptedRemote(ServedRemote(base, holder))
            server = holder
        #if MongoRemote
            case .gateway:
                let (gateway, address) = try RuledGateway.start(
                    RuledWorld.everybody, Self.namespace)
                let store = try DocumentStore(at: .file(gateway.upstreamPath), options: history)
                remoteDocuments = StoredRemoteDocuments(store: store, namespace: namespace)
                remote = ScriptedRemote(
                    GatewayRemote(try ServedWay.allCases[0].remote(to: address), gateway))
                server = gateway
            case .deployment(let uri):
                remoteDocuments = try ServedRemoteDocuments(uri: uri, namespace)
                remote = ScriptedRemote(try MongoRemote(uri: uri))
                server = nil
        #endif
        }
    }

    deinit { remoteDocuments.close() }

    /// A device with a store in memory.
    func device(
        _ name: String, handler: ConflictHandler<BSONDocument>? = .remoteWins,
        limits: SyncLimits = SyncLimits()
    ) async throws -> Device {
        let device = Device(
            name: name, world: self, store: try DocumentStore(at: .inMemory), handler: handler,
            limits: limits)
        try await device.start()
        return device
    }

    /// Two devices with the same document `k`, whose `n` is 0.
    func devicesInStep() async throws -> (a: Device, b: Device) {
        let (a, b) = (try await device("a"), try await device("b"))
        try await a.insert(["_id": "k", "n": 0])
        try await a.engine.syncUntilQuiet()
        try await b.items.sync(ids: ["k"])
        try await b.engine.syncUntilQuiet()
        return (a, b)
    }

    func note(_ line: String) { lines.withLock { $0.append(line) } }

    /// What happened since the last call.
    func transcript() -> [String] {
        lines.withLock { lines in
            defer { lines = [] }
            return lines
        }
    }

    /// Whether the remote's documents changed so often, as far as the remote can tell.
    func remoteChanged(times count: Int) throws -> Bool {
        try remoteDocuments.changeCount().map { $0 == count } ?? true
    }

    /// The remote's document without its version.
    func remoteDocument(_ id: BSONValue) throws -> BSONDocument? {
        try remoteDocuments.document(id)?.withoutVersion
    }

    /// The remote document's version.
    func remoteVersion(_ id: BSONValue) throws -> VersionField? {
        try remoteDocuments.document(id).map(VersionField.init)
    }

    /// Writes as a tool that knows nothing of sync, or that does what the change says.
    func foreign(_ id: BSONValue, _ change: (inout BSONDocument) -> Void) throws {
        var document = try remoteDocuments.document(id) ?? ["_id": id]
        change(&document)
        try remoteDocuments.put(document)
    }

    /// A value of so many bytes, quickly made and checked.
    static func bytes(_ count: Int) -> BSONValue {
        .binary(BSONBinary([UInt8](repeating: 7, count: count)))
    }

    /// Keeps the next request that writes from arriving, to let it ``land(_:)`` later.
    func postponeWrite() -> Locked<[RemoteWrite]> {
        let late = Locked<[RemoteWrite]>([])
        remote.before { [remote] call in
            guard call.kind == .write else { return }
            remote.before(nil)
            late.withLock { $0 = call.writes }
            throw RemoteError(.retryable, "timed out")
        }
        return late
    }

    /// Lets a request arrive that nobody waits for any more.
    func land(_ late: Locked<[RemoteWrite]>) async throws {
        _ = try await remote.base.collection(Self.namespace).write(late.withLock { $0 })
    }

    /// Has the remote forget its history until the next call of ``ScriptedRemote/before(_:)``.
    func loseHistory() {
        remote.before { call in
            if call.kind == .changes { throw RemoteError(.historyLost, code: 286, "gone") }
        }
    }

    func foreignDelete(_ id: BSONValue) throws {
        try remoteDocuments.remove(id)
    }
}

/// One device of a world.
final class Device: Sendable {
    let name: String
    let world: SyncWorld
    let store: DocumentStore
    let handler: ConflictHandler<BSONDocument>?
    let limits: SyncLimits
    let engineBox = Locked<SyncEngine?>(nil)
    /// The device's own way to the remote, where it has one.
    private let ownRemote: (any Remote)?

    init(
        name: String, world: SyncWorld, store: DocumentStore,
        handler: ConflictHandler<BSONDocument>?, remote: (any Remote)? = nil,
        limits: SyncLimits = SyncLimits()
    ) {
        ownRemote = remote
        self.limits = limits
        self.name = name
        self.world = world
        self.store = store
        self.handler = handler
    }

    var engine: SyncEngine {
        guard let engine = engineBox.withLock({ $0 }) else {
            preconditionFailure("the device was not started")
        }
        return engine
    }

    var items: SyncCollection<BSONDocument> { engine.collection(SyncWorld.namespace) }

    /// Starts, or starts anew as after a kill: all that was in memory is gone.
    func start() async throws {
        let (name, world) = (name, world)
        let engine = try SyncEngine(
            store: store, remote: ownRemote ?? world.remote, limits: limits,
            backoff: Backoff(), clock: ContinuousClock(),
            probe: EngineProbe(conflictFound: { conflict in
                world.note("\(name) conflict \(Self.text(conflict))")
            }), freshInstance: UInt64.random(in: 1...UInt64.max))
        engineBox.withLock { $0 = engine }
        await items.configure(
            conflictHandler: handler,
            changeEventListener: { event in
                let pending = event.hasUncommittedWrites ? "pending" : "settled"
                world.note(
                    "\(name) \(event.reason) \(event.operationType) "
                        + "\(Self.text(event.documentID)) \(pending)")
            },
            errorListener: { error, id in
                world.note("\(name) error \(error.code) \(id.map(Self.text) ?? "")")
            })
    }

    @discardableResult
    func sync() async throws -> SyncPassReport {
        let report = try await engine.syncNow()
        await engine.flushEvents()
        let findings = try await engine.verify()
        #expect(findings.isEmpty, "the structural check after a pass of \(name)")
        return report
    }

    func set(_ id: BSONValue, _ fields: BSONDocument) async throws {
        try await items.updateOne(["_id": id], ["$set": .document(fields)])
        await engine.flushEvents()
    }

    func insert(_ document: BSONDocument) async throws {
        try await items.insertOne(document)
        await engine.flushEvents()
    }

    func delete(_ id: BSONValue) async throws {
        try await items.deleteOne(["_id": id])
        await engine.flushEvents()
    }

    /// Writes documents into the store as versions before this one let an app do beside sync.
    func insertPastSync(_ documents: BSONDocument...) async throws {
        try await store.write { transaction in
            transaction.isEngineWrite = true
            for document in documents { try transaction.insert(SyncWorld.namespace, document) }
        }
    }

    func local(_ id: BSONValue) async throws -> BSONDocument? { try items.findOne(id: id) }

    static func text(_ value: BSONValue) -> String {
        switch value {
        case .string(let text): text
        case .int32(let number): "\(number)"
        default: "\(value)"
        }
    }

    private static func text(_ conflict: Conflict<BSONDocument>) -> String {
        func fields(_ document: BSONDocument?) -> String {
            guard let document else { return "-" }
            return document.filter { $0.key != "_id" }
                .map { "\($0.key)=\(text($0.value))" }.joined(separator: ",")
        }
        return "base \(fields(conflict.base)) local \(fields(conflict.local)) "
            + "remote \(fields(conflict.remote))"
    }
}
