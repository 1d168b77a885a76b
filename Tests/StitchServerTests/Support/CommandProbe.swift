import BSONStore
import Foundation
import StitchWire
import TestProcesses

@testable import StitchServer

/// A client's command, sent to a new server over a file or to a new gateway.
struct CommandProbe {
    /// The users of the probes.
    enum Caller: String, CaseIterable {
        /// A client that has not signed in.
        case stranger
        /// An administrator, to whom no rules apply.
        case root
        /// A user under the rules of `fixtures/rules/app`.
        case ben

        /// The roles of the user.
        fileprivate var roles: [Role] {
            switch self {
            case .stranger: []
            case .root: [Role(name: "root", database: "admin")]
            case .ben: [Role(name: "readWrite", database: "shop")]
            }
        }

        /// The signed-in user.
        var user: SignedInUser? {
            guard self != .stranger else { return nil }
            return SignedInUser(
                name: Name(rawValue), database: "admin", roles: roles, generation: 1)
        }

        /// The user's document in the upstream.
        fileprivate var document: BSONDocument {
            [
                "_id": .string(User.id(rawValue, "admin")), "user": .string(rawValue),
                "db": "admin", "roles": .array(BSONArray(roles.map(\.value))),
            ]
        }
    }

    /// The settings of a server with sign-in and rules.
    static func settings() throws -> ServerSettings {
        var settings = ServerSettings()
        settings.requiresSignIn = true
        settings.allowsTestCommands = true
        settings.rules = try ReloadableRules(
            folder: Python.folder.appending(path: "fixtures/rules/app").path)
        return settings
    }

    let command: BSONDocument
    let database: String

    init(_ command: BSONDocument, on database: String) {
        self.command = command
        self.database = database
    }

    /// The command with its database.
    var body: BSONDocument {
        var body = command
        body.append("$db", .string(database))
        return body
    }

    /// Returns the code of a server's answer, or `ok`.
    func fileAnswer(to caller: Caller) throws -> String {
        let server = try OfflineServer(Self.settings())
        server.become(Caller.root.user)
        _ = server.answer(command: ["create": "items", "$db": "shop"])
        server.become(caller.user)
        return Self.code(server.answer(command: body))
    }

    /// Returns the code of a gateway's answer, or `ok`, and the commands that it sent upstream for
    /// the client.
    ///
    /// - Parameter isUnderRules: whether the gateway has rules.
    func gatewayAnswer(
        to caller: Caller, isUnderRules: Bool = true
    ) throws -> (code: String, sent: [String]) {
        let upstream = RecordingUpstream()
        var settings = try Self.settings()
        if !isUnderRules { settings.rules = nil }
        let server = ServerContext(settings: settings)
        let backend = try GatewayBackend(upstream, server)
        defer { backend.close() }
        let connection = ClientConnection(
            id: 1, peer: "192.0.2.1:1", local: "localhost:27017", isLoopback: false)
        connection.become(caller.user)
        let request = WireRequest(requestID: 1, form: .message([]), body: body)
        var outcome = Dispatcher(server: server, backend: backend)
            .respond(to: request, on: connection)
        while true {
            switch outcome {
            case .reply(let reply): return (Self.code(reply), upstream.sent)
            case .close: return ("close", upstream.sent)
            case .blocking(let step): outcome = step()
            case .waiting(let wait): outcome = try wait.again(true)
            }
        }
    }

    private static func code(_ reply: BSONDocument?) -> String {
        guard let reply else { return "close" }
        return reply["ok"] == 1.0 ? "ok" : "\(reply["code"]?.wholeNumber ?? 0)"
    }

    /// Returns the call of the command, without a server of its own.
    func call(_ definition: CommandDefinition) throws -> CommandCall {
        let connection = ClientConnection(id: 1, peer: "192.0.2.1:1", local: "localhost:27017")
        connection.become(Caller.ben.user)
        return CommandCall(
            signature: definition.signature, givenName: command.keys.first ?? "", body: body,
            sequences: [:],
            database: database, connection: connection,
            server: ServerContext(settings: try Self.settings()), budget: WorkBudget(),
            session: nil, transaction: nil, snapshot: nil, allowsExhaust: false)
    }
}

/// An upstream with the collection `shop.items` and the profiles of the rules, which notes what
/// clients' commands send it.
final class RecordingUpstream: Upstream, UpstreamPlace {
    let server: UInt32 = 1
    private let notes = Locked<[String]>([])

    /// The clients' commands so far, with their databases; `place` for the place of a cursor.
    var sent: [String] { notes.withLock { $0 } }

    private func note(_ text: String, _ caller: UpstreamCaller) {
        guard caller.user != nil else { return }
        notes.withLock { $0.append(text) }
    }

    func run(
        _ command: BSONDocument, on database: String, _ kind: UpstreamCommandKind,
        for caller: UpstreamCaller
    ) throws(UpstreamFailure) -> BSONDocument {
        try run(command, on: database, for: caller)
    }

    func run(
        _ command: BSONDocument, on database: String, for caller: UpstreamCaller
    ) throws(UpstreamFailure) -> BSONDocument {
        let name = command.keys.first ?? ""
        note("\(name)@\(database)", caller)
        switch name {
        case "findAndModify":
            return ["ok": 1.0, "value": ["_id": 1, "bytes": .binary(BSONBinary([1, 2, 3]))]]
        case "find" where command["find"] == "profiles":
            return Self.batch([["_id": 1, "user": "ben", "tenant": "a"]], "shop.profiles")
        case "find" where command["find"] == "users" && database == GatewayDatabase.name:
            let id = command["filter"]?.documentValue?["_id"]?.documentValue?["$eq"]
            let users = CommandProbe.Caller.allCases.map(\.document)
            return Self.batch(users.filter { id == nil || $0["_id"] == id }, "users")
        case "listCollections":
            let info: BSONDocument = ["readOnly": false]
            return Self.batch(
                [["name": "items", "type": "collection", "options": [:], "info": .document(info)]],
                "shop.$cmd.listCollections")
        case "listIndexes":
            return Self.batch([["v": 2, "key": ["_id": 1], "name": "_id_"]], "shop.items")
        case "listDatabases":
            return ["ok": 1.0, "databases": [["name": "shop", "sizeOnDisk": 1, "empty": false]]]
        case "find", "aggregate": return Self.batch([], "shop.items")
        default: return ["ok": 1.0, "n": 1, "nModified": 1]
        }
    }

    private static func batch(_ documents: [BSONDocument], _ namespace: String) -> BSONDocument {
        [
            "ok": 1.0,
            "cursor": [
                "id": 0, "ns": .string(namespace),
                "firstBatch": .array(BSONArray(documents.map(BSONValue.document))),
                "postBatchResumeToken": ["_data": "00000001"],
            ],
        ]
    }

    func place(for caller: UpstreamCaller) throws(UpstreamFailure) -> any UpstreamPlace {
        note("place", caller)
        return self
    }

    func openSession(for caller: UpstreamCaller) throws(UpstreamFailure) -> any UpstreamSession {
        throw UpstreamFailure(.unreachable, code: 6, "there are no sessions")
    }
}
