import Testing

@testable import StitchSyncCommand

/// An import into a collection that is kept in step would otherwise never reach the remote.
@Suite struct ImportSyncedTests {
    @Test func `an import into a synced collection is pending`() async throws {
        try await withTemporaryFolder { folder in
            _ = try folder.write(lines: ["{\"_id\": 1}"], to: "first.jsonl")
            let first = try await Tool.run("import", "a", "d.c", "first.jsonl", in: folder)
            #expect(first.code == 0)
            let sync = try await Tool.run("sync", "a", "d.c", "--remote", "r", in: folder)
            #expect(sync.code == 0)
            // More lines than a batch has, one of which exists already.
            let lines = (1...1_500).map { "{\"_id\": \($0)}" }
            _ = try folder.write(lines: lines, to: "in.jsonl")
            let strict = try await Tool.run(
                "import", "a", "d.c", "in.jsonl", "--strict", in: folder)
            #expect(strict.code == 1)
            #expect(strict.complaints.first?.contains("d.c is synced, and --strict") == true)
            let answer = try await Tool.run("import", "a", "d.c", "in.jsonl", in: folder)
            #expect(answer.code == 1)
            #expect(
                answer.complaints == ["in.jsonl:1: rejected: a document with _id 1 exists already"])
            #expect(
                answer.output == [
                    "1499 documents imported into d.c, 1 line rejected",
                    "pending: they are sent with the next sync",
                ])
            let again = try await Tool.run("sync", "a", "d.c", "--remote", "r", in: folder)
            #expect(again.code == 0)
            let count = try await Tool.run("count", "r", "d.c", in: folder)
            #expect(count.output == ["1500"])
        }
    }
}
