#if Remote
    import BSONStore
    import StitchCommands
    import StitchSync
    import StitchWire
    import TestProcesses
    import Testing

    @testable import StitchRemote

    /// Compression must save bytes without a change of what arrives, and a false server must not use
    /// it to fill the memory.
    @Suite(.timeLimit(.minutes(20))) struct CompressionTests {
        private static func uri(_ port: Int, _ options: String) -> String {
            "stitchsync://127.0.0.1:\(port)/app?serverSelectionTimeoutMS=240000"
                + "&connectTimeoutMS=240000&socketTimeoutMS=240000&retryReads=false" + options
        }

        private static func little(_ number: Int32) -> [UInt8] {
            withUnsafeBytes(of: number.littleEndian) { Array($0) }
        }

        /// A compressed reply with contents of its own.
        private static func reply(
            to id: Int32, opcode: Int32 = 2013, count: Int32, method: UInt8 = 1, _ block: [UInt8]
        ) -> [UInt8] {
            let content = little(opcode) + little(count) + [method] + block
            return [Int32(16 + content.count), 9, id, 2012].flatMap(little) + content
        }

        private static func hello(_ methods: BSONValue? = ["snappy"]) -> BSONDocument {
            var hello = ScriptedPeer.hello()
            if let methods { hello.append("compression", methods) }
            return hello
        }

        // MARK: - The choice

        @Test func `the client's order and the round trip decide`() {
            let (fast, slow) = (Duration.microseconds(4_999), Duration.milliseconds(5))
            let all = ["zlib", "snappy"]
            for mode in RemoteCompression.allCases {
                let choice = CompressionChoice(mode: mode, offered: [.snappy])
                #expect(
                    choice.compressor(accepted: all, roundTrip: fast)
                        == (mode == .always ? .snappy : nil))
                #expect(
                    choice.compressor(accepted: all, roundTrip: slow)
                        == (mode == .never ? nil : .snappy))
                #expect(choice.compressor(accepted: ["zlib"], roundTrip: slow) == nil)
                #expect(choice.names == (mode == .never ? [] : ["snappy"]))
            }
        }

        @Test(arguments: [
            ("", CompressionChoice(mode: .automatic, offered: CompressionChoice.supported)),
            ("&compressors=none", CompressionChoice(mode: .never, offered: [])),
            ("&compressors=zstd", CompressionChoice(mode: .never, offered: [])),
            ("&compressors=snappy,snappy", CompressionChoice(mode: .always, offered: [.snappy])),
        ])
        func `a URI chooses`(_ options: String, _ choice: CompressionChoice) throws {
            let uri = try ServerURI(Self.uri(1, options))
            let settings = try ConnectionSettings(uri, .none, .init())
            #expect(settings.compression == choice)
        }

        @Test func `commands with secrets are never compressed`() {
            let secret: [BSONDocument] = [
                ["hello": 1], ["saslStart": 1], ["saslContinue": 1], ["createUser": "a"],
                ["updateUser": "a"], ["stitchsyncSignUp": "a"], [:],
            ]
            for command in secret { #expect(!CompressionChoice.allows(command)) }
            #expect(CompressionChoice.allows(["find": "saslStart"]))
        }

        // MARK: - A real server

        @Test(arguments: [
            "", "&compressors=snappy", "&compressors=zlib,snappy", "&compressors=none",
        ])
        func `two devices are in step, with fewer bytes`(_ options: String) async throws {
            let notes = Namespace("app", "notes")
            let text = String(repeating: "compress me ", count: 500)
            try await ServerProcess.run { process in
                var remotes: [ServerRemote] = []
                for _ in 0..<2 {
                    let remote = try ServerRemote(Self.uri(process.port, options))
                    remotes.append(remote)
                    let engine = try SyncEngine(
                        store: try DocumentStore(at: .inMemory), remote: remote)
                    let collection = engine.collection(notes)
                    await collection.configure(conflictHandler: .remoteWins)
                    try await collection.subscribe(waitForSync: .never)
                    if remotes.count == 1 {
                        try await collection.insertMany(
                            (0..<200).map { ["_id": .int32($0), "text": .string(text)] })
                    }
                    let (report, _) = try await engine.syncUntilQuiet()
                    #expect(report.errors == [])
                    #expect(try collection.find().fetch().count == 200)
                    let photo = [UInt8](repeating: 7, count: 300_000)
                    if remotes.count == 1 {
                        try await collection.attach(photo, to: .int32(1), at: "photo")
                        try await engine.syncUntilQuiet()
                        #expect(try await engine.attachments.transfer().sent == 1)
                    } else {
                        let document = try #require(try collection.findOne(id: 1))
                        let file = try #require(BSONStore.Attachment.all(in: document).first)
                        #expect(try await collection.file(file, of: 1).bytes() == photo)
                    }
                }
                let (sent, received) = (remotes[0].traffic, remotes[1].traffic)
                #expect(sent.sentPlainBytes > 1_200_000 && received.receivedPlainBytes > 1_200_000)
                if options.contains("snappy") {
                    #expect(sent.sentBytes * 4 < sent.sentPlainBytes, "\(sent)")
                    #expect(received.receivedBytes * 4 < received.receivedPlainBytes)
                    #expect(received.ratio < 0.25)
                } else if options.contains("none") {
                    #expect(sent.sentBytes == sent.sentPlainBytes)
                    #expect(received.ratio == 1)
                }
                for remote in remotes { await remote.close() }
            }
        }

        @Test func `a user signs in and registers over compressed connections`() async throws {
            try await ServerProcess.run(["--auth"]) { process in
                let uri = Self.uri(process.port, "&compressors=snappy")
                try await ServerConnections.run(uri) { server in
                    _ = try await server.run(
                        ["createUser": "ann", "pwd": "p", "roles": ["readWrite"]], on: "admin",
                        .write)
                    #expect(server.traffic.sentBytes == server.traffic.sentPlainBytes)
                }
                try await ServerConnections.run(uri, signIn: .user("ann", password: "p")) {
                    server in
                    try await server.read(["ping": 1])
                    #expect(server.traffic.sentBytes != server.traffic.sentPlainBytes)
                }
            }
        }

        // MARK: - Other servers

        @Test func `a server that does not agree gets plain messages`() async throws {
            try await ScriptedPeer.run { client in
                while let next = try client.greet(Self.hello(nil)) {
                    client.reply(["ok": 1], to: next.id)
                }
            } _: { peer in
                let uri = Self.uri(peer.port, "&compressors=snappy")
                try await ServerConnections.run(uri) { server in
                    try await server.read(["ping": 1])
                    let traffic = server.traffic
                    #expect(traffic.sentBytes == traffic.sentPlainBytes && traffic.ratio == 1)
                }
            }
        }

        @Test(arguments: [4_999, 5_000])
        func `a slow first answer turns compression on`(_ microseconds: Int) async throws {
            let time = Locked(Duration.zero)
            try await ScriptedPeer.run { client in
                while let next = try client.request() {
                    time.withLock { $0 += .microseconds(microseconds) }
                    let isHello = next.command["hello"] != nil
                    client.reply(isHello ? Self.hello() : ["ok": 1], to: next.id)
                }
            } _: { peer in
                let uri = try ServerURI(Self.uri(peer.port, ""))
                var settings = try ConnectionSettings(uri, .none, .patient)
                settings.elapsed = { time.withLock { $0 } }
                let server = ServerConnections(uri.hosts, settings)
                defer { server.close() }
                try await server.read(["ping": 1])
                let isCompressed = server.traffic.sentBytes != server.traffic.sentPlainBytes
                #expect(isCompressed == (microseconds == 5_000))
            }
        }

        /// Bytes instead of a compressed reply to a request.
        struct FalseReply: Sendable, CustomTestStringConvertible {
            let testDescription: String
            /// Whether the connection was asked to compress.
            var isAsked = true
            let bytes: @Sendable (Int32) -> [UInt8]

            init(
                _ fault: String, isAsked: Bool = true,
                _ bytes: @escaping @Sendable (Int32) -> [UInt8]
            ) {
                (testDescription, self.isAsked, self.bytes) = (fault, isAsked, bytes)
            }
        }

        /// A reply without its header.
        private static let content = Array(
            WireEncoder.bytes(["ok": 1], to: .message([]), requestID: 9, responseTo: 1)[16...])
        private static let count = Int32(content.count)
        private static let good = Snappy.compress(content)
        /// A block that expands to 1,000,000 zeros.
        private static let bomb = Snappy.compress([UInt8](repeating: 0, count: 1_000_000))

        private static let falseReplies: [FalseReply] = [
            FalseReply("a bomb beyond the limit") {
                reply(to: $0, count: 48_000_001, [0x81, 0xDA, 0xF1, 0x16, 0])
            },
            FalseReply("a bomb that announces less") { reply(to: $0, count: count, bomb) },
            FalseReply("a bomb of zeros") { reply(to: $0, count: 1_000_000, bomb) },
            FalseReply("a negative size") { reply(to: $0, count: -1, good) },
            FalseReply("garbage") {
                reply(to: $0, count: count, [UInt8(count), 1, 2, 3, 4, 5, 255])
            },
            FalseReply("nothing") { reply(to: $0, count: count, []) },
            FalseReply("an unknown method") { reply(to: $0, count: count, method: 77, good) },
            FalseReply("no compression after all") {
                reply(to: $0, count: count, method: 0, content)
            },
            FalseReply("a compressed one in a compressed one") {
                reply(to: $0, opcode: 2012, count: count, good)
            },
            FalseReply("a query") { reply(to: $0, opcode: 2004, count: count, good) },
            FalseReply("unasked", isAsked: false) { reply(to: $0, count: count, good) },
        ]

        @Test(arguments: falseReplies)
        func `a false compressed reply ends the request`(_ reply: FalseReply) async throws {
            try await ScriptedPeer.run { client in
                while let next = try client.greet(Self.hello(reply.isAsked ? ["snappy"] : nil)) {
                    client.send(reply.bytes(next.id))
                }
            } _: { peer in
                let uri = Self.uri(peer.port, "&compressors=snappy")
                try await ServerConnections.run(uri) { server in
                    let failure = await server.failure(of: ["ping": 1])
                    #expect(failure?.kind == (reply.isAsked ? .protocolError : .network))
                }
            }
        }

        @Test func `a compressed reply before the sign-in is refused`() async throws {
            try await ScriptedPeer.run { client in
                while let next = try client.request() {
                    client.send(Self.reply(to: next.id, count: Self.count, Self.good))
                }
            } _: { peer in
                var options = ServerRemote.Options.patient
                options.compression = .always
                let uri =
                    "stitchsync://127.0.0.1:\(peer.port)/?serverSelectionTimeoutMS=1000"
                try await ServerConnections.run(uri, options: options) { server in
                    let failure = await server.informedFailure(of: ["ping": 1])
                    #expect(failure?.message.contains("another kind") == true, "\(failure as Any)")
                }
            }
        }
    }
#endif
