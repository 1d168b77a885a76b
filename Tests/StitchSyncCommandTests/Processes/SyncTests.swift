import Testing

@testable import StitchSyncCommand

/// The tool is how people first see sync; what it says must be what is.
@Suite struct SyncTests {
    private let documents = (1...30).map { "{\"_id\": \($0), \"name\": \"n\($0)\"}" }

    @Test func `two stores come in step over a remote, and status tells`() async throws {
        try await withTemporaryFolder { folder in
            _ = try folder.write(lines: documents, to: "in.jsonl")
            let imported = try await Tool.run("import", "a", "d.c", "in.jsonl", in: folder)
            #expect(imported.code == 0)
            let first = try await Tool.run("sync", "a", "d.c", "--remote", "r", in: folder)
            #expect(first.code == 0)
            #expect(
                first.output == [
                    "30 documents synced, 30 of them new: 30 sent, 0 taken, 0 removed, 0 conflicts "
                        + "resolved in 2 passes", "in step",
                ])
            let second = try await Tool.run("sync", "b", "d.c", "--remote", "r", in: folder)
            #expect(
                second.output == [
                    "30 documents synced, 30 of them new: 0 sent, 30 taken, 0 removed, 0 conflicts "
                        + "resolved in 2 passes", "in step",
                ])
            let status = try await Tool.run("status", "b", in: folder)
            #expect(status.code == 0)
            #expect(
                status.output == [
                    "collection  documents  synced  pending  paused  rejected",
                    "--------------------------------------------------------",
                    "d.c                30      30        0       0         0",
                ])
        }
    }

    @Test func `a store that is not there is not made by asking for its status`() async throws {
        try await withTemporaryFolder { folder in
            for _ in 1...2 {
                let status = try await Tool.run("status", "none", in: folder)
                #expect(status.code == 1)
                #expect(status.complaints.count == 1)
            }
        }
    }

    @Test(arguments: ["import", "find", "sync", "status", "demo"])
    func `help shows an example of each command`(_ command: String) async throws {
        try await withTemporaryFolder { folder in
            let help = try await Tool.run(command, "--help", in: folder)
            #expect(help.code == 0)
            #expect(help.output.contains { $0.hasPrefix("  stitchsync \(command)") })
        }
    }
}
