import BSONStore
import Testing

@testable import StitchServer

/// Without this a command could take the memory that others need.
@Suite struct CommandMemoryTests {
    @Test func `a command that asks for more than its share is told the limit`() throws {
        var settings = ServerSettings()
        settings.memoryBytesMax = 8 << 20
        let server = try OfflineServer(settings)
        for number in 0..<8 as Range<Int32> {
            let document: BSONDocument = [
                "_id": .int32(number), "t": .string(String(repeating: "x", count: 1 << 20)),
            ]
            _ = server.answer(command: [
                "insert": "items", "documents": [.document(document)], "$db": "shop",
            ])
        }
        func aggregate(_ stages: BSONArray) -> BSONDocument {
            server.answer(command: [
                "aggregate": "items", "pipeline": .array(stages), "cursor": [:], "$db": "shop",
            ]) ?? [:]
        }
        for _ in 1...3 {
            let refused = aggregate([["$sort": ["t": 1]]])
            #expect(refused["code"] == 292, "\(refused)")
            let message = refused["errmsg"]?.stringValue ?? ""
            #expect(message.contains("one command may hold 4194304 bytes"))
        }
        // What it held is free again.
        let count = aggregate([["$limit": 1], ["$sort": ["t": 1]], ["$count": "n"]])
        #expect(count["ok"] == 1.0, "\(count)")
    }
}
