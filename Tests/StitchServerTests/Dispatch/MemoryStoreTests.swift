import BSONStore
import Testing

@testable import StitchServer

/// A store in memory has one connection: what reads twice at once works with a file only.
@Suite struct MemoryStoreTests {
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
