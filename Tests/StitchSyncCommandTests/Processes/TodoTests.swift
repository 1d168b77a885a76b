import Foundation
import TestProcesses
import Testing

@testable import StitchSyncCommand

/// Without this the to-do example would no longer do what its readers try first.
struct TodoTests {
    /// Runs one device's program with the lines that a person would type.
    private func todo(
        _ device: String, _ remote: String, _ lines: String..., in folder: TemporaryFolder
    ) async throws -> [String] {
        let input = try folder.write(
            Array((lines.joined(separator: "\n") + "\n").utf8), to: "typed.txt")
        let program = try Program.tool.deletingLastPathComponent().appending(path: "Todo")
        let script = """
            cd "\(folder.url.path)"
            "\(program.path)" \(device).stitch "\(remote)" < "\(input)"
            """
        let file = try folder.write(Array(script.utf8), to: "run.sh")
        let answer = try await Program.run(
            URL(filePath: "/bin/sh"), [file], limit: .seconds(120))
        #expect(answer.code == 0, "\(answer.output)")
        return answer.output.split(separator: "\n").map(String.init)
    }

    @Test func `two devices add offline, change the same item, and agree through a server`()
        async throws
    {
        try await withTemporaryFolder { folder in
            try await ServerProcess.run { server in
                let uri = "stitchsync://127.0.0.1:\(server.port)"
                let first = try await todo(
                    "phone", uri, "offline", "add Buy milk", "sync", "list", "online", "sync",
                    "list",
                    in: folder)
                #expect(
                    first == [
                        "1 [ ] Buy milk", "offline: 1 to send", "1 [ ] Buy milk *", "in step",
                        "1 [ ] Buy milk",
                    ])
                let second = try await todo(
                    "laptop", uri, "sync", "offline", "text 1 Buy oat milk", "list", in: folder)
                #expect(
                    second == ["  someone: insert 1", "in step", "1 [ ] Buy oat milk *"])
                let third = try await todo("phone", uri, "done 1", "sync", "list", in: folder)
                #expect(third == ["in step", "1 [x] Buy milk"])
                let fourth = try await todo("laptop", uri, "sync", "list", in: folder)
                #expect(
                    fourth == ["  both changed 1: merged", "in step", "1 [x] Buy oat milk"])
                let last = try await todo("phone", uri, "sync", "list", in: folder)
                #expect(last.last == "1 [x] Buy oat milk")
            }
        }
    }
}
