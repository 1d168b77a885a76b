import BSONStore
import Testing

/// Without these two processes on one file could lose each other's writes.
@Suite struct ProcessesTests {
    private static let counters = Namespace("app", "counters")

    @Test func `processes that write one file lose nothing and see each other`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.file()
        let store = try DocumentStore(
            at: .file(path),
            options: .init(durability: .normal, changeHistory: .keep(changesMax: 10_000)))
        try await store.collection(Self.counters).insertOne(["_id": "n", "value": 0])
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<2 {
                group.addTask {
                    await #expect(processExitsWith: .success) { [path = path as String] in
                        let store = try DocumentStore(
                            at: .file(path),
                            options: .init(durability: .normal, busyTimeoutMS: 60_000))
                        let counters = store.collection(Namespace("app", "counters"))
                        for _ in 0..<200 {
                            try counters.updateOne(["_id": "n"], ["$inc": ["value": 1]])
                        }
                    }
                }
            }
            group.addTask {
                do {
                    for _ in 0..<200 {
                        try await store.collection(Self.counters).updateOne(
                            ["_id": "n"], ["$inc": ["value": 1]])
                    }
                } catch {
                    Issue.record(error)
                }
            }
        }
        #expect(try store.collection(Self.counters).findOne(id: "n")?["value"] == 600)
        let changes = try store.changes(after: 1).changes
        #expect(changes.map { $0.after?["value"] } == (Int32(1)...600).map { .int32($0) })
    }
}
