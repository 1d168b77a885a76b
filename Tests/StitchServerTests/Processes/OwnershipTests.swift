import Foundation
import TestProcesses
import Testing

/// One server has many users: what one of them leaves there is not for the others.
@Suite(.timeLimit(.minutes(30))) struct OwnershipTests {
    @Test("Sessions, cursors, states and last errors are a user's own, and end at once")
    func own() async throws {
        let answer = try await ServerProcess.run(["--auth"]) { server in
            try await Python.run("own.py", String(server.port))
        }
        #expect(answer.code == 0, "\(answer.output)")
    }
}
