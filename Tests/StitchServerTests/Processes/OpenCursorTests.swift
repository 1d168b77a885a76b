import BSONStore
import Foundation
import TestProcesses
import Testing

/// The cursors that a client leaves open must not fill the memory, however small their queries are.
@Suite(.timeLimit(.minutes(20))) struct OpenCursorTests {
    /// The queries of the cursors, and the number of cursors.
    enum Queries: String, CaseIterable, Sendable {
        /// 3 KB each, which take 47 KB once they are parsed.
        case small
        case none

        var count: Int { self == .small ? 500 : 12_000 }

        var command: BSONDocument {
            let conditions = (0..<190).map { number -> BSONValue in ["a": .int32(number)] }
            let all: [BSONValue] = conditions + [["_id": ["$gte": 0]]]
            let filter: BSONDocument = self == .small ? ["$or": .array(BSONArray(all))] : [:]
            return ["find": "items", "batchSize": 1, "filter": .document(filter)]
        }
    }

    @Test("Cursors over the limit end, the oldest first", arguments: Queries.allCases)
    func limit(queries: Queries) async throws {
        try await ServerProcess.run(["--cursor-mib", "16"]) { server in
            let port = server.port
            try await BlockingThread.run {
                let client = try ServerClient(port: port, database: "served")
                try client.insert((0..<5).map { ["_id": .int32($0)] }, into: "items")
                var ids: [BSONValue] = []
                for _ in 0..<queries.count {
                    let cursor = try client.run(queries.command)["cursor"]?.documentValue
                    ids.append(cursor?["id"] ?? .null)
                }
                let status = try client.run(["serverStatus": 1], on: "admin")
                let cursors = status["metrics"]?.documentValue?["cursor"]?.documentValue
                let open = cursors?["open"]?.documentValue?["total"]?.int64Value ?? 0
                // What stays takes 16 MiB at most, with 1 KiB for each cursor.
                #expect(open > 100 && open < (queries == .small ? 350 : 11_000), "\(open)")
                let first = try client.reply(["getMore": ids[0], "collection": "items"])
                #expect([43, 237].contains(first["code"]?.int64Value), "\(first)")
                let last = ids.last ?? .null
                let more = try client.run(["getMore": last, "collection": "items"])
                let batch = more["cursor"]?.documentValue?["nextBatch"]?.arrayValue
                #expect(batch?.count == 4)
            }
        }
    }
}
