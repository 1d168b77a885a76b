#if Remote
    internal import BSONStore
    internal import StitchCommands
    internal import StitchSync

    /// The first messages of a connection: `hello`, and the sign-in.
    struct Handshake: Sendable {
        let signIn: SignIn
        /// The description of this client.
        var client: ClientMetadata
        /// Whether connections are encrypted, as tokens need.
        let isEncrypted: Bool
        /// The names of the compression methods to ask for, the preferred one first.
        let compressors: [String]
        private let passwords: SaltedPasswords?

        init(
            _ signIn: SignIn, client: ClientMetadata, isEncrypted: Bool, compressors: [String]
        ) {
            self.signIn = signIn
            self.client = client
            self.isEncrypted = isEncrypted
            self.compressors = compressors
            switch signIn {
            case .user(_, let password, _): passwords = SaltedPasswords(password: password)
            case .none, .token, .anonymous: passwords = nil
            }
        }

        /// Returns the handshake of the same app with another sign-in.
        func replacing(_ signIn: SignIn) -> Handshake {
            Handshake(
                signIn, client: client, isEncrypted: isEncrypted, compressors: compressors)
        }

        /// Whether the app may have better credentials at the next attempt.
        var asksAgain: Bool {
            switch signIn {
            case .token: true
            case .none, .user, .anonymous: false
            }
        }

        /// Whether a new connection signs in.
        var signsIn: Bool {
            switch signIn {
            case .none: false
            case .user, .token, .anonymous: true
            }
        }

        /// The server's first reply.
        struct Greeting: Sendable {
            let description: ServerDescription
            /// The time between the first message and its reply.
            let roundTrip: Duration
        }

        /// Carries out the handshake and returns the server's description.
        ///
        /// - Parameter elapsed: the time since any fixed moment.
        /// - Throws: ``MongoFailure``, of the kind `authentication` when the server refuses the
        ///   sign-in or does not prove who it is.
        func run(
            _ connection: WireConnection, within limit: Duration, _ elapsed: () -> Duration
        ) async throws(MongoFailure) -> Greeting {
            var command: BSONDocument = [
                "hello": 1, "helloOk": true,
                "client": .document(self.client.document),
            ]
            if !compressors.isEmpty {
                command.append("compression", .array(BSONArray(compressors.map { .string($0) })))
            }
            let client: ScramClient?
            switch signIn {
            case .none, .token, .anonymous: client = nil
            case .user(let name, _, let database):
                let first = ScramClient(user: name)
                var start = Self.start("SCRAM-SHA-256", first.first)
                start.append("db", .string(database))
                // Saves a round trip where the server guesses with.
                command.append("speculativeAuthenticate", .document(start))
                client = first
            }
            command.append("$db", "admin")
            let begin = elapsed()
            let hello = try await Self.reply(to: command, connection, limit)
            let roundTrip = elapsed() - begin
            switch signIn {
            case .none: break
            case .user(_, _, let database):
                guard let client else { break }
                try await signIn(
                    client, database, hello["speculativeAuthenticate"]?.documentValue, connection,
                    limit)
            case .token(let token): try await signIn(token, connection, limit)
            case .anonymous(let secret):
                try await Self.signIn("STITCHSYNC-ANONYMOUS", secret, "admin", connection, limit)
            }
            return Greeting(description: ServerDescription(hello), roundTrip: roundTrip)
        }

        private func signIn(
            _ client: ScramClient, _ database: String, _ speculated: BSONDocument?,
            _ connection: WireConnection, _ limit: Duration
        ) async throws(MongoFailure) {
            guard let passwords else { return }
            let started: BSONDocument
            if let speculated {
                started = speculated
            } else {
                var start = Self.start("SCRAM-SHA-256", client.first)
                start.append("$db", .string(database))
                started = try await Self.signInReply(to: start, connection, limit)
            }
            let challenge = try client.challenge(try Self.payload(started))
            let proof = client.proof(of: try await passwords.salted(challenge), for: challenge)
            var next = try await Self.proceed(
                started, proof.message, database, connection, limit)
            try ScramClient.check(try Self.payload(next), proof)
            // Servers without skipEmptyExchange want one more message.
            if next["done"]?.boolValue != true {
                next = try await Self.proceed(started, [], database, connection, limit)
            }
            guard next["done"]?.boolValue == true else {
                throw MongoFailure(
                    kind: .authentication, code: 18, message: "the server does not end the sign-in")
            }
        }

        private func signIn(
            _ token: @Sendable () async throws -> String, _ connection: WireConnection,
            _ limit: Duration
        ) async throws(MongoFailure) {
            guard isEncrypted else {
                throw MongoFailure(
                    kind: .usage, message: "a token is sent over TLS only; add tls=true to the URI")
            }
            let text: String
            do {
                text = try await token()
            } catch {
                throw MongoFailure(
                    kind: .authentication, code: 18,
                    message: "the app has no token: \(String(shortly: error))")
            }
            guard let name = Self.subject(of: text) else {
                throw MongoFailure(
                    kind: .authentication, code: 18,
                    message: "the token is not a JSON Web Token with the claim sub")
            }
            try await Self.signIn(
                "PLAIN", [0] + Array(name.utf8) + [0] + Array(text.utf8), "$external", connection,
                limit)
        }

        /// Signs in by a mechanism of one message.
        private static func signIn(
            _ mechanism: String, _ payload: [UInt8], _ database: String,
            _ connection: WireConnection, _ limit: Duration
        ) async throws(MongoFailure) {
            let reply = try await signInReply(
                to: start(mechanism, payload).on(database), connection, limit)
            guard reply["done"]?.boolValue == true else {
                throw MongoFailure(
                    kind: .authentication, code: 18, message: "the server does not end the sign-in")
            }
        }

        private static func start(_ mechanism: String, _ payload: [UInt8]) -> BSONDocument {
            [
                "saslStart": 1, "mechanism": .string(mechanism),
                "payload": .binary(BSONBinary(payload)),
                "options": ["skipEmptyExchange": true],
            ]
        }

        private static func proceed(
            _ started: BSONDocument, _ payload: [UInt8], _ database: String,
            _ connection: WireConnection, _ limit: Duration
        ) async throws(MongoFailure) -> BSONDocument {
            try await signInReply(
                to: [
                    "saslContinue": 1, "conversationId": started["conversationId"] ?? 1,
                    "payload": .binary(BSONBinary(payload)), "$db": .string(database),
                ], connection, limit)
        }

        private static func payload(
            _ reply: BSONDocument
        ) throws(MongoFailure) -> [UInt8] {
            guard case .binary(let payload) = reply["payload"] else {
                throw MongoFailure.broken("a reply to the sign-in has no payload")
            }
            return payload.bytes
        }

        /// Returns a reply; the server's refusal is a failed sign-in, unless it is overloaded.
        private static func signInReply(
            to command: BSONDocument, _ connection: WireConnection, _ limit: Duration
        ) async throws(MongoFailure) -> BSONDocument {
            do throws(MongoFailure) {
                return try await reply(to: command, connection, limit)
            } catch {
                var error = error
                if error.kind == .server, MongoErrorClass.decide(error) != .retryable {
                    error.kind = .authentication
                }
                throw error
            }
        }

        private static func reply(
            to command: BSONDocument, _ connection: WireConnection, _ limit: Duration
        ) async throws(MongoFailure) -> BSONDocument {
            try MongoFailure.check(
                try await connection.reply(to: MongoRequest(command), within: limit))
        }
    }
#endif
