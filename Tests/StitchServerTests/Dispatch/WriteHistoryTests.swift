import BSONStore
import Testing

@testable import StitchServer

/// Without these the story of a write leaves out most of what the server remembers.
@Suite struct WriteHistoryTests {
    private static let now: Int64 = 1_800_000_000

    @Test(arguments: [0, 1, 29, 59 * 60, 23 * 3_600, 90 * 86_400 + 7] as [Int64])
    func `the search finds the first time of the history`(_ age: Int64) throws {
        for increment in [1, 2, 77, 900_000] as [UInt64] {
            let first = UInt64(Self.now - age) << 32 | increment
            var count = 0
            let found = try WriteHistory.earliest(now: Self.now) { time in
                count += 1
                return time >= first
            }
            #expect(found?.time == first)
            #expect(found?.isWhole != true)
            #expect(count < 70)
        }
    }

    @Test func `a history that was never cut is whole, and one that holds nothing is none`() throws
    {
        #expect(try WriteHistory.earliest(now: Self.now) { _ in true }?.isWhole == true)
        #expect(try WriteHistory.earliest(now: Self.now) { _ in false } == nil)
    }

    @Test func `all changes that a pruned history holds are told, as not all there were`() throws {
        let store = try DocumentStore(
            at: .inMemory, options: .init(changeHistory: .keep(changesMax: 100)))
        let server = try OfflineServer(over: store)
        func run(_ command: BSONDocument, _ database: String) -> BSONDocument {
            var command = command
            command.append("$db", .string(database))
            return server.answer(command: command) ?? [:]
        }
        func story() throws -> BSONDocument {
            try WriteHistory(of: 1, in: Namespace("d", "c"), run).document()
        }
        #expect(run(["insert": "c", "documents": [["_id": 1]]], "d")["n"] == 1)
        #expect(try story()["isComplete"] == true)
        for number in 0..<500 as Range<Int32> {
            let update: BSONDocument = ["q": ["_id": 1], "u": ["$set": ["a": .int32(number)]]]
            #expect(run(["update": "c", "updates": [.document(update)]], "d")["n"] == 1)
        }
        let head = try store.read { try $0.changePosition }
        let kept = try (0..<head).first { position in
            do {
                return try store.read {
                    try $0.changes(after: position, limit: 1).changes.count == 1
                }
            } catch let error as StoreError where error.code == .changeStreamHistoryLost {
                return false
            }
        }
        let told = try story()
        #expect(told["isComplete"] == false)
        #expect(told["changes"]?.arrayValue?.values.count == kept.map { Int(head - $0) })
    }

    @Test func `a session in a list keeps its last use, its user and its app`() throws {
        let table = SessionTable(timeoutMinutes: 30)
        let session: BSONDocument = ["id": .binary(BSONBinary([1], subtype: 4))]
        try table.touch(session, of: .init(user: "ann@admin", application: "notes"))
        let entry = try #require(table.all.first?.entry)
        #expect(entry["user"] == "ann@admin")
        #expect(entry["appName"] == "notes")
        #expect(table.all.first?.entry["lastUse"] == entry["lastUse"])
        try table.touch(session)
        #expect(table.all.first?.entry["user"] == "ann@admin")
    }
}
