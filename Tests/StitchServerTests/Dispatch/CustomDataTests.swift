import BSONStore
import Foundation
import TestProcesses
import Testing

@testable import StitchServer

/// What a user may see hangs on documents that anybody may change, also past the server.
@Suite struct CustomDataTests {
    private static let profiles = Namespace("shop", "profiles")
    private static let items = Namespace("shop", "items")

    private static func call(_ server: ServerContext) -> CommandCall {
        let connection = ClientConnection(id: 1, peer: "127.0.0.1:1", local: "localhost:27017")
        connection.state.withLock {
            $0.user = SignedInUser(
                name: "ben", database: "admin", roles: [Role(name: "readWrite", database: "shop")])
        }
        return CommandCall(
            signature: FindCommand.definition.signature, givenName: "find", body: ["find": "items"],
            sequences: [:],
            database: "shop", connection: connection, server: server, budget: WorkBudget(),
            session: nil,
            transaction: nil, snapshot: nil, allowsExhaust: false)
    }

    private static func withBackend(
        _ body: (StoreBackend, DocumentStore, CommandCall) throws -> Void
    ) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "custom-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appending(path: "store.db").path
        let options = DocumentStore.Options(changeHistory: .keep(changesMax: 100))
        let other = try DocumentStore(at: .file(file), options: options)
        try other.collection(profiles).insertOne(["_id": 1, "user": "ben", "tenant": "a"])
        try other.collection(items).insertMany([
            ["_id": 1, "tenant": "a"], ["_id": 2, "tenant": "a"], ["_id": 3, "tenant": "b"],
        ])
        var settings = ServerSettings()
        settings.requiresSignIn = true
        settings.rules = try ReloadableRules(
            folder: Python.folder.appending(path: "fixtures/rules/app").path)
        let server = ServerContext(settings: settings)
        let backend = try StoreBackend(
            store: DocumentStore(at: .file(file), options: options), server: server)
        try body(backend, other, call(server))
        backend.close()
        other.close()
        try removeFolder(atPath: folder.path)
    }

    @Test("the first command after a sign-in has a time limit, too")
    func timeLimit() throws {
        try Self.withBackend { backend, _, call in
            let dispatcher = Dispatcher(server: call.server, backend: backend)
            let definition = try #require(CommandTable.find("aggregate"))
            #expect(call.connection.state.withLock { $0.rules } == nil)
            #expect(dispatcher.usualDeadline(definition, [:], call.connection) != nil)
            call.connection.state.withLock {
                $0.user = SignedInUser(
                    name: "root", database: "admin", roles: [Role(name: "root", database: "admin")])
            }
            #expect(dispatcher.usualDeadline(definition, [:], call.connection) == nil)
        }
    }

    @Test("custom data that another process changes hold with the next command")
    func changedElsewhere() throws {
        try Self.withBackend { backend, other, call in
            func seen() throws -> [BSONValue?] {
                try backend.read(call) { transaction in
                    try transaction.find(Self.items, filter: .all).map { $0["_id"] }
                }
            }
            #expect(try seen() == [1, 2])
            try other.collection(Self.profiles).updateOne(
                ["user": "ben"], ["$set": ["tenant": "b"]])
            #expect(try seen() == [3])
        }
    }

    @Test("a cursor ends whose documents were read before the rules that hold now")
    func changedMeanwhile() throws {
        try Self.withBackend { backend, other, call in
            let ruleGuard = try backend.rules.ruleGuard(call)
            try other.collection(Self.profiles).updateOne(
                ["user": "ben"], ["$set": ["tenant": "b"]])
            let error = #expect(throws: CommandFailure.self) {
                _ = try CursorReply.open(
                    ListSource([["_id": 1], ["_id": 2]]), Self.items, call, on: backend,
                    under: ruleGuard,
                    batchSize: 1)
            }
            #expect(error?.code == 175)
        }
    }
}
