#if Remote && Server
    import Foundation
    import TestProcesses
    import Testing

    /// Who tries an example a second time must find what the first time left.
    @Suite struct ExamplesTwiceTests {
        private let root = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

        @Test func `the tutorial and both examples run twice, in any order, and lose nothing`()
            async throws
        {
            let answer = try await Program.run(
                root.appending(path: "Scripts/examples-twice"),
                [try Program.tool.deletingLastPathComponent().path], limit: .seconds(400),
                endedBy: SIGTERM)
            #expect(answer.code == 0, "\(answer.output)")
            #expect(answer.output.contains("nothing was lost"), "\(answer.output)")
        }

        @Test func `the to-do list tells why its server does not start, and begins nothing`()
            async throws
        {
            try await withTemporaryFolder { work in
                _ = try work.write(lines: ["no store"], to: "todo-server.stitch")
                let answer = try await Program.run(
                    root.appending(path: "Examples/Todo/run"), [],
                    environment: [
                        "TODO_PROGRAMS": try Program.tool.deletingLastPathComponent().path,
                        "TODO_WORK": work.url.path, "PORT": "0",
                    ], limit: .seconds(120), endedBy: SIGTERM)
                #expect(answer.code == 1, "\(answer.output)")
                #expect(
                    !FileManager.default.fileExists(atPath: work.path("phone.stitch")),
                    "The list was begun without a server")
            }
        }
    }
#endif
