#if Remote
    import BSONStore
    import StitchCommands
    import StitchWire
    import TestProcesses
    import Testing

    @testable import StitchRemote

    /// What comes from the network may be anything: it must end in an error, soon and without a trap.
    @Suite(.timeLimit(.minutes(20))) struct HostilePeerTests {
        private static let ping: BSONDocument = ["ping": 1]

        private static func uri(_ port: Int, _ options: String = "") -> String {
            "stitchsync://127.0.0.1:\(port)/?serverSelectionTimeoutMS=240000&connectTimeoutMS=240000&retryReads=false"
                + options
        }

        /// The failure of a request to a peer that greets as a primary and then acts.
        private func failure(
            retries: Bool = false, socketTimeoutMS: Int = 60_000,
            _ act: @escaping @Sendable (ScriptedPeer.Client, Int32) throws -> Void
        ) async throws -> MongoFailure? {
            try await ScriptedPeer.run { client in
                while let next = try client.greet() { try act(client, next.id) }
            } _: { peer in
                let options = "&socketTimeoutMS=\(socketTimeoutMS)"
                return try await ServerConnections.run(Self.uri(peer.port, options)) { server in
                    await server.failure(of: Self.ping)
                }
            }
        }

        /// A message with a header of its own.
        private static func message(
            length: Int32? = nil, to id: Int32, opcode: Int32 = 2013, _ content: [UInt8]
        ) -> [UInt8] {
            let length = length ?? Int32(16 + content.count)
            return [length, 9, id, opcode].flatMap { number in
                withUnsafeBytes(of: number.littleEndian) { Array($0) }
            } + content
        }

        private static func content(flags: UInt32 = 0, _ sections: [UInt8]) -> [UInt8] {
            withUnsafeBytes(of: flags.littleEndian) { Array($0) } + sections
        }

        private static func section(_ document: BSONDocument) -> [UInt8] {
            [0] + document.withUnsafeBytes { Array($0) }
        }

        /// Bytes instead of a reply to a request.
        private struct FalseReply: Sendable {
            /// What is wrong with them.
            let fault: String
            /// Makes them for a request's number.
            let bytes: @Sendable (Int32) -> [UInt8]

            init(_ fault: String, _ bytes: @escaping @Sendable (Int32) -> [UInt8]) {
                self.fault = fault
                self.bytes = bytes
            }

            /// A well-formed message around a content.
            init(_ fault: String, content: [UInt8]) {
                self.init(fault) { message(to: $0, content) }
            }
        }

        private static let falseReplies: [FalseReply] = [
            FalseReply("a negative length") { message(length: -1, to: $0, []) },
            FalseReply("a length of zero") { message(length: 0, to: $0, []) },
            FalseReply("a length of the header") { message(length: 16, to: $0, []) },
            FalseReply("a huge length") { message(length: .max, to: $0, []) },
            FalseReply("a length above 48 MB") { message(length: 48_000_001, to: $0, []) },
            FalseReply("an unknown opcode") { message(to: $0, opcode: 7, [0]) },
            FalseReply("an old reply") { message(to: $0, opcode: 1, zeros) },
            FalseReply("a query") { message(to: $0, opcode: 2004, zeros) },
            FalseReply("a compressed message") {
                message(to: $0, opcode: 2012, [0xDD, 7, 0, 0, 0xFF, 0xFF, 0xFF, 2, 1, 0xFF, 0xFF])
            },
            FalseReply("no section", content: content([])),
            FalseReply("unknown flags", content: content(flags: 4, section(["ok": 1]))),
            FalseReply(
                "a wrong checksum", content: content(flags: 1, section(["ok": 1]) + [1, 2, 3, 4])),
            FalseReply("more to come", content: content(flags: 2, section(["ok": 1]))),
            FalseReply("two bodies", content: content(section(["ok": 1]) + section([:]))),
            FalseReply(
                "a document that is too long", content: content([0, 0xFF, 0xFF, 0xFF, 0x7F, 0])),
            FalseReply("a document that is too short", content: content([0, 4, 0, 0, 0])),
            FalseReply("documents in documents", content: content([0] + nested(150))),
            FalseReply(
                "a sequence", content: content(section(["ok": 1]) + [1, 6, 0, 0, 0, 0x61, 0])),
            FalseReply("the reply to another request") {
                message(to: $0 &+ 1, content(section(["ok": 1])))
            },
            FalseReply("the reply to nothing") { _ in message(to: 0, content(section(["ok": 1]))) },
            FalseReply("no ok", content: content(section(["n": 1]))),
            FalseReply("garbage") { _ in Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8) },
        ]

        private static let zeros = [UInt8](repeating: 0, count: 40)

        /// A document in a document, and so on.
        private static func nested(_ depth: Int) -> [UInt8] {
            var bytes: [UInt8] = [5, 0, 0, 0, 0]
            for _ in 0..<depth {
                let length = UInt32(bytes.count + 8)
                let head = withUnsafeBytes(of: length.littleEndian) { Array($0) }
                bytes = head + [3, 0x61, 0] + bytes + [0]
            }
            return bytes
        }

        @Test(arguments: falseReplies.indices)
        func `an invalid reply is an error`(_ index: Int) async throws {
            let reply = Self.falseReplies[index]
            let failure = try await failure { client, id in client.send(reply.bytes(id)) }
            #expect(
                failure?.kind == .network || failure?.kind == .protocolError,
                "\(reply.fault)")
        }

        @Test func `a reply that ends in the middle is an error`() async throws {
            let failure = try await failure { client, id in
                let reply = WireEncoder.bytes(
                    ["ok": 1], to: .message([]), requestID: 1, responseTo: id)
                client.send(Array(reply.dropLast()))
                throw ProgramFailure(reason: "closes the connection")
            }
            #expect(failure?.kind == .network)
            #expect(failure?.message.contains("closed the connection") == true)
        }

        @Test func `a second reply to one request ends the connection`() async throws {
            try await ScriptedPeer.run { client in
                while let next = try client.greet() {
                    client.reply(["ok": 1, "number": .int64(Int64(client.number))], to: next.id)
                    if client.number == 1 { client.reply(["ok": 1], to: next.id) }
                }
            } _: { peer in
                let uri =
                    "stitchsync://127.0.0.1:\(peer.port)/?serverSelectionTimeoutMS=240000&connectTimeoutMS=240000"
                try await ServerConnections.run(uri) { server in
                    try await server.read(Self.ping)
                    // Over the connection that ends meanwhile, or over the next.
                    while try await server.read(Self.ping)["number"]?.int64Value != 2 {}
                    #expect(peer.connectionCount == 2)
                }
            }
        }

        @Test func `a silent server is an error after the time limit`() async throws {
            let failure = try await failure(socketTimeoutMS: 50) { _, _ in }
            #expect(failure?.kind == .network)
            #expect(failure?.message.contains("no reply within") == true)
        }

        @Test func `a server that sends anything but a greeting is named with its error`()
            async throws
        {
            try await ScriptedPeer.run { client in
                client.send(Array("220 mail.example.com ESMTP\r\n".utf8))
                _ = client.bytes()
            } _: { peer in
                let uri = "stitchsync://127.0.0.1:\(peer.port)/?serverSelectionTimeoutMS=1000"
                try await ServerConnections.run(uri) { server in
                    let failure = await server.informedFailure(of: Self.ping)
                    #expect(failure?.kind == .network)
                    #expect(failure?.message.contains("127.0.0.1:\(peer.port): ") == true)
                }
            }
        }

        @Test func `garbage instead of TLS is an error`() async throws {
            try await ScriptedPeer.run { client in
                _ = client.bytes()
                client.send(Array(repeating: 0x2A, count: 4_096))
                _ = client.bytes()
            } _: { peer in
                let uri =
                    "stitchsync://127.0.0.1:\(peer.port)/?tls=true&serverSelectionTimeoutMS=1000"
                try await ServerConnections.run(uri) { server in
                    let failure = await server.informedFailure(of: Self.ping)
                    #expect(failure?.kind == .network)
                }
            }
        }

        @Test func `before the sign-in a large reply is refused`() async throws {
            try await ScriptedPeer.run { client in
                while let next = try client.request() {
                    client.send(Self.message(length: 2_000_000, to: next.id, []))
                }
            } _: { peer in
                let uri = "stitchsync://127.0.0.1:\(peer.port)/?serverSelectionTimeoutMS=1000"
                try await ServerConnections.run(uri) { server in
                    let failure = await server.informedFailure(of: Self.ping)
                    #expect(failure?.message.contains("2000000 bytes") == true)
                }
            }
        }
    }
#endif
