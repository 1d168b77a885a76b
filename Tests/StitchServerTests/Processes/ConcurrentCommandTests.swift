import BSONStore
import Foundation
import TestProcesses
import Testing

@testable import StitchServer

/// A command that waits must not hold up its connection, and many must not hold up the server.
@Suite(.timeLimit(.minutes(30))) struct ConcurrentCommandTests {
    /// Lends a client of a new server, and another one.
    private static func served(
        _ body: @escaping @Sendable (ServerClient, _ other: ServerClient, pid_t) throws -> Void
    ) async throws {
        try await ServerProcess.run { server in
            let (port, process) = (server.port, server.processID)
            try await BlockingThread.run {
                try body(
                    ServerClient(port: port, database: "served"),
                    ServerClient(port: port, database: "served"), process)
            }
        }
    }

    /// Opens a change stream and returns the id of its cursor.
    private static func stream(_ client: ServerClient, on collection: String) throws -> BSONValue {
        let opened = try client.run([
            "aggregate": .string(collection), "pipeline": [["$changeStream": [:]]], "cursor": [:],
        ])
        return try #require(opened["cursor"]?.documentValue?["id"])
    }

    private static func getMore(_ id: BSONValue, _ collection: String) -> BSONDocument {
        ["getMore": id, "collection": .string(collection), "maxTimeMS": 600_000]
    }

    /// Waits until so many commands of a name are under way.
    private static func wait(
        for count: Int, _ name: String, _ client: ServerClient
    ) throws {
        let end = ContinuousClock.now + .seconds(60)
        var found = -1
        while found != count, ContinuousClock.now < end {
            found = try client.operations(name).count
        }
        #expect(found == count)
    }

    @Test("While a getMore waits, later commands of the connection are answered")
    func findsMeanwhile() async throws {
        try await Self.served { client, _, _ in
            let hello = try client.run(["hello": 1], on: "admin")
            #expect(hello["stitchsync"]?.documentValue?["concurrent"] == 1)
            let id = try Self.stream(client, on: "items")
            client.send(Self.getMore(id, "items"), number: 100)
            for number in Int32(1)...20 { client.send(["find": "others"], number: number) }
            for number in Int32(1)...20 {
                let answer = try client.numberedAnswer()
                #expect(answer.number == number && answer.reply["ok"] == 1.0)
            }
            // The cursor is in use.
            client.send(Self.getMore(id, "items"), number: 21)
            #expect(try client.numberedAnswer().reply["code"] == 12_051)
            client.send(["insert": "items", "documents": [["_id": 1]]], number: 22)
            let answers = try [client.numberedAnswer(), client.numberedAnswer()]
            #expect(Set(answers.map(\.number)) == [22, 100])
            let event = answers.first { $0.number == 100 }?.reply["cursor"]?.documentValue
            #expect(event?["nextBatch"]?.arrayValue?.count == 1)
            // It can be read on.
            client.send(Self.getMore(id, "items"), number: 101)
            client.send(["killCursors": "items", "cursors": [id]], number: 23)
            let ends = try [client.numberedAnswer(), client.numberedAnswer()]
            #expect(ends.first { $0.number == 101 }?.reply["code"] == 237)
        }
    }

    @Test("Several getMores of one connection wait, and each is answered for itself")
    func severalCursors() async throws {
        try await Self.served { client, other, _ in
            let names = (Int32(0)..<5).map { "items\($0)" }
            let ids = try names.map { try Self.stream(client, on: $0) }
            for (index, name) in names.enumerated() {
                client.send(Self.getMore(ids[index], name), number: Int32(index))
            }
            try Self.wait(for: 5, "getMore", other)
            for index in [3, 0, 4, 1, 2] {
                try other.insert([["_id": 1]], into: names[index])
                let answer = try client.numberedAnswer()
                #expect(answer.number == Int32(index))
                let batch = answer.reply["cursor"]?.documentValue?["nextBatch"]?.arrayValue
                #expect(batch?.count == 1)
            }
            try Self.wait(for: 0, "getMore", other)
        }
    }

    @Test("A waiting command can be ended from its own connection, and its time ends it")
    func endings() async throws {
        try await Self.served { client, _, _ in
            let id = try Self.stream(client, on: "items")
            client.send(Self.getMore(id, "items"), number: 100)
            let operation = try client.running("getMore")
            client.send(["killOp": 1, "op": operation], on: "admin", number: 1)
            let answers = try [client.numberedAnswer(), client.numberedAnswer()]
            #expect(answers.first { $0.number == 1 }?.reply["ok"] == 1.0)
            #expect(answers.first { $0.number == 100 }?.reply["code"] == 11_601)
            let second = try Self.stream(client, on: "items")
            client.send(
                ["getMore": second, "collection": "items", "maxTimeMS": 50], number: 101)
            let answer = try client.numberedAnswer()
            #expect(answer.number == 101 && answer.reply["ok"] == 1.0)
        }
    }

    @Test("What changes the user of a connection waits for all before it, and all after it for it")
    func signIn() async throws {
        try await Self.served { client, other, _ in
            let id = try Self.stream(client, on: "items")
            client.send(Self.getMore(id, "items"), number: 100)
            client.send(["logout": 1], on: "admin", number: 1)
            client.send(["ping": 1], number: 2)
            try Self.wait(for: 1, "getMore", other)
            try other.insert([["_id": 1]], into: "items")
            let numbers = try (0..<3).map { _ in try client.numberedAnswer().number }
            #expect(numbers == [100, 1, 2])
        }
    }

    @Test("getLastError reports the last command, not a getMore that was answered later")
    func lastError() async throws {
        try await Self.served { client, other, _ in
            let id = try Self.stream(client, on: "items")
            client.send(Self.getMore(id, "items"), number: 100)
            try client.insert([["_id": 1], ["_id": 2]], into: "others")
            try other.insert([["_id": 1]], into: "items")
            #expect(try client.numberedAnswer().number == 100)
            #expect(try client.run(["getLastError": 1])["n"] == 2)
        }
    }

    @Test("The waiting commands of a client that leaves end, with their cursors")
    func leaving() async throws {
        try await ServerProcess.run { server in
            let port = server.port
            try await BlockingThread.run {
                let other = try ServerClient(port: port, database: "served")
                do {
                    let client = try ServerClient(port: port, database: "served")
                    for name in ["a", "b", "c"] {
                        let id = try Self.stream(client, on: name)
                        client.send(Self.getMore(id, name))
                    }
                    try Self.wait(for: 3, "getMore", other)
                    withExtendedLifetime(client) {}
                }
                try Self.wait(for: 0, "getMore", other)
                let status = try other.run(["serverStatus": 1], on: "admin")
                let cursors = status["metrics"]?.documentValue?["cursor"]?.documentValue
                #expect(cursors?["open"]?.documentValue?["total"]?.wholeNumber == 0)
            }
        }
    }

    @Test("A stopping server ends the waiting commands with an error after which drivers resume")
    func stopping() async throws {
        try await ServerProcess.run { server in
            let client = try ServerClient(port: server.port, database: "served")
            for name in ["a", "b", "c"] {
                client.send(Self.getMore(try Self.stream(client, on: name), name))
            }
            client.send(["ping": 1])
            #expect(try client.answer()["ok"] == 1.0)
            #expect(server.end(SIGTERM, within: StopLimit.usual), "it still runs")
            // InterruptedAtShutdown, which the drivers' specification of change streams resumes.
            for _ in 0..<3 { #expect(try client.answer()["code"] == 11_600) }
            guard case .closed = client.wire.answer(within: .seconds(30)) else {
                Issue.record("the connection stays open")
                return
            }
        }
    }

    @Test("Of 10,000 commands that wait, the server takes as many as its limit")
    func flood() async throws {
        try await Self.served { client, other, process in
            let hello = try client.run(["hello": 1], on: "admin")
            var command: BSONDocument = ["hello": 1]
            command.append("topologyVersion", try #require(hello["topologyVersion"]))
            command.append("maxAwaitTimeMS", 600_000)
            command.append("$db", "admin")
            let message = WireClient.message(command)
            var sent = 0
            while sent < 10_000, client.wire.send(message, waits: false) { sent += 1 }
            try Self.wait(for: WaitingCommands.countMax, "hello", other)
            for _ in 0..<20 { try other.run(["find": "items"]) }
            #expect(try other.operations("hello").count == WaitingCommands.countMax)
        }
    }

    @Test("Waiting commands are limited in number and in bytes, but one may always wait")
    func limits() {
        var waits = WaitingCommands()
        #expect(waits.isEmpty && waits.hasRoom() && waits.hasRoom(countMax: 1))
        let large = Self.command(bytes: 40_000_000)
        waits.add(large)
        #expect(!waits.hasRoom() && !waits.isEmpty)
        let wakings = [
            waits.wake(large, isTimeUp: true), waits.wake(large, isTimeUp: true),
        ]
        #expect(wakings == [true, false])
        #expect(!waits.hasRoom(), "its request is still there")
        let woken = waits.popWoken()
        #expect(woken?.isTimeUp == true)
        #expect(waits.isEmpty && waits.hasRoom())
        for count in 1...WaitingCommands.countMax {
            #expect(waits.hasRoom())
            waits.add(Self.command(bytes: 100))
            #expect(!waits.hasRoom(countMax: count))
        }
        #expect(!waits.hasRoom())
    }

    @Test("All are abandoned once, those that wait and those whose turn has not come")
    func abandoning() {
        let abandoned = Locked(0)
        var waits = WaitingCommands()
        let commands = (0..<4).map { _ in
            Self.command(bytes: 1) { abandoned.withLock { $0 += 1 } }
        }
        for command in commands { waits.add(command) }
        let isWoken = waits.wake(commands[1], isTimeUp: false)
        waits.abandonAll()
        #expect(isWoken && abandoned.withLock { $0 } == 4 && waits.isEmpty)
        let isWokenLater = waits.wake(commands[0], isTimeUp: false)
        #expect(!isWokenLater)
    }

    private static func command(
        bytes: Int, abandon: @escaping @Sendable () -> Void = {}
    ) -> WaitingCommand {
        WaitingCommand(
            CommandWait(deadline: .now, again: { _ in .ok }, abandon: abandon), rank: .ordinary,
            bytes: bytes, at: .small
        ) { _ in .silence }
    }
}
