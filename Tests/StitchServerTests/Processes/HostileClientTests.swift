import BSONStore
import Foundation
import StitchWire
import SyncSimulation
import TestProcesses
import Testing

@testable import StitchServer

/// Whatever a client sends, it gets an error or is cut off, and the others are served.
@Suite(.timeLimit(.minutes(20)), .serialized) struct HostileClientTests {
    private static let patience: Duration = .seconds(120)
    private static let ping: BSONDocument = ["ping": 1, "$db": "admin"]

    /// A server that cuts off whoever does not finish a message in two seconds.
    private struct Target {
        let port: Int
        let process: pid_t
        let other: ServerClient

        func connect() throws -> WireClient { try #require(WireClient(port: port)) }
    }

    /// Lends a server, and then a gateway; each must serve other clients in the end.
    private static func attacked(_ body: @escaping @Sendable (Target) throws -> Void) async throws {
        try await ServerProcess.run(["--handshake-timeout", "2"]) { try await attack($0, body) }
        #if MongoRemote
            try await GatewayProcesses.run(1, ["--handshake-timeout", "2"]) {
                try await attack($0.gateways[0], body)
            }
        #endif
    }

    private static func attack(
        _ server: ServerProcess, _ body: @escaping @Sendable (Target) throws -> Void
    ) async throws {
        let (port, process) = (server.port, server.processID)
        try await BlockingThread.run {
            let other = try ServerClient(port: port, database: "served")
            // A client that sends nothing is cut off, too.
            try other.run(["ping": 1])
            try body(Target(port: port, process: process, other: other))
            try ServerClient(port: port, database: "served").run(["ping": 1], on: "admin")
        }
    }

    /// The bytes of a message with one section.
    private static func message(
        _ body: BSONDocument, flags: UInt32 = 0, opcode: Int32 = 2013, length: Int32? = nil
    ) -> [UInt8] {
        let document = body.withUnsafeBytes { Array($0) }
        var bytes: [UInt8] = []
        func append<Number: FixedWidthInteger>(_ number: Number) {
            withUnsafeBytes(of: number.littleEndian) { bytes += $0 }
        }
        append(length ?? Int32(16 + 5 + document.count))
        for number in [1, 0, opcode] { append(number) }
        append(flags)
        return bytes + [0] + document
    }

    private static func isClosed(_ client: WireClient) -> Bool {
        if case .closed = client.answer(within: patience) { true } else { false }
    }

    private static func reply(_ client: WireClient) -> BSONDocument? {
        if case .reply(let reply) = client.answer(within: patience) { reply } else { nil }
    }

    @Test("The bytes of a message may arrive one by one")
    func oneByOne() async throws {
        try await Self.attacked { target in
            let client = try target.connect()
            for byte in Self.message(Self.ping) { client.send([byte]) }
            #expect(Self.reply(client) != nil)
        }
    }

    @Test("Absurd lengths and kinds of messages end the connection")
    func absurd() async throws {
        try await Self.attacked { target in
            let lengths: [Int32] = [0, 1, 15, 16, -1, .min, 48_000_001, .max]
            let opcodes: [Int32] = [0, 1, 2001, 2005, 2012, 2014, -1]
            let messages =
                lengths.map { Self.message(Self.ping, length: $0) }
                + opcodes.map { Self.message(Self.ping, opcode: $0) }
            for message in messages {
                let client = try target.connect()
                client.send(message)
                #expect(Self.isClosed(client), "\(message.prefix(20))")
            }
        }
    }

    @Test("Unknown flags end the connection")
    func flags() async throws {
        try await Self.attacked { target in
            let client = try target.connect()
            client.send(Self.message(Self.ping, flags: 0x8000))
            #expect(Self.isClosed(client))
        }
    }

    @Test("An invalid document is refused, and the connection goes on")
    func invalidDocument() async throws {
        try await Self.attacked { target in
            var message = Self.message(Self.ping)
            let place = try #require(message.firstRange(of: Array("admin".utf8)))
            message.replaceSubrange(place, with: [0xFF, 0xFE, 0xFD, 0xFC, 0xFB])
            let client = try target.connect()
            client.send(message)
            #expect(Self.reply(client)?["codeName"] == "InvalidBSON")
            client.send(Self.message(Self.ping))
            #expect(Self.reply(client)?["ok"] == 1.0)
        }
    }

    @Test("A section of an unknown kind is answered, and the connection goes on")
    func unknownSection() async throws {
        try await Self.attacked { target in
            let client = try target.connect()
            let plain = Self.message(Self.ping)
            for kind in [2, 3, 255] as [UInt8] {
                // In the place of the body, after it, and without one.
                var (before, after) = (plain, plain + [kind, 1, 2])
                before[20] = kind
                let alone = Array(plain.prefix(20)) + [kind]
                for var message in [before, after, alone] {
                    withUnsafeBytes(of: Int32(message.count).littleEndian) {
                        message.replaceSubrange(0..<4, with: $0)
                    }
                    client.send(message)
                    let reply = Self.reply(client)
                    #expect(reply?["ok"] == 0.0 && reply?["code"] == 40_432)
                    #expect(reply?["errmsg"] == .string("Unknown section kind \(kind)"))
                    #expect(client.lastResponseTo == 1)
                    client.send(plain)
                    #expect(Self.reply(client)?["ok"] == 1.0)
                }
            }
        }
    }

    @Test("Random bytes do no harm")
    func randomBytes() async throws {
        try await Self.attacked { target in
            var random = SimulationRandom(seed: 7)
            let whole = Self.message([
                "find": "items", "filter": ["a": [1, ["$gt": 3]]], "$db": "x",
            ])
            for _ in 0..<300 {
                var message = whole
                for _ in 0..<Int.random(in: 1..<6, using: &random) {
                    let place = Int.random(in: 4..<message.count, using: &random)
                    message[place] = .random(in: .min ... .max, using: &random)
                }
                let client = try target.connect()
                client.send(message)
                client.finishSending()
                _ = client.answer(within: Self.patience)
            }
        }
    }

    @Test("Deep nesting is refused")
    func nesting() async throws {
        try await Self.attacked { target in
            for (depth, isAllowed) in [(99, true), (150, false), (250, false)] {
                let deep = (1..<depth).reduce(BSONDocument()) { inner, _ in
                    ["a": .document(inner)]
                }
                let client = try target.connect()
                client.send(
                    Self.message([
                        "insert": "items", "documents": [.document(deep)], "$db": "served",
                    ]))
                let reply = Self.reply(client)
                let isDone = reply.map { ServerRefusal.error(of: $0) == nil } ?? false
                #expect(isDone == isAllowed, "\(depth)")
            }
            #expect(try target.other.documents(["find": "items"]).count == 1)
        }
    }

    @Test("A document of 20 MB is refused")
    func largeDocument() async throws {
        try await Self.attacked { target in
            let text = BSONValue.string(String(repeating: "x", count: 20 << 20))
            let client = try target.connect()
            client.send(
                Self.message(["insert": "items", "documents": [["text": text]], "$db": "served"]))
            switch client.answer(within: Self.patience) {
            case .reply(let reply): #expect(reply["errmsg"] != nil)
            // On a busy machine 20 MB take longer than the two seconds that the server allows.
            case .closed: break
            case .silent: Issue.record("no answer")
            }
            #expect(try target.other.documents(["find": "items"]).isEmpty)
        }
    }

    @Test("An expensive regular expression ends")
    func regularExpression() async throws {
        try await Self.attacked { target in
            let text = String(repeating: "a", count: 30_000) + "b"
            try target.other.insert([["text": .string(text)]], into: "items")
            let start = ContinuousClock.now
            let found = try target.other.documents([
                "find": "items", "filter": ["text": ["$regex": "^(a+)+$"]],
            ])
            #expect(found.isEmpty)
            #expect(ContinuousClock.now - start < .seconds(60))
        }
    }

    @Test("A cursor is read in its own session only")
    func cursorsOfOthers() async throws {
        try await Self.attacked { target in
            let client = target.other
            try client.insert((Int32(0)..<10).map { ["_id": .int32($0)] }, into: "items")
            func run(_ command: BSONDocument, in session: ServerSession) throws -> BSONDocument {
                var command = command
                command.append("lsid", .document(session.document))
                return try client.reply(command)
            }
            let found = try run(["find": "items", "batchSize": 2], in: ServerSession(1))
            let id = try #require(found["cursor"]?.documentValue?["id"])
            let other = try run(["getMore": id, "collection": "items"], in: ServerSession(2))
            #expect(other["code"] == 50_738)
            let unknown = try client.reply([
                "getMore": .int64(12_345_678_901), "collection": "items",
            ])
            #expect(unknown["code"] == 43)
        }
    }
}

#if os(Linux)
    extension HostileClientTests {
        /// The resident memory of a process in bytes.
        private static func memory(_ process: pid_t) throws -> Int {
            let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
            let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS") }
            return try #require(line?.split(separator: " ").compactMap { Int($0) }.first) << 10
        }

        /// How many queries a server has answered.
        private static func finds(_ client: ServerClient) throws -> Int {
            let status = try client.run(["serverStatus": 1], on: "admin")
            let commands = status["metrics"]?.documentValue?["commands"]?.documentValue
            return commands?["find"]?.documentValue?["total"]?.wholeNumber ?? 0
        }

        @Test("Idle and half-open connections take little memory and are cut off")
        func idle() async throws {
            try await Self.attacked { target in
                let before = try Self.memory(target.process)
                let idle = try (0..<500).map { _ in try target.connect() }
                let half = try (0..<500).map { _ in try target.connect() }
                for client in half { client.send(Self.message(["ping": 1], length: 40_000_000)) }
                try target.other.insert([["_id": 1]], into: "items")
                #expect(try target.other.documents(["find": "items"]).count == 1)
                #expect(try Self.memory(target.process) - before < 200 << 20)
                #expect((idle + half).allSatisfy(Self.isClosed))
            }
        }

        @Test("A client that does not read is held up")
        func doesNotRead() async throws {
            try await Self.attacked { target in
                let text = BSONValue.string(String(repeating: "x", count: 100_000))
                try target.other.insert(Array(repeating: ["text": text], count: 150), into: "items")
                let before = try Self.memory(target.process)
                let finds = try Self.finds(target.other)
                let client = try target.connect()
                let find = Self.message([
                    "find": "items", "batchSize": 150, "singleBatch": true, "$db": "served",
                ])
                var sent = 0
                while sent < 2_000, client.send(find, waits: false) { sent += 1 }
                #expect(try Self.memory(target.process) - before < 300 << 20)
                // The other client has as much time as this takes.
                for _ in 0..<40 {
                    let found = try target.other.documents(["find": "items", "batchSize": 150])
                    #expect(found.count == 150)
                }
                // No more answers are made than the network takes in.
                #expect(try Self.finds(target.other) - finds - 40 < 10)
                withExtendedLifetime(client) {}
            }
        }
    }
#endif
