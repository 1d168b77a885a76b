import BSONStore
import StitchSync
import Testing

@testable import StitchCommands

/// A stream that is not kept costs each pass two requests; a cursor that is not closed costs the server.
struct MongoCollectionTests {
    private static let items = Namespace("app", "items")
    private static let place = BSONTimestamp(seconds: 9, increment: 1)

    /// A reply with a cursor that stays open, unless its number is 0.
    private static func cursor(
        _ id: Int64, _ batch: BSONDocument..., token: BSONDocument = ["_data": "a"],
        first: Bool = false
    ) -> BSONDocument {
        [
            "ok": 1, "operationTime": .timestamp(place),
            "cursor": [
                "id": .int64(id), "postBatchResumeToken": .document(token),
                first ? "firstBatch" : "nextBatch": .array(
                    BSONArray(batch.map { .document($0) })),
            ],
        ]
    }

    private static func collection(_ server: ScriptedServer) -> MongoCollection {
        MongoCollection(server: server, namespace: items)
    }

    private static let signedOut = MongoFailure(
        kind: .server, code: 13, message: "command find requires authentication")

    @Test func `two idle streams are kept, and the one unused for longest is closed`()
        async throws
    {
        let server = ScriptedServer { _ in Self.cursor(5, first: true) }
        let items = Self.collection(server)
        for _ in 0..<3 { _ = try await items.currentToken() }
        #expect(
            server.transcript() == [
                "1 aggregate", "2 aggregate", "3 aggregate", "1 ends killing 5",
            ])
        items.closeStreams()
        #expect(server.transcript() == ["2 ends killing 5", "3 ends killing 5"])
        _ = try await items.currentToken()
        #expect(server.transcript() == ["4 aggregate", "4 ends killing 5"], "closed ones stay so")
    }

    @Test func `an exchange of values holds others up for one command and the commit`()
        async throws
    {
        let updates = Locked<[BSONDocument]>([])
        let server = ScriptedServer { command throws(MongoFailure) in
            guard command["find"] == nil else {
                return Self.cursor(
                    0, ["_id": 1, "place": "a"], ["_id": 2, "place": "b"], first: true)
            }
            let sent = command["updates"]?.arrayValue?.compactMap(\.documentValue) ?? []
            updates.withLock { $0 += sent }
            return ["ok": 1, "n": .int32(Int32(sent.count))]
        }
        let writes = [(1, "b"), (2, "a")].map { id, place in
            RemoteWrite(
                documentID: .int32(id),
                operation: OperationID(instance: 1, sequence: UInt64(id)),
                action: .update(set: ["place": .string(place)], unset: []),
                condition: .init(version: .absent))
        }
        let outcomes = try await Self.collection(server).write(writes, exchanging: ["place"])
        #expect(outcomes == [.applied, .applied])
        #expect(
            server.transcript() == [
                "find", "1 startTransaction", "1 update", "1 commitTransaction", "1 ends",
            ])
        let places = updates.withLock { $0.map { $0[path: "u.$set.place"] } }
        #expect(places.count == 4 && places.suffix(2) == ["b", "a"])
        #expect(Set(places.compactMap { $0?.stringValue }).count == 4, "values of their own")
    }

    @Test func `an exchange whose documents do not fit into one reply leaves no cursor open`()
        async throws
    {
        let server = ScriptedServer { command throws(MongoFailure) in
            guard command["find"] == nil else {
                return Self.cursor(7, ["_id": 1, "place": "a"], first: true)
            }
            if command["killCursors"] != nil { return ["ok": 1] }
            throw MongoFailure(kind: .server, code: 11_000, message: "a duplicate key")
        }
        let writes = [(1, "b"), (2, "a")].map { id, place in
            RemoteWrite(
                documentID: .int32(id),
                operation: OperationID(instance: 1, sequence: UInt64(id)),
                action: .update(set: ["place": .string(place)], unset: []),
                condition: .init(version: .absent))
        }
        #expect(try await Self.collection(server).write(writes, exchanging: ["place"]) == nil)
        #expect(server.transcript() == ["find", "killCursors"])
    }

    @Test func `a query during which the rules change is sent again, but not for ever`()
        async throws
    {
        let kills = Locked(2)
        let server = ScriptedServer { command throws(MongoFailure) in
            let isKilled = kills.withLock { kills in
                kills -= 1
                return kills >= 0
            }
            guard !isKilled else {
                throw MongoFailure(kind: .server, code: 175, message: "the rules have changed")
            }
            return Self.cursor(0, ["_id": 1], first: true)
        }
        let items = Self.collection(server)
        #expect(try await items.find(ids: [1]).count == 1)
        #expect(
            server.transcript() == [
                "1 find", "1 ends", "2 find", "2 ends", "3 find", "3 ends",
            ])
        kills.withLock { $0 = 3 }
        await #expect(throws: RemoteError.self) { try await items.find(ids: [1]) }
    }

    @Test(arguments: [43, 237, 91, 10_107])
    func `an idle stream that the server has lost is opened again without an error`(
        code: Int
    ) async throws {
        let isLost = Locked(false)
        let server = ScriptedServer { command throws(MongoFailure) in
            if command["getMore"] != nil, isLost.withLock({ $0 }) {
                isLost.withLock { $0 = false }
                throw MongoFailure(kind: .server, code: code, message: "cursor id 5 not found")
            }
            return Self.cursor(5, first: command["getMore"] == nil)
        }
        let items = Self.collection(server)
        let token = try await items.currentToken()
        _ = server.transcript()
        isLost.withLock { $0 = true }
        let batch = try await items.changes(after: token, limit: 10, waitingUpTo: .zero)
        #expect(batch.changes.isEmpty)
        #expect(
            server.transcript() == [
                "1 getMore", "1 ends killing 5", "2 aggregate", "2 getMore",
            ])
    }

    @Test func `a reader continues the idle stream at its token`() async throws {
        let server = ScriptedServer { command in
            guard let wait = command["maxTimeMS"]?.int64Value else {
                return Self.cursor(5, first: true)
            }
            #expect((1...700).contains(wait), "the server's longest wait bounds each command")
            return Self.cursor(
                5, ["_id": ["_data": "b"], "operationType": "delete", "documentKey": ["_id": 1]],
                token: ["_data": "c"])
        }
        let items = Self.collection(server)
        let token = try await items.currentToken()
        let batch = try await items.changes(after: token, limit: 9, waitingUpTo: .seconds(60))
        #expect(batch.changes.map(\.documentID) == [1])
        #expect(batch.token == ResumeToken(["_data": "c"]))
        _ = try await items.changes(after: batch.token, limit: 9, waitingUpTo: .zero)
        // Another place needs another cursor.
        _ = try await items.changes(after: token, limit: 9, waitingUpTo: .zero)
        #expect(
            server.transcript() == [
                "1 aggregate", "1 waits getMore", "1 getMore", "2 aggregate", "2 getMore",
            ])
    }

    @Test(.timeLimit(.minutes(30)))
    func `a cancelled caller leaves at once, and the stream outlives its command`() async throws {
        let (asked, reply) = (Signal(), Signal())
        let server = ScriptedServer { command in
            guard command["getMore"] != nil else { return Self.cursor(5, first: true) }
            asked.notify()
            await reply.wait(after: 0)
            #expect(!Task.isCancelled, "the command goes on")
            return Self.cursor(5)
        }
        let items = Self.collection(server)
        let token = try await items.currentToken()
        await withThrowingTaskGroup { group in
            group.addTask {
                _ = try await items.changes(after: token, limit: 9, waitingUpTo: .seconds(60))
            }
            await asked.wait(after: 0)
            group.cancelAll()
            let error = await #expect(throws: RemoteError.self) { try await group.waitForAll() }
            #expect(error?.errorClass == .retryable)
        }
        #expect(server.transcript() == ["1 aggregate", "1 waits getMore"])
        reply.notify()
        // Whether the read has returned its stream or is about to: it ends with the others.
        items.closeStreams()
        await server.ended.wait(after: 0)
        #expect(server.transcript() == ["1 ends killing 5"])
    }

    @Test func `a stream that fails is closed`() async throws {
        let server = ScriptedServer { command throws(MongoFailure) in
            guard command["getMore"] == nil else {
                throw MongoFailure(kind: .server, code: 286, message: "gone")
            }
            return Self.cursor(5, first: true)
        }
        let items = Self.collection(server)
        let token = try await items.currentToken()
        let error = await #expect(throws: RemoteError.self) {
            try await items.changes(after: token, limit: 9, waitingUpTo: .zero)
        }
        #expect(error?.errorClass == .historyLost)
        #expect(server.transcript() == ["1 aggregate", "1 getMore", "1 ends killing 5"])
    }

    @Test func `a query that is cut closes its cursor and proves nothing`() async throws {
        let server = ScriptedServer { _ in Self.cursor(7, ["_id": 1], first: true) }
        let found = try await Self.collection(server).find(ids: [1, 2], bytesMax: 1)
        #expect(found == [.found(["_id": 1]), nil])
        #expect(server.transcript() == ["1 find", "1 ends killing 7"])
    }

    @Test func `a query is read to its end`() async throws {
        let server = ScriptedServer { command in
            command["find"] != nil
                ? Self.cursor(7, ["_id": 1], first: true) : Self.cursor(0, ["_id": 2])
        }
        let found = try await Self.collection(server).find(ids: [1, 2, 3])
        #expect(found == [.found(["_id": 1]), .found(["_id": 2]), .absent])
        #expect(server.transcript() == ["1 find", "1 getMore", "1 ends"])
    }

    @Test func `a call is repeated once over a new sign-in`() async throws {
        let refusals = Locked(1)
        let server = ScriptedServer { _ throws(MongoFailure) in
            let isRefused = refusals.withLock { left in
                left -= 1
                return left >= 0
            }
            if isRefused { throw Self.signedOut }
            return Self.cursor(0, ["_id": 1], first: true)
        }
        let items = Self.collection(server)
        #expect(try await items.find(ids: [1]) == [.found(["_id": 1])])
        #expect(server.transcript() == ["1 find", "1 ends", "renew", "2 find", "2 ends"])
        refusals.withLock { $0 = 2 }
        let error = await #expect(throws: RemoteError.self) { try await items.find(ids: [1]) }
        #expect(error?.errorClass == .unauthenticated)
        #expect(server.transcript() == ["3 find", "3 ends", "renew", "4 find", "4 ends"])
    }

    @Test func `without credentials nothing is repeated`() async throws {
        let server = ScriptedServer(hasCredentials: false) { _ throws(MongoFailure) in
            throw Self.signedOut
        }
        let error = await #expect(throws: RemoteError.self) {
            try await Self.collection(server).find(ids: [1])
        }
        #expect(error?.code == 13)
        #expect(server.transcript() == ["1 find", "1 ends", "renew"])
    }

    @Test func `after a new sign-in a stream of the old one is not continued`() async throws {
        let isRefused = Locked(true)
        let server = ScriptedServer { command throws(MongoFailure) in
            guard command["getMore"] != nil else { return Self.cursor(5, first: true) }
            let refuses = isRefused.withLock { refuses in
                defer { refuses = false }
                return refuses
            }
            if refuses { throw Self.signedOut }
            return Self.cursor(5, token: ["_data": "b"])
        }
        let items = Self.collection(server)
        // Two streams at one place, of which the second is read first.
        _ = try await items.currentToken()
        let token = try await items.currentToken()
        _ = try await items.changes(after: token, limit: 9, waitingUpTo: .zero)
        #expect(
            server.transcript() == [
                "1 aggregate", "2 aggregate", "2 getMore", "2 ends killing 5", "renew",
                "3 aggregate", "3 getMore",
            ])
    }

    @Test func `only the writes that were refused are repeated over a new sign-in`() async throws {
        let sent = Locked<[Int]>([])
        let server = ScriptedServer { command in
            let count = command["deletes"]?.arrayValue?.count ?? 0
            let isFirst = sent.withLock { sent in
                sent.append(count)
                return sent.count == 1
            }
            guard isFirst else { return ["ok": 1, "n": 1] }
            return [
                "ok": 1, "n": 1,
                "writeErrors": [
                    ["index": 1, "code": 13, "errmsg": "command delete requires authentication"]
                ],
            ]
        }
        let writes = (0..<2 as Range<Int32>).map { id in
            RemoteWrite(
                documentID: .int32(id), operation: OperationID(instance: 1, sequence: UInt64(id)),
                action: .delete, condition: .init(version: .absent))
        }
        #expect(try await Self.collection(server).write(writes) == [.applied, .applied])
        #expect(sent.withLock { $0 } == [2, 1])
        #expect(server.transcript() == ["delete", "renew", "delete"])
    }
}
