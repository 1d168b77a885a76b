import BSONStore
import Testing

@testable import StitchServer

/// A store in memory has one connection: what reads twice at once works with a file only.
@Suite struct MemoryStoreTests {
    @Test("A transaction that was left alone gives way to who reads")
    func abandoned() throws {
        let server = try OfflineServer(requiresSignIn: false)
        let session: BSONValue = ["id": .binary(BSONBinary(Array(1...16), subtype: 4))]
        func answer(
            _ command: BSONDocument, isInTransaction: Bool, starts: Bool = false
        ) -> BSONDocument? {
            var command = command
            command["$db"] = "shop"
            command["lsid"] = session
            if isInTransaction {
                command["txnNumber"] = .int64(1)
                command["autocommit"] = false
                if starts { command["startTransaction"] = true }
            }
            return server.answer(command: command)
        }
        let find: BSONDocument = ["find": "items"]
        let begun = answer(
            ["insert": "items", "documents": [["_id": 1]]], isInTransaction: true, starts: true)
        #expect(begun?["n"] == 1)
        let read = answer(find, isInTransaction: false)
        #expect(read?["cursor"]?.documentValue?["firstBatch"]?.arrayValue?.count == 0)
        #expect(answer(find, isInTransaction: true)?["code"] == 251)
    }

    @Test("A skip and a limit that add up to more than a number holds are no trap")
    func farLimits() throws {
        let server = try OfflineServer(requiresSignIn: false)
        let inserted = server.answer(command: [
            "insert": "items", "documents": [["_id": 1]], "$db": "shop",
        ])
        #expect(inserted?["n"] == 1)
        let far: BSONDocument = ["skip": .int64(.max), "limit": 1]
        func command(_ name: String, _ more: BSONDocument) -> BSONDocument {
            var command: BSONDocument = [name: "items"]
            for (key, value) in more { command[key] = value }
            return command
        }
        let stages: [BSONValue] = [
            .document(["$skip": .int64(.max)]), .document(["$limit": 1]),
        ]
        let pipeline: BSONDocument = ["pipeline": .array(BSONArray(stages)), "cursor": [:]]
        for explained in [
            command("find", far), command("count", far), command("aggregate", pipeline),
        ] {
            for verbosity in ["queryPlanner", "executionStats", "allPlansExecution"] {
                let answer = server.answer(command: [
                    "explain": .document(explained), "verbosity": .string(verbosity),
                    "$db": "shop",
                ])
                #expect(answer?["ok"]?.int64Value == 1, "\(answer ?? [:])")
            }
        }
        var byKey = command("find", far)
        byKey["returnKey"] = true
        byKey["$db"] = "shop"
        #expect(server.answer(command: byKey)?["ok"]?.int64Value == 1)
    }

    @Test("Stages that tell of the store itself work without a file")
    func stages() throws {
        let server = try OfflineServer(requiresSignIn: false)
        let inserted = server.answer(command: [
            "insert": "items", "documents": [["_id": 1], ["_id": 2]], "$db": "shop",
        ])
        #expect(inserted?["n"] == 2)
        let stages: [(stage: BSONDocument, field: String, value: BSONValue)] = [
            (["$collStats": ["count": [:]]], "count", 2),
            (["$indexStats": [:]], "name", "_id_"),
        ]
        for (stage, field, value) in stages {
            let answer = server.answer(command: [
                "aggregate": "items", "pipeline": [.document(stage)], "cursor": [:],
                "$db": "shop",
            ])
            let batch = answer?["cursor"]?.documentValue?["firstBatch"]?.arrayValue
            let first = batch?.values.first?.documentValue
            #expect(first?[field]?.int64Value == value.int64Value, "\(answer ?? [:])")
            #expect(first?[field]?.stringValue == value.stringValue, "\(answer ?? [:])")
        }
    }
}
