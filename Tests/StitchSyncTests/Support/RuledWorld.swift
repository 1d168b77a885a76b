import BSONStore
import Foundation
import StitchCommands
import StitchRules
import TestProcesses
import Testing

@testable import StitchMongo
@testable import StitchSync

/// Holds a remote that binds `ann` by rules, and devices of hers whose every doing is written down.
final class RuledWorld: Sendable {
    static let items = Namespace("shop", "items")

    /// The role of Device Sync's documentation, with documents that nobody may delete.
    static let ownerReadWrite = """
        [{"name": "owner-read-write", "apply_when": {},
          "document_filters": {"read": true, "write": {"ownerId": "%%user.id"}},
          "read": true, "write": true, "delete": {"locked": {"$ne": true}}}]
        """
    /// Those of ``everybody``, and subscriptions may ask by the owner only.
    static let everybodyByOwner = everybody + " "
    static let everybody = """
        [{"name": "all", "apply_when": {}, "document_filters": {"read": true, "write": true},
          "read": true, "write": true}]
        """

    /// The remote's documents, past the rules.
    let stored: DocumentStore
    let remote: ScriptedRemote
    let lines = Locked<[String]>([])
    private let setRoles: @Sendable (String) throws -> Void
    private let end: @Sendable () -> Void

    init(_ roles: String = RuledWorld.ownerReadWrite) throws {
        let history = DocumentStore.Options(changeHistory: .keep(changesMax: 100_000))
        switch SyncWorld.remoteKind {
        #if MongoRemote
            case .served(let way):
                let folder = FileManager.default.temporaryDirectory.appending(
                    path: "ruled-\(UUID())")
                try Self.write(roles, into: folder)
                let process = try ServerProcess.start(["--auth", "--rules", folder.path])
                let run = try Self.administrator(port: process.port)
                stored = try DocumentStore(at: .file(process.path), options: history)
                var ann = ServedAddress(port: process.port)
                ann.user = ("ann", "pw")
                remote = ScriptedRemote(
                    ServedRemote(try way.remote(to: ann), ServerHolder(process)))
                setRoles = { roles in
                    try Self.write(roles, into: folder)
                    try run(["reloadRules": 1])
                }
                end = { [stored] in
                    stored.close()
                    do { try FileManager.default.removeItem(at: folder) } catch {}
                }
            case .gateway:
                let (gateway, ann) = try RuledGateway.start(roles, Self.items)
                stored = try DocumentStore(at: .file(gateway.upstreamPath), options: history)
                remote = ScriptedRemote(
                    GatewayRemote(try ServedWay.allCases[0].remote(to: ann), gateway))
                setRoles = { try gateway.use($0) }
                end = { [stored] in stored.close() }
            case .inProcess, .deployment:
                (stored, remote, setRoles, end) = try Self.inProcess(roles, history)
        #else
            case .inProcess, .served:
                (stored, remote, setRoles, end) = try Self.inProcess(roles, history)
        #endif
        }
    }

    private static func inProcess(
        _ roles: String, _ history: DocumentStore.Options
    ) throws -> (
        DocumentStore, ScriptedRemote, @Sendable (String) throws -> Void, @Sendable () -> Void
    ) {
        let store = try DocumentStore(at: .inMemory, options: history)
        let ann = RuleUser(id: "ann")
        let remote = InProcessRemote(store: store, rules: try rules(roles), user: ann)
        return (store, ScriptedRemote(remote), { remote.use(try rules($0), for: ann) }, {})
    }

    deinit { end() }

    static func rules(_ roles: String) throws -> RuleSet {
        var files = ["data_sources/mongodb-atlas/shop/items/rules.json": bytes(roles)]
        if roles == everybodyByOwner { files["sync/config.json"] = syncConfiguration }
        return try RuleSet(files: files)
    }

    private static let syncConfiguration = Array(
        #"""
        {"type": "flexible", "database_name": "shop", "queryable_fields_names": ["ownerId"]}
        """#.utf8)

    private static func bytes(_ roles: String, _ namespace: Namespace = items) -> [UInt8] {
        let place = #""database": "\#(namespace.database)", "collection": "items""#
        return Array(#"{\#(place), "roles": \#(roles)}"#.utf8)
    }

    static func write(
        _ roles: String, into folder: URL, for namespace: Namespace = items
    ) throws {
        let place = folder.appending(path: "data_sources/mongodb-atlas/\(namespace.database)/items")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        try Data(bytes(roles, namespace)).write(to: place.appending(path: "rules.json"))
        if roles == everybodyByOwner {
            let folder = folder.appending(path: "sync")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try Data(syncConfiguration).write(to: folder.appending(path: "config.json"))
        }
        guard roles == everybody else { return }
        // Worlds without rules have other collections, too.
        let source = folder.appending(path: "data_sources/mongodb-atlas/default_rule.json")
        try Data(#"{"roles": \#(roles)}"#.utf8).write(to: source)
    }

    #if MongoRemote
        /// Makes the users; gives what runs commands as the administrator.
        static func administrator(
            port: Int, role database: String = "shop"
        ) throws -> @Sendable (BSONDocument) throws -> Void {
            func pool(asRoot isRoot: Bool) throws -> MongoClientPool {
                var address = ServedAddress(port: port)
                if isRoot { address.user = ("root", "pw") }
                return try MongoClientPool(
                    uri: address.uri,
                    settings: .init(
                        applicationName: "tests", serverSelectionTimeout: .seconds(60),
                        socketTimeout: .seconds(60), clients: .undivided(2)),
                    onTopologyChange: { _ in })
            }
            @Sendable func run(_ pool: MongoClientPool, _ command: BSONDocument) throws {
                _ = try pool.withClient { (client) throws(MongoFailure) in
                    try client.run(command, on: "admin", .write)
                }
            }
            let roles: [BSONValue] = ["root"]
            try run(
                pool(asRoot: false),
                ["createUser": "root", "pwd": "pw", "roles": .array(BSONArray(roles))])
            let root = try pool(asRoot: true)
            let role: [BSONValue] = [.document(["role": "readWrite", "db": .string(database)])]
            try run(
                root, ["createUser": "ann", "pwd": "pw", "roles": .array(BSONArray(role))])
            return { try run(root, $0) }
        }
    #endif

    /// Has the remote bind by other roles from now on.
    func use(_ roles: String) throws { try setRoles(roles) }

    func note(_ line: String) { lines.withLock { $0.append(line) } }

    /// What happened since the last call.
    func transcript() -> [String] {
        lines.withLock { lines in
            defer { lines = [] }
            return lines
        }
    }

    /// The remote's document without its version.
    func document(_ id: BSONValue) throws -> BSONDocument? {
        try stored.read { try $0.get(Self.items, id: id) }?.withoutVersion
    }

    /// Changes a remote document as a tool that unsets the version.
    func foreign(_ id: BSONValue, _ fields: BSONDocument) throws {
        try stored.write { transaction in
            var document = try transaction.get(Self.items, id: id)?.withoutVersion ?? ["_id": id]
            for (key, value) in fields { document[key] = value }
            try transaction.put(Self.items, document)
        }
    }

    /// An engine over a device's store, with listeners that write down what they are told.
    func engine(
        _ store: DocumentStore? = nil, policy: RejectionPolicy<BSONDocument> = .standard,
        strict: StrictWrites? = nil, probe: EngineProbe = EngineProbe(),
        remote: (any Remote)? = nil, limits: SyncLimits = SyncLimits()
    ) async throws -> SyncEngine {
        let engine = try SyncEngine(
            store: try store ?? DocumentStore(at: .inMemory), remote: remote ?? self.remote,
            limits: limits, backoff: Backoff(), clock: ContinuousClock(), probe: probe,
            freshInstance: UInt64.random(in: 1...UInt64.max))
        await engine.collection(Self.items).configure(
            conflictHandler: .remoteWins,
            changeEventListener: { [self] event in
                let pending = event.hasUncommittedWrites ? "pending" : "settled"
                note(
                    "\(event.reason) \(event.operationType) \(Self.text(event.documentID)) \(pending)"
                )
            },
            errorListener: { [self] error, _ in
                let ids = error.compensatingWrites.map { Self.text($0.primaryKey) }
                note("error \(error.code) \(ids.joined(separator: ","))")
            }, rejectionPolicy: policy, strictWrites: strict)
        return engine
    }

    static func text(_ value: BSONValue) -> String { value.stringValue ?? "\(value)" }
}

extension SyncEngine {
    /// The collection that rules bind.
    var items: SyncCollection<BSONDocument> { collection(RuledWorld.items) }

    /// Runs a pass, has everything delivered, and checks the structure.
    @discardableResult
    func passed() async throws -> SyncPassReport {
        let report = try await syncNow()
        await flushEvents()
        let findings = try await verify()
        #expect(findings.isEmpty)
        return report
    }
}
