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

    /// Rules by which users write their own documents, and those of the team in their custom data.
    private static let providerRules = [
        "data_sources/mongodb-atlas/app/own/rules.json": """
        {
          "database": "app", "collection": "own",
          "roles": [
            {
              "name": "owner", "apply_when": {},
              "document_filters": {
                "read": {"owner": "%%user.id"}, "write": {"owner": "%%user.id"}
              },
              "insert": true, "read": true, "write": true
            }
          ]
        }
        """,
        "data_sources/mongodb-atlas/app/team/rules.json": """
        {
          "database": "app", "collection": "team",
          "roles": [
            {
              "name": "member", "apply_when": {"%%user.custom_data.team": {"%exists": true}},
              "document_filters": {
                "read": true, "write": {"team": "%%user.custom_data.team"}
              },
              "insert": true, "read": true, "write": true
            }
          ]
        }
        """,
    ]

    @Test("Users of two identity providers are different users", arguments: [false, true])
    func tokenProviders(isGateway: Bool) async throws {
        try await Certificate.lend { certificate in
            let folder = URL(filePath: certificate.chain).deletingLastPathComponent()
            let (a, b) = (folder.appending(path: "a"), folder.appending(path: "b"))
            for folder in [a, b] {
                try FileManager.default.createDirectory(
                    at: folder, withIntermediateDirectories: true)
            }
            let set = try await String(
                contentsOfFile: TokenKeys.make(in: a).set, encoding: .utf8)
            let file = try await TokenKeys.make(in: b).set
            try await KeyServer.lend(certificate, answering: .content(set)) { keys in
                let descriptions = [
                    """
                    {"name": "a", "issuer": "https://a.example", "audience": "shop",
                     "keys": "\(keys.address)", "ca_file": "\(certificate.chain)",
                     "custom_data": {"team": "team"}}
                    """,
                    """
                    {"name": "b", "issuer": "https://b.example", "audience": ["app", "shop"],
                     "keys": "\(file)", "algorithms": ["RS256", "ES256"]}
                    """,
                ]
                var arguments = [
                    "--auth", "--tls-cert", certificate.chain, "--tls-key", certificate.key,
                ]
                for (folder, text) in zip([a, b], descriptions) {
                    let path = folder.appending(path: "provider.json")
                    try Data(text.utf8).write(to: path)
                    arguments += ["--token-provider", path.path]
                }
                let answer = try await OpenRules.lend(Self.providerRules) { rules in
                    arguments += ["--rules", rules]
                    func run(_ port: Int) async throws -> Python.Answer {
                        try await Python.run(
                            "providers.py", String(port), certificate.chain, a.path, b.path)
                    }
                    if isGateway {
                        return try await GatewayProcesses.run(1, arguments) {
                            try await run($0.ports[0])
                        }
                    }
                    return try await ServerProcess.run(arguments) { try await run($0.port) }
                }
                #expect(answer.code == 0, "\(answer.output)")
                // At the start; the unknown key comes within the same minute.
                #expect(keys.requests == 1)
            }
        }
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
            Program.tool,
            [
                "serve", "--port", "0", "--auth", "--jwks", keys.set, "--jwt-issuer", "i",
                "--jwt-audience", "a",
            ], limit: .seconds(300))
        #expect(answer.code == 1 && answer.output.contains("--tls-cert"), "\(answer.output)")
        let unnamed = try await Program.run(
            Program.tool, ["serve", "--port", "0", "--auth", "--jwks", keys.set],
            limit: .seconds(300))
        #expect(
            unnamed.code == 64 && unnamed.output.contains("--jwt-audience"), "\(unnamed.output)")
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
