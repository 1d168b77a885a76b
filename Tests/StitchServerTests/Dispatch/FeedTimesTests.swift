import BSONStore
import Testing

@testable import StitchServer

/// A server that starts goes on with its clock where the feed ends.
struct FeedTimesTests {
    private static let things = Namespace("db", "things")

    @Test("the last time is that of the newest change that has one, however large the changes are")
    func last() throws {
        let store = try DocumentStore(
            at: .inMemory, options: .init(changeHistory: .keep(changesMax: 100)))
        #expect(try store.read { try FeedTimeLookup($0).last() } == nil)
        // More than a batch of the feed holds.
        let bytes = BSONValue.binary(BSONBinary([UInt8](repeating: 7, count: 9_000_000)))
        for number in 1...3 as ClosedRange<UInt32> {
            let stamp = WriteStamp(time: BSONTimestamp(seconds: number, increment: 1))
            try store.write { transaction in
                transaction.comment = stamp.comment
                try transaction.insert(Self.things, ["_id": .int64(Int64(number)), "b": bytes])
            }
        }
        try store.collection(Self.things).insertOne(["by": "another writer"])
        let last = try store.read { try FeedTimeLookup($0).last() }
        #expect(last == BSONTimestamp(seconds: 3, increment: 1))
    }
}
