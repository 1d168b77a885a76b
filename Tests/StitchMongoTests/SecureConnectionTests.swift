#if MongoRemote
    import BSONStore
    import Foundation
    import StitchCommands
    import StitchSync
    import TestProcesses
    import Testing

    @testable import StitchMongo

    /// Documents travel over networks that others share: only who may gets them, and nobody listens in.
    @Suite(.timeLimit(.minutes(30))) struct SecureConnectionTests {
        private static let items = Namespace("shop", "items")
        private static let issuer = "https://id.example"

        /// A server that wants TLS and a sign-in, and the ways to it.
        private struct Secured {
            let port: Int
            let certificate: Certificate
            let keys: TokenKeys

            /// A URI with who signs in and further options.
            func uri(
                _ user: String, _ options: String..., tls: Bool = true, patienceMS: Int = 120_000
            ) -> String {
                let ways =
                    ["serverSelectionTimeoutMS=\(patienceMS)"] + options
                    + (tls ? ["tls=true", "tlsCAFile=\(certificate.chain)"] : [])
                return "mongodb://\(user)localhost:\(port)/?" + ways.joined(separator: "&")
            }

            static func run(_ body: (Secured) async throws -> Void) async throws {
                try await Certificate.lend { certificate in
                    let folder = URL(filePath: certificate.chain).deletingLastPathComponent()
                    let keys = try await TokenKeys.make(in: folder)
                    let arguments = [
                        "--auth", "--tls-cert", certificate.chain, "--tls-key", certificate.key,
                        "--jwks", keys.set, "--jwt-issuer", issuer, "--jwt-audience", "shop",
                    ]
                    try await ServerProcess.run(arguments) { server in
                        let secured = Secured(
                            port: server.port, certificate: certificate, keys: keys)
                        try secured.makeUsers()
                        try await body(secured)
                    }
                }
            }

            /// The first user comes in by the door that loopback has, the others through the first.
            private func makeUsers() throws {
                try run(
                    [
                        "createUser": "root", "pwd": "r:o@t", "roles": ["root"],
                    ], as: "")
                try run(
                    [
                        "createUser": "reader", "pwd": "r",
                        "roles": [["role": "read", "db": "shop"]],
                    ], as: "root:r%3Ao%40t@")
            }

            private func run(_ command: BSONDocument, as user: String) throws {
                let pool = try MongoClientPool(
                    uri: uri(user),
                    settings: .init(
                        applicationName: "tests", serverSelectionTimeout: .seconds(120),
                        socketTimeout: .seconds(60), clients: .undivided(1)),
                    onTopologyChange: { _ in })
                _ = try pool.withClient { (client) throws(MongoFailure) in
                    try client.run(command, on: "admin", .write)
                }
            }
        }

        /// Inserts a document by a URI and says what became of it.
        private func insert(_ id: Int32, _ uri: String) async throws -> RemoteWriteOutcome? {
            let remote = try MongoRemote(uri: uri)
            let write = RemoteWrite(
                documentID: .int32(id),
                operation: OperationID(instance: 1, sequence: UInt64(id)),
                action: .insert(["_id": .int32(id)]), condition: .init(version: .absent))
            let result: Result<RemoteWriteOutcome?, any Error>
            do {
                result = .success(try await remote.collection(Self.items).write([write]).first)
            } catch {
                result = .failure(error)
            }
            await remote.close()
            return try result.get()
        }

        /// What the engine does about a write that failed.
        private func reaction(_ outcome: RemoteWriteOutcome?) -> RemoteError.Class? {
            guard case .failed(let error) = outcome else { return nil }
            return error.errorClass
        }

        @Test("over TLS who signs in gets through as far as the role goes, and nobody else")
        func signIn() async throws {
            try await Secured.run { server in
                let root = "root:r%3Ao%40t@"
                for (index, mechanism) in ["SCRAM-SHA-256", "SCRAM-SHA-1"].enumerated() {
                    let uri = server.uri(root, "authMechanism=\(mechanism)")
                    #expect(try await insert(Int32(index) + 1, uri) == .applied)
                }
                let token = try await server.keys.token(
                    subject: "ann", issuer: Self.issuer, audience: "shop",
                    roles: ["readWrite@shop"])
                let plain = server.uri(
                    "ann:\(token)@", "authMechanism=PLAIN", "authSource=$external")
                #expect(try await insert(3, plain) == .applied)

                let refused = try await insert(4, server.uri("reader:r@"))
                guard case .failed(let error) = refused else {
                    Issue.record("a reader writes")
                    return
                }
                #expect(error.errorClass == .rejected)
                #expect(error.code == 13)
                // A password may be changed back and a certificate renewed: what is pending waits.
                let wrong = try await insert(5, server.uri("root:wrong@"))
                #expect(reaction(wrong) == .unauthenticated)
                let open = server.uri(root, tls: false, patienceMS: 1_000)
                #expect(reaction(try await insert(6, open)) == .retryable)
                let unknown = server.uri(root, "tls=true", tls: false, patienceMS: 1_000)
                #expect(reaction(try await insert(7, unknown)) == .retryable)

                let remote = try MongoRemote(uri: server.uri("reader:r@"))
                let ids = (1...7).map { BSONValue.int32($0) }
                let found = try await remote.collection(Self.items).find(ids: ids)
                #expect(found.count { $0 != .absent } == 3)
                await remote.close()
            }
        }
    }
#endif
