import Foundation
import TestProcesses
import Testing

/// A second driver, written by others: what only one of them understands is not the protocol.
@Suite(.timeLimit(.minutes(30))) struct CDriverTests {
    @Test(
        "A C driver does what applications do", arguments: ["crud", "transactions", "retries"])
    func works(mode: String) async throws {
        let answer = try await ServerProcess.run(["--test-commands"]) { server in
            try await CDriver.run(port: server.port, mode)
        }
        #expect(answer.code == 0 && answer.output.contains("fine"), "\(answer.output)")
    }

    @Test("A change stream of the C driver goes on after the server was killed")
    func streamOverRestart() async throws {
        let (before, after) = try await ServerProcess.run { server in
            let before = try await CDriver.run(port: server.port, "begin")
            try server.restart(SIGKILL)
            let token = before.output.trimmingCharacters(in: .whitespacesAndNewlines)
            return (before, try await CDriver.run(port: server.port, "resume", token))
        }
        #expect(before.code == 0, "\(before.output)")
        #expect(after.code == 0 && after.output.contains("fine"), "\(after.output)")
    }

    @Test("The C driver signs in by password over an encrypted connection, with the right one")
    func signIn() async throws {
        try await Certificate.lend { certificate in
            let arguments = [
                "--auth", "--tls-cert", certificate.chain, "--tls-key", certificate.key,
            ]
            let options = "tls=true&tlsCAFile=\(certificate.chain)&authSource=admin"
            try await ServerProcess.run(arguments) { server in
                let made = try await Python.run("signin.py", String(server.port), certificate.chain)
                #expect(made.code == 0, "\(made.output)")
                for mechanism in ["SCRAM-SHA-1", "SCRAM-SHA-256"] {
                    let all = options + "&authMechanism=\(mechanism)"
                    let right = try await CDriver.run(
                        port: server.port, user: "root:se%3Dcr%2Cet@", options: all, "ping")
                    #expect(right.code == 0, "\(right.output)")
                    let wrong = try await CDriver.run(
                        port: server.port, user: "root:wrong@", options: all, "ping")
                    #expect(wrong.code == 1 && wrong.output.contains("Authentication failed"))
                }
            }
        }
    }
}
