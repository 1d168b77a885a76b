import BSONStore
import Testing

@testable import StitchServer

/// A change stream, a transaction or a session could show what a query hides.
@Suite(.timeLimit(.minutes(60))) struct HiddenStreamTests {
    @Test(
        "Streams look documents up as their user sees them",
        arguments: RuledWorld.Place.allCases)
    func lookedUp(_ place: RuledWorld.Place) async throws {
        try await RuledClients.lend(place) { clients in
            let streams = try clients.bound.map {
                try ServerStream($0, ["fullDocument": "updateLookup"])
            }
            // A gateway looks up what its feed knows: it knows all once another stream has shown it.
            let others = try clients.bound.map { try ServerStream($0, [:]) }
            let root = clients.root
            try root.update("other", ["$set": ["n": 8]])
            try root.update("fixed", ["$set": ["n": 9, "salary": 1]])
            try root.update("other", ["$set": ["tenant": "b"]])
            for other in others { for _ in 0..<3 { _ = try other.next() } }
            for (stream, seesSalary) in zip(streams, [true, false]) {
                let (first, second, third) = try (stream.next(), stream.next(), stream.next())
                // It is looked up when it is no longer seen.
                #expect(first["fullDocument"] == .null)
                let full = try #require(second["fullDocument"]?.documentValue)
                #expect((full["salary"] != nil) == seesSalary)
                let change = second["updateDescription"]?.documentValue
                #expect(change?["removedFields"] == [])
                let updated = try #require(change?["updatedFields"]?.documentValue)
                #expect((updated["salary"] != nil) == seesSalary)
                #expect(third["leftView"] == true)
            }
        }
    }

    @Test(
        "Streams of a database show nothing of closed collections and of definitions",
        arguments: RuledWorld.Place.allCases)
    func otherCollections(_ place: RuledWorld.Place) async throws {
        try await RuledClients.lend(place) { clients in
            let stream = try ServerStream(clients.ann, on: nil, ["showExpandedEvents": true])
            let root = clients.root
            try root.insert([[:]], into: "secrets")
            try root.run([
                "createIndexes": "items", "indexes": [["key": ["title": 1], "name": "title_1"]],
            ])
            try root.run(["drop": "secrets"])
            try root.update("own", ["$set": ["n": 5]])
            #expect(try stream.next()["operationType"] == "update")
            #expect(try stream.nextCommitted() == nil)
        }
    }

    @Test(
        "A user's stream reports that its collection was dropped",
        arguments: RuledWorld.Place.allCases)
    func dropped(_ place: RuledWorld.Place) async throws {
        try await RuledClients.lend(place) { clients in
            let stream = try ServerStream(clients.ann, [:])
            try clients.root.run(["drop": "items"])
            #expect(try stream.next()["operationType"] == "drop")
            #expect(try stream.next()["operationType"] == "invalidate")
        }
    }

    @Test(
        "Rules hold in transactions",
        arguments: RuledWorld.Place.allCases)
    func transactions(_ place: RuledWorld.Place) async throws {
        try await RuledClients.lend(place) { clients in
            let ann = clients.ann
            let session = ServerSession(1)
            func update(_ id: BSONValue, starts: Bool) throws -> BSONDocument {
                try ann.run(
                    session.transaction(1, starts: starts, updating(id, ["$set": ["n": 9]])))
            }
            #expect(try update("far", starts: true)["n"]?.wholeNumber == 0)
            _ = try update("own", starts: false)
            try ann.run(session.transaction(1, ["commitTransaction": 1]), on: "admin")
            let document: BSONValue = ["_id": "x", "owner": "zoe", "tenant": "b"]
            try expectRefusal(
                13, by: ann,
                session.transaction(2, starts: true, ["insert": "items", "documents": [document]]))
            _ = try ann.reply(session.transaction(2, ["abortTransaction": 1]), on: "admin")
            #expect(try clients.stored("far") == RuledWorld.documents[3])
            #expect(try clients.stored("x") == nil)
        }
    }

    @Test(
        "A session id of another user gives no access to that user's answers and transactions",
        arguments: RuledWorld.Place.allCases)
    func sessionsOfOthers(_ place: RuledWorld.Place) async throws {
        try await RuledClients.lend(place) { clients in
            let (root, fay) = (clients.root, clients.fay)
            let stream = try ServerStream(fay, [:])
            let session = ServerSession(7)
            try root.run(
                session.transaction(1, starts: true, updating("own", ["$set": ["n": 7]])))
            try root.run(session.transaction(1, ["commitTransaction": 1]), on: "admin")
            let event = try stream.next()
            let lsid = try #require(event["lsid"]?.documentValue)
            let number = try #require(event["txnNumber"]?.int64Value)
            let taken = ServerSession(id: try #require(lsid["id"]))
            try root.run(
                session.retryable(
                    2,
                    [
                        "findAndModify": "items", "query": ["_id": "own"],
                        "update": ["$set": ["n": 8]],
                    ]))
            for number in number..<(number + 3) {
                let answer = try fay.run(
                    taken.retryable(
                        number,
                        [
                            "findAndModify": "items", "query": ["_id": "own"],
                            "update": ["$set": ["title": "new"]], "new": true,
                        ]))
                let value = try #require(answer["value"]?.documentValue)
                #expect(value["title"] == "new" && value["salary"] == nil)
            }
            try root.run(
                session.transaction(3, starts: true, updating("own", ["$set": ["n": 9]])))
            try expectRefusal(251, by: fay, taken.transaction(3, ["find": "items"]))
            try expectRefusal(
                251, by: fay, taken.transaction(3, ["abortTransaction": 1]), on: "admin")
            try fay.run(
                ["endSessions": [.document(taken.document), .document(lsid)]], on: "admin")
            // A gateway's events name its own session, which has no user of the gateway.
            if place == .file { try Self.endAsStranger(lsid, clients.port) }
            try root.run(session.transaction(3, ["commitTransaction": 1]), on: "admin")
            #expect(try clients.stored("own")?["n"] == 9)
        }
    }

    /// Ends a session by an id that goes on as that of the user does, without signing in.
    private static func endAsStranger(_ lsid: BSONDocument, _ port: Int) throws {
        guard case .binary(let id)? = lsid["id"], case .binary(let user)? = lsid["uid"] else {
            Issue.record("no session: \(lsid)")
            return
        }
        let whole = BSONBinary(Array(id.bytes) + Array(user.bytes), subtype: 4)
        let stranger = try ServerClient(port: port, database: "shop")
        try stranger.run(["endSessions": [["id": .binary(whole)]]], on: "admin")
    }
}
