import BSONStore
import TestProcesses
import Testing

/// A device that moves from the database itself to a gateway must learn what others deleted.
///
/// It comes with a position of a time when no gateway recorded deletions.
@Suite(.timeLimit(.minutes(60))) struct GatewayTombstoneTests {
    /// The token of a change stream at the upstream, which names the position of now.
    private static func place(_ upstream: ServerClient) throws -> BSONValue {
        let opened = try upstream.run([
            "aggregate": "notes", "pipeline": [["$changeStream": [:]]], "cursor": [:],
        ])
        return opened["cursor"]?.documentValue?["postBatchResumeToken"] ?? .null
    }

    private static func delete(_ numbers: Range<Int32>, _ upstream: ServerClient) throws {
        try upstream.run([
            "delete": "notes",
            "deletes": [
                [
                    "q": [
                        "_id": [
                            "$gte": .int32(numbers.lowerBound), "$lt": .int32(numbers.upperBound),
                        ]
                    ], "limit": 0,
                ]
            ],
        ])
    }

    /// Asks which of some documents were deleted after a position.
    private static func ask(
        _ client: ServerClient, _ ids: [Int32], after place: BSONValue
    ) throws -> [Bool?] {
        let reply = try client.run([
            "stitchsyncTombstones": "notes", "ids": .array(BSONArray(ids.map(BSONValue.int32))),
            "after": place,
        ])
        return (reply["tombstones"]?.arrayValue ?? []).map {
            $0.documentValue?["isAfter"].map { $0 == true }
        }
    }

    @Test(
        "Deletions from before the gateway are told to a device that read the history until then",
        arguments: [false, true])
    func earlierDeletions(isUnderRules: Bool) async throws {
        try await OpenRules.lend { rules in
            try await ServerProcess.run { upstream in
                let direct = try ServerClient(port: upstream.port, database: "app")
                let numbers = Int32(0)..<3_000
                try direct.insert(numbers.map { ["_id": .int32($0)] }, into: "notes")
                let begin = try Self.place(direct)
                try Self.delete(0..<10, direct)
                let later = try Self.place(direct)
                try Self.delete(10..<2_500, direct)
                let arguments =
                    ["--upstream", GatewayProcesses.uri(port: upstream.port), "--auth"]
                    + (isUnderRules ? ["--rules", rules] : [])
                try await ServerProcess.run(arguments, hasFile: false) { gateway in
                    let port = gateway.port
                    try await BlockingThread.run {
                        try ServerClient(port: port, database: "admin").run(
                            ["createUser": "root", "pwd": "pw", "roles": ["root"]])
                        try ServerClient(port: port, database: "admin", user: "root").run([
                            "createUser": "ann", "pwd": "pw",
                            "roles": [["role": "readWrite", "db": "app"]],
                        ])
                        let ann = try ServerClient(port: port, database: "app", user: "ann")
                        let ids: [Int32] = [5, 15, 2_499, 2_600]
                        // Of what was before the device's position nothing has to be known.
                        let first = try Self.ask(ann, ids, after: later)
                        #expect(first.dropFirst() == [true, true, nil])
                        #expect(try Self.ask(ann, ids, after: begin) == [true, true, true, nil])
                        #expect(try Self.ask(ann, ids, after: later) == [false, true, true, nil])
                        // A token that leads nowhere is no reason to fail.
                        let answer = try Self.ask(ann, ids, after: ["_data": "0"])
                        #expect(answer.last == .some(nil))
                    }
                }
            }
        }
    }
}
