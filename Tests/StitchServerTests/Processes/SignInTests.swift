import Foundation
import StitchWire
import TestProcesses
import Testing

@testable import StitchServer

/// Passwords and tokens decide who reads the data: what is not meant must not let in.
@Suite(.timeLimit(.minutes(30))) struct SignInTests {
    @Test("A token lets in whom the provider's key vouches for, and nobody else")
    func tokens() async throws {
        let answer = try await Certificate.lend { certificate in
            let folder = URL(filePath: certificate.chain).deletingLastPathComponent()
            let keys = try await TokenKeys.make(in: folder)
            let arguments = [
                "--auth", "--tls-cert", certificate.chain, "--tls-key", certificate.key, "--jwks",
                keys.set, "--jwt-issuer", "https://id.example", "--jwt-audience", "shop",
            ]
            return try await ServerProcess.run(arguments) { server in
                try await Python.run(
                    "tokens.py", String(server.port), certificate.chain, folder.path)
            }
        }
        #expect(answer.code == 0, "\(answer.output)")
    }

    @Test("Who tries passwords waits, and ways to type a password are one password")
    func passwords() async throws {
        let answer = try await ServerProcess.run(["--auth"]) { server in
            try await Python.run("delays.py", String(server.port))
        }
        #expect(answer.code == 0, "\(answer.output)")
    }

    @Test("Tokens are not taken without encryption")
    func tokensNeedEncryption() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "stitchkeys-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let keys = try await TokenKeys.make(in: folder)
        let answer = try await Program.run(
            Program.tool, ["serve", "--port", "0", "--auth", "--jwks", keys.set],
            limit: .seconds(300))
        #expect(answer.code == 1 && answer.output.contains("--tls-cert"), "\(answer.output)")
        try FileManager.default.removeItem(at: folder)
    }

    @Test(
        "A password is brought into the form of RFC 4013",
        arguments: [
            ("I\u{AD}X", "IX"), ("user", "user"), ("USER", "USER"), ("\u{AA}", "a"),
            ("\u{2168}", "IX"), ("\u{A0}a", " a"), ("\u{07}", nil), ("\u{0627}1", nil),
            ("\u{0627}1\u{0627}", "\u{0627}1\u{0627}"),
        ] as [(String, String?)])
    func prepared(given: String, expected: String?) {
        #expect(SASLprep.prepared(given) == expected)
    }

    @Test("An attempt waits longer with each wrong one before it, up to a limit")
    func delays() {
        let delays = (1...20).map { SignInDelay.delay(after: $0) }
        #expect(delays.prefix(3).allSatisfy { $0 == .zero })
        #expect(delays[3...] == ArraySlice(delays[3...].sorted()))
        #expect(delays[3] == .milliseconds(100) && delays[19] == SignInDelay.delayMax)
    }

    @Test("Attempts of one address on many users are bounded in memory, and right ones forgotten")
    func memory() {
        let signIns = SignInDelay()
        for number in 0..<(SignInDelay.countMax + 10) {
            _ = signIns.failed("192.0.2.1 admin.user\(number)")
        }
        for _ in 0..<6 { _ = signIns.failed("a") }
        #expect(signIns.opening("a") > .now)
        signIns.succeeded("a")
        #expect(signIns.opening("a") <= .now)
    }
}
