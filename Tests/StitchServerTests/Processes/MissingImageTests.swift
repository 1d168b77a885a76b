import BSONStore
import TestProcesses
import Testing

/// An upstream that keeps no documents before changes: who saw a document is then unknown, and a
/// stream that guessed could reveal what was hidden, or hide what a device must delete.
@Suite(.timeLimit(.minutes(60))) struct MissingImageTests {
    private struct World {
        /// At the database behind the gateways.
        let upstream: ServerClient
        /// The same user at two gateways.
        let anns: [ServerClient]
        /// A user who does not see all fields, at the first gateway.
        let fay: ServerClient

        func update(_ id: BSONValue, _ update: BSONValue) throws {
            try upstream.update(id, update)
        }

        /// The token of an event that the user has seen at the first gateway.
        func token() throws -> BSONValue {
            let stream = try ServerStream(anns[0], [:])
            try update("own", ["$inc": ["n": 1]])
            return try stream.next()["_id"] ?? .null
        }

        /// A stream at the second gateway, which reads what happened after a token.
        func resumed(after token: BSONValue) throws -> ServerStream {
            try ServerStream(anns[1], ["resumeAfter": token])
        }
    }

    /// Lends gateways that may not have the upstream keep earlier documents.
    private static func run(_ body: @escaping @Sendable (World) throws -> Void) async throws {
        try await GatewayProcesses.run(
            2, RuledWorld.arguments, upstreamArguments: ["--test-commands"]
        ) { processes in
            let (port, ports) = (processes.upstream.port, processes.ports)
            try await BlockingThread.run {
                let client = try ServerClient(port: port, database: "shop")
                try client.run(
                    [
                        "configureFailPoint": "failCommand", "mode": "alwaysOn",
                        "data": ["failCommands": ["collMod"], "errorCode": 13],
                    ], on: "admin")
                _ = try RuledWorld.prepare(ports[0])
                try body(
                    World(
                        upstream: client, anns: ports.map { try RuledWorld.client($0, "ann") },
                        fay: RuledWorld.client(ports[0], "fay")))
            }
        }
    }

    /// Expects that a stream ends, so that its device reads anew.
    private static func expectEnd(
        of stream: @autoclosure () throws -> ServerStream,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let refusal = #expect(throws: ServerRefusal.self, sourceLocation: sourceLocation) {
            _ = try stream().next()
        }
        #expect(refusal?.code == 286, sourceLocation: sourceLocation)
    }

    @Test func `changes of visible documents are shown, and of hidden ones not`() async throws {
        try await Self.run { world in
            let (ann, fay) = try (ServerStream(world.anns[0], [:]), ServerStream(world.fay, [:]))
            try world.update("far", ["$set": ["title": "more hush"]])
            try world.update("other", ["$set": ["title": "told", "salary": 99]])
            for (stream, seesSalary) in [(ann, true), (fay, false)] {
                let event = try stream.next()
                #expect(event["documentKey"] == ["_id": "other"])
                let document = event["fullDocument"]?.documentValue
                #expect(document?["title"] == "told")
                #expect((document?["salary"] == 99) == seesSalary)
            }
        }
    }

    @Test(arguments: [
        updating("far", ["$set": ["tenant": "c"]]), updating("other", ["$set": ["tenant": "c"]]),
        ["delete": "items", "deletes": [["q": ["_id": "far"], "limit": 1]]],
    ])
    func `a stream ends where a document may have left the view`(
        _ change: BSONDocument
    ) async throws {
        try await Self.run { world in
            let stream = try ServerStream(world.anns[0], [:])
            try world.upstream.run(change)
            Self.expectEnd(of: stream)
        }
    }

    @Test func `what was written while a document was hidden is not shown later`() async throws {
        try await Self.run { world in
            let token = try world.token()
            try world.update("far", ["$set": ["note": "hidden words"]])
            try world.update("far", ["$set": ["tenant": "a"], "$unset": ["note": 1]])
            let stream = try world.resumed(after: token)
            for _ in 0..<2 {
                let event = try stream.next()
                #expect(event["documentKey"] == ["_id": "far"])
                #expect(event["fullDocument"]?.documentValue?["tenant"] == "a")
                #expect(!event.extendedJSON().contains("note"), "\(event)")
            }
        }
    }

    @Test func `an update of a document that is deleted by now shows nothing`() async throws {
        try await Self.run { world in
            let token = try world.token()
            for id in ["own", "far"] as [BSONValue] {
                try world.update(id, ["$set": ["note": "gone words"]])
                try world.upstream.run([
                    "delete": "items", "deletes": [["q": ["_id": id], "limit": 1]],
                ])
            }
            Self.expectEnd(of: try world.resumed(after: token))
        }
    }
}
