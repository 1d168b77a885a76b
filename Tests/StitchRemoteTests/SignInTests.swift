#if Remote
    import BSONStore
    import Foundation
    import StitchCommands
    import StitchSync
    import TestProcesses
    import Testing

    @testable import StitchRemote

    /// Documents travel over networks that others share: only users with the right may get them.
    @Suite(.timeLimit(.minutes(30))) struct SignInTests {
        private static let find: BSONDocument = ["find": "items"]

        /// Makes the users `root` and `ann`; loopback may make the first one.
        private static func makeUsers(_ uri: String) async throws {
            try await ServerConnections.run(uri) { server in
                let root: BSONDocument = ["createUser": "root", "pwd": "r:o@t", "roles": ["root"]]
                _ = try await server.run(root, on: "admin", .write)
            }
            try await ServerConnections.run(uri, signIn: .user("root", password: "r:o@t")) {
                try await makeAnn($0)
            }
        }

        private static func makeAnn(_ server: ServerConnections) async throws {
            _ = try await server.run(
                [
                    "createUser": "a=n,n", "pwd": "pa\u{AD}ss",
                    "roles": [["role": "readWrite", "db": "shop"]],
                ], on: "admin", .write)
        }

        @Test func `a user signs in at admin unless another database is named`() {
            guard
                case .user("ann", password: "p", database: "admin") = SignIn.user(
                    "ann", password: "p")
            else {
                Issue.record("another user or database")
                return
            }
        }

        @Test func `a user signs in with the password`() async throws {
            try await ServerProcess.run(["--auth"]) { process in
                let uri = "stitchsync://127.0.0.1:\(process.port)"
                try await Self.makeUsers(uri)
                // The soft hyphen is nothing in a password (SASLprep).
                for password in ["pass", "pa\u{AD}ss"] {
                    let user = SignIn.user("a=n,n", password: password)
                    try await ServerConnections.run(uri, signIn: user) { server in
                        try await server.read(Self.find, on: "shop")
                        #expect(await server.failure(of: Self.find, on: "other")?.code == 13)
                    }
                }
                let inURI =
                    "mongodb://root:r%3Ao%40t@127.0.0.1:\(process.port)/shop?authSource=admin"
                try await ServerConnections.run(inURI) { try await $0.read(Self.find, on: "other") }
                for wrong in [
                    SignIn.user("a=n,n", password: "wrong"), .user("bob", password: "pass"),
                    .user("a=n,n", password: "pass", database: "shop"),
                ] {
                    try await ServerConnections.run(uri, signIn: wrong) { server in
                        let failure = await server.failure(of: Self.find, on: "shop")
                        #expect(failure?.kind == .authentication)
                        #expect(failure?.code == 18)
                        #expect(failure?.remoteError.errorClass == .unauthenticated)
                    }
                }
                try await ServerConnections.run(uri) { server in
                    let failure = await server.failure(of: Self.find, on: "shop")
                    #expect(failure?.remoteError.errorClass == .unauthenticated)
                    #expect(!server.renew(after: server.signIn))
                }
            }
        }

        @Test func `a renewed sign-in serves a user who was made anew`() async throws {
            try await ServerProcess.run(["--auth"]) { process in
                let uri = "stitchsync://127.0.0.1:\(process.port)"
                try await Self.makeUsers(uri)
                try await ServerConnections.run(uri, signIn: .user("root", password: "r:o@t")) {
                    root in
                    let ann = SignIn.user("a=n,n", password: "pass")
                    try await ServerConnections.run(uri, signIn: ann) { server in
                        try await server.read(Self.find, on: "shop")
                        _ = try await root.run(["dropUser": "a=n,n"], on: "admin", .write)
                        let before = server.signIn
                        let failure = await server.failure(of: Self.find, on: "shop")
                        #expect(failure?.remoteError.errorClass == .unauthenticated)
                        try await Self.makeAnn(root)
                        #expect(server.renew(after: before))
                        let now = server.signIn
                        #expect(now > before)
                        // A second call that failed with the first does not renew once more.
                        #expect(server.renew(after: before))
                        #expect(server.signIn == now)
                        try await server.read(Self.find, on: "shop")
                    }
                }
            }
        }

        @Test func `over TLS a token signs in, and a wrong certificate does not`() async throws {
            let issuer = "https://id.example"
            try await Certificate.lend { certificate in
                let folder = URL(filePath: certificate.chain).deletingLastPathComponent()
                let keys = try await TokenKeys.make(in: folder)
                let arguments = [
                    "--auth", "--tls-cert", certificate.chain, "--tls-key", certificate.key,
                    "--jwks", keys.set, "--jwt-issuer", issuer, "--jwt-audience", "shop",
                ]
                let token = try await keys.token(
                    subject: "ann", issuer: issuer, audience: "shop", roles: ["readWrite@shop"])
                try await ServerProcess.run(arguments) { process in
                    let port = process.port
                    var options = ServerRemote.Options()
                    options.trustedRoots = [
                        try String(contentsOfFile: certificate.chain, encoding: .utf8)
                    ]
                    options.serverSelectionTimeout = .seconds(60)
                    try await Self.makeUsers(
                        "stitchsync://localhost:\(port)/?tlsCAFile=\(certificate.chain)")
                    // By name and by address, as the certificate has both.
                    for host in ["localhost", "127.0.0.1"] {
                        let asked = Locked(0)
                        let signIn = SignIn.token {
                            // The first token has ended; the app makes another.
                            asked.withLock { asked in
                                asked += 1
                                return asked == 1 ? token + "x" : token
                            }
                        }
                        let uri = "stitchsync://\(host):\(port)/?tls=true"
                        try await ServerConnections.run(uri, signIn: signIn, options: options) {
                            try await $0.read(Self.find, on: "shop")
                        }
                        #expect(asked.withLock { $0 } == 2)
                    }
                    options.serverSelectionTimeout = .milliseconds(500)
                    // Nothing trusts the certificate; the certificate has another name; no TLS.
                    let rows = [
                        ("localhost:\(port)/?tls=true", ServerRemote.Options()),
                        ("127.0.0.2:\(port)/?tls=true", options),
                        ("localhost:\(port)", ServerRemote.Options()),
                    ]
                    for (rest, options) in rows {
                        var options = options
                        options.serverSelectionTimeout = .milliseconds(500)
                        try await ServerConnections.run("stitchsync://" + rest, options: options) {
                            let failure = await $0.failure(of: Self.find, on: "shop")
                            #expect(failure?.kind == .network, "\(rest)")
                        }
                    }
                }
            }
        }

        @Test func `a token of the app that fails is a failed sign-in`() async throws {
            try await Certificate.lend { certificate in
                let arguments = ["--tls-cert", certificate.chain, "--tls-key", certificate.key]
                try await ServerProcess.run(arguments) { process in
                    let uri =
                        "stitchsync://localhost:\(process.port)/?tlsCAFile=\(certificate.chain)"
                    let none = SignIn.token { throw ProgramFailure(reason: "offline") }
                    for signIn in [none, .token { "no token" }] {
                        try await ServerConnections.run(uri, signIn: signIn) { server in
                            let failure = await server.failure(of: ["ping": 1])
                            #expect(failure?.kind == .authentication)
                        }
                    }
                }
            }
        }
    }
#endif
