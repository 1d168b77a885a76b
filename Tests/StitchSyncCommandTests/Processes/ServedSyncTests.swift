#if Remote
    import Foundation
    import TestProcesses
    import Testing

    @testable import StitchSyncCommand

    /// Without these the tool could not sync with a server unless libmongoc is installed.
    @Suite struct ServedSyncTests {
        @Test func `two devices are in step through a server that is named stitchsync`()
            async throws
        {
            try await withTemporaryFolder { folder in
                try await ServerProcess.run { server in
                    let uri = "stitchsync://127.0.0.1:\(server.port)"
                    let lines = [#"{"_id":1,"name":"pen"}"#, #"{"_id":2,"name":"ink"}"#]
                    _ = try folder.write(lines: lines, to: "in.jsonl")
                    let imported = try await Tool.run(
                        "import", "phone", "d.c", "in.jsonl", in: folder)
                    #expect(imported.code == 0)
                    for device in ["phone", "laptop"] {
                        let synced = try await Tool.run(
                            "sync", device, "d.c", "--remote", uri, in: folder)
                        #expect(synced.code == 0, "\(synced.complaints)")
                        #expect(synced.output.last == "in step")
                    }
                    let found = try await Tool.run(
                        "find", "laptop", "d.c", "--relaxed", in: folder)
                    #expect(found.output == lines)
                    let differs = try await Tool.run(
                        "diff", "laptop", "d.c", "1", "--remote", uri, in: folder)
                    #expect(differs.code == 0, "\(differs.complaints)")
                }
            }
        }

        @Test func `a server that does not answer leaves the changes for later`() async throws {
            try await withTemporaryFolder { folder in
                _ = try folder.write(lines: [#"{"_id":1}"#], to: "in.jsonl")
                _ = try await Tool.run("import", "phone", "d.c", "in.jsonl", in: folder)
                let port = try await ServerProcess.run { $0.port }
                let synced = try await Tool.run(
                    "sync", "phone", "d.c", "--remote",
                    "stitchsync://127.0.0.1:\(port)/?serverSelectionTimeoutMS=300", in: folder)
                #expect(synced.code == 1)
                let found = try await Tool.run("find", "phone", "d.c", "--relaxed", in: folder)
                #expect(found.output == [#"{"_id":1}"#])
            }
        }
    }
#endif
