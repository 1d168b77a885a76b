import Testing

@testable import StitchSyncCommand

/// A collection that is kept in step is not filled past sync, not even with a part of a file.
@Suite struct ImportSyncedTests {
    @Test(arguments: [[], ["--strict"]])
    func `an import into a synced collection is refused before the first line`(
        _ options: [String]
    ) async throws {
        try await withTemporaryFolder { folder in
            _ = try folder.write(lines: ["{\"_id\": 1}"], to: "first.jsonl")
            let first = try await Tool.run("import", "a", "d.c", "first.jsonl", in: folder)
            #expect(first.code == 0)
            let sync = try await Tool.run("sync", "a", "d.c", "--remote", "r", in: folder)
            #expect(sync.code == 0)
            // More lines than a batch has that give no document, then one that does.
            let bad = [String](repeating: "{\"a\": 1}", count: 1_500)
            _ = try folder.write(lines: bad + ["{\"_id\": 2}"], to: "in.jsonl")
            let answer = try await Tool.run(
                arguments: ["import", "a", "d.c", "in.jsonl"] + options, in: folder)
            #expect(answer.code == 1)
            #expect(answer.output.isEmpty)
            #expect(answer.complaints.count == 1)
            let reason = "d.c is kept in step by a sync engine"
            #expect(answer.complaints.first?.contains(reason) == true)
            let found = try await Tool.run("find", "a", "d.c", "--relaxed", in: folder)
            #expect(found.output == [#"{"_id":1}"#])
            // Another collection of the file is free.
            _ = try folder.write(lines: ["{\"_id\": 3}"], to: "other.jsonl")
            let other = try await Tool.run("import", "a", "d.e", "other.jsonl", in: folder)
            #expect(other.code == 0)
        }
    }
}
