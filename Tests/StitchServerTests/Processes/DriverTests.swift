import Foundation
import TestProcesses
import Testing

/// Applications talk to the server through drivers: what a driver cannot do, nobody can.
@Suite(.timeLimit(.minutes(30))) struct DriverTests {
    @Test(
        "A Python driver does what applications do",
        arguments: [
            "commands.py", "compression.py", "crud.py", "definitions.py", "indexed.py",
            "mapreduce.py",
            "refusals.py",
            "spellings.py", "stable.py", "stepdown.py", "stream_events.py", "streams.py",
            "transactions.py", "views.py",
        ])
    func pythonDriver(script: String) async throws {
        let answer = try await ServerProcess.run(["--test-commands"]) { server in
            try await Python.run(script, String(server.port))
        }
        #expect(answer.code == 0, "\(answer.output)")
    }

    @Test("The server ends in order when it is told to")
    func stops() async throws {
        let code = try await ServerProcess.run { server in
            let answer = try await Python.run("crud.py", String(server.port))
            #expect(answer.code == 0, "\(answer.output)")
            return server.end(SIGTERM)
        }
        #expect(code == 0)
    }

    @Test("A change stream goes on where it was left after the server was killed")
    func streamOverRestart() async throws {
        let (before, after) = try await ServerProcess.run { server in
            let before = try await Python.run("stream_begin.py", String(server.port))
            try server.restart(SIGKILL)
            let token = before.output.split(separator: " ").first.map(String.init) ?? ""
            return (before, try await Python.run("stream_resume.py", String(server.port), token))
        }
        #expect(before.code == 0, "\(before.output)")
        #expect(after.code == 0, "\(after.output)")
    }

    @Test("A change stream does not go on in a backup that went another way since")
    func streamOverBackup() async throws {
        let (before, after) = try await ServerProcess.run { server in
            let backup = server.path + ".backup"
            let files = FileManager.default
            try server.restart(SIGTERM) { try files.copyItem(atPath: server.path, toPath: backup) }
            let before = try await Python.run("stream_begin.py", String(server.port))
            try server.restart(SIGTERM) {
                try files.removeItem(atPath: server.path)
                try files.moveItem(atPath: backup, toPath: server.path)
            }
            let tokens = before.output.trimmingCharacters(in: .whitespacesAndNewlines)
            return (before, try await Python.run("stream_backup.py", String(server.port), tokens))
        }
        #expect(before.code == 0, "\(before.output)")
        #expect(after.code == 0, "\(after.output)")
    }

    @Test("Only who signs in gets in, as far as the roles go")
    func signIn() async throws {
        let answer = try await ServerProcess.run(["--auth"]) { server in
            try await Python.run("signin.py", String(server.port))
        }
        #expect(answer.code == 0, "\(answer.output)")
    }

    @Test("Connections are encrypted with a certificate")
    func encryption() async throws {
        let answer = try await Certificate.lend { certificate in
            let arguments = [
                "--auth", "--tls-cert", certificate.chain, "--tls-key", certificate.key,
            ]
            return try await ServerProcess.run(arguments) { server in
                try await Python.run("signin.py", String(server.port), certificate.chain)
            }
        }
        #expect(answer.code == 0, "\(answer.output)")
    }

    @Test("A server that others can reach is not started without sign-in and encryption")
    func refusesToBeOpen() async throws {
        let answer = try await Program.run(
            Program.tool, ["serve", "--host", "0.0.0.0", "--port", "0", "--auth"],
            limit: .seconds(300))
        #expect(answer.code == 1 && answer.output.contains("--tls-cert"), "\(answer.output)")
    }
}
