#if Remote
    import BSONStore
    import StitchCommands
    import Testing

    @testable import StitchRemote

    /// A server that does not know the user's key must get no requests.
    @Suite(.timeLimit(.minutes(20))) struct FalseServerTests {
        /// What a false server does with the client's proof.
        enum Trick: String, Sendable, CaseIterable {
            case wrongSignature
            case noSignature
            case doneAtOnce
            case fewIterations
            case otherNonce
        }

        private static func payload(_ text: String, isDone: Bool = false) -> BSONDocument {
            [
                "conversationId": 1, "done": .bool(isDone),
                "payload": .binary(BSONBinary(Array(text.utf8))), "ok": 1,
            ]
        }

        /// Answers as a server that has no key; returns the first command behind the sign-in.
        private static func serve(
            _ client: ScriptedPeer.Client, _ trick: Trick, _ seen: Locked<[String]>
        ) throws {
            while let next = try client.request() {
                let name = next.command.map(\.key).first ?? ""
                seen.withLock { $0.append(name) }
                switch name {
                case "hello":
                    let start = next.command["speculativeAuthenticate"]?.documentValue
                    guard case .binary(let first) = start?["payload"],
                        let nonce = String(decoding: first.bytes, as: UTF8.self)
                            .split(separator: "=").last
                    else { return }
                    let count = trick == .fewIterations ? 4_095 : 4_096
                    let own = trick == .otherNonce ? "x" : nonce + "x"
                    var hello = ScriptedPeer.hello()
                    hello.append(
                        "speculativeAuthenticate",
                        .document(
                            trick == .doneAtOnce
                                ? payload("", isDone: true)
                                : payload("r=\(own),s=AAAA,i=\(count)")))
                    client.reply(hello, to: next.id)
                case "saslContinue":
                    let text = trick == .noSignature ? "" : "v=AAAA"
                    client.reply(payload(text, isDone: true), to: next.id)
                default: client.reply(["ok": 1], to: next.id)
                }
            }
        }

        @Test(arguments: Trick.allCases)
        func `a server without the key gets no request`(_ trick: Trick) async throws {
            let seen = Locked<[String]>([])
            try await ScriptedPeer.run { client in
                try Self.serve(client, trick, seen)
            } _: { peer in
                let uri = "stitchsync://127.0.0.1:\(peer.port)"
                try await ServerConnections.run(uri, signIn: .user("ann", password: "p")) {
                    server in
                    let failure = await server.failure(of: ["ping": 1])
                    #expect(failure?.kind == .authentication)
                }
            }
            let commands = Set(seen.withLock { $0 })
            #expect(commands.isSubset(of: ["hello", "saslContinue"]), "\(commands)")
        }
    }
#endif
