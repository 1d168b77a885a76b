import BSONStore
import Testing

@testable import StitchServer

/// Any user can name any number of sessions, also without a request to each.
@Suite struct SessionTableTests {
    private static func owner(_ name: String) -> SessionTable.Owner {
        SessionTable.Owner(share: Array(name.utf8))
    }

    private static func session(_ number: Int64, of user: UInt8?) -> BSONDocument {
        let id = withUnsafeBytes(of: number) { Array($0) } + Array(repeating: 0, count: 8)
        var session: BSONDocument = ["id": .binary(BSONBinary(id, subtype: 4))]
        if let user { session.append("uid", .binary(BSONBinary([user]))) }
        return session
    }

    @Test func `the sessions of one user are bounded, and leave room for others`() throws {
        let table = SessionTable(timeoutMinutes: 30)
        let (one, two) = (Self.owner("one"), Self.owner("two"))
        for number in 0..<50_000 as Range<Int64> {
            try table.touch(Self.session(number, of: 1), of: one)
        }
        let error = #expect(throws: CommandFailure.self) {
            try table.touch(Self.session(50_000, of: 1), of: one)
        }
        #expect(error?.code == 261)
        // Another name does not help an anonymous user.
        #expect(throws: CommandFailure.self) { try table.touch(Self.session(0, of: 3), of: one) }
        try table.touch(Self.session(7, of: 1), of: one)
        try table.touch(Self.session(7, of: 2), of: two)
        for _ in 0..<2 { table.end(Self.session(0, of: 1)) }
        try table.touch(Self.session(50_000, of: 1), of: one)
        #expect(throws: CommandFailure.self) { try table.touch(Self.session(0, of: 1), of: one) }
        #expect(table.all.count == 50_001)
    }

    @Test func `without sign-in each address has a bound of its own`() throws {
        let table = SessionTable(timeoutMinutes: 30, countOfOneMax: 3)
        for (share, first) in [("a", 0), ("b", 10)] as [(String, Int64)] {
            let owner = Self.owner(share)
            for number in first..<first + 3 {
                try table.touch(Self.session(number, of: nil), of: owner)
            }
            #expect(throws: CommandFailure.self) {
                try table.touch(Self.session(first + 3, of: nil), of: owner)
            }
        }
        #expect(table.all.count == 6)
    }

    @Test func `in a full table the oldest session of whoever has most gives way`() throws {
        let table = SessionTable(timeoutMinutes: 30, countMax: 5)
        let (one, two) = (Self.owner("one"), Self.owner("two"))
        for number in 0..<4 as Range<Int64> {
            try table.touch(Self.session(number, of: 1), of: one)
        }
        try table.touch(Self.session(0, of: 2), of: two)
        // A use of the first one makes the second the oldest.
        try table.touch(Self.session(0, of: 1), of: one)
        try table.touch(Self.session(1, of: 2), of: two)
        #expect(table.all.count == 5)
        #expect(table.endIdle() == [Self.session(1, of: 1)])
        #expect(table.endIdle().isEmpty)
        try table.touch(Self.session(2, of: 2), of: two)
        #expect(table.endIdle() == [Self.session(2, of: 1)])
    }

    /// Names that are the same with "@" between them shared sessions: one got the replies to the
    /// retried writes of the other.
    @Test(
        "users have sessions of their own, whatever their names contain",
        arguments: [
            ("ann@corp", "app", "ann", "corp@app"), ("a@b@c", "d", "a", "b@c@d"),
            ("app.ann", "shop", "ann", "shop@app"), ("ann", "app", "Ann", "app"),
        ])
    func names(name: String, database: String, other: String, at place: String) throws {
        let session: BSONDocument = [
            "id": .binary(BSONBinary(Array(repeating: 7, count: 16), subtype: 4))
        ]
        let keys = try [(name, database), (other, place)].map { name, database in
            let user = SignedInUser(
                name: Name(name), database: Name(database), roles: [], generation: 1)
            let own = try SessionTable.own(session, of: user)
            #expect(own["uid"] == (try SessionTable.userID(name: name, database: database)))
            return SessionTable.key(own)
        }
        #expect(keys[0] != keys[1])
    }
}
