#if Remote
    import BSONStore
    import StitchCommands
    import Testing

    @testable import StitchRemote

    /// A false server must not learn the password, and a right one must accept the proof.
    struct ScramClientTests {
        private static let nonce = "rOprNGfwEbeRWgbNEkqO"
        private static let serverFirst =
            "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"

        private func proof() throws -> ScramClient.Proof {
            let client = ScramClient(user: "user", nonce: Self.nonce)
            let challenge = try client.challenge(Array(Self.serverFirst.utf8))
            let salted = SHA256.derivedKey(
                of: ScramClient.secret("pencil"), salt: challenge.salt,
                rounds: Int32(challenge.iterations))
            return client.proof(of: salted, for: challenge)
        }

        /// Source: RFC 7677, section 3.
        @Test func `the exchange is that of RFC 7677`() throws {
            let client = ScramClient(user: "user", nonce: Self.nonce)
            #expect(client.first == Array("n,,n=user,r=rOprNGfwEbeRWgbNEkqO".utf8))
            let proof = try proof()
            #expect(
                proof.message
                    == Array(
                        "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
                            .utf8))
            try ScramClient.check(
                Array("v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=".utf8), proof)
        }

        @Test(arguments: [
            "v=7rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=", "v=", "v", "", "e=other-error",
            "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95A==", "v=%",
        ])
        func `another signature ends the sign-in`(_ message: String) throws {
            let proof = try proof()
            #expect(throws: MongoFailure.self) {
                try ScramClient.check(Array(message.utf8), proof)
            }
        }

        @Test(arguments: [
            "", "r=", "x=abcX,s=AA==,i=4096", "r=abc,s=AA==,i=4096",
            "r=xabcX,s=AA==,i=4096", "r=abcX,s=,i=4096", "r=abcX,s=*,i=4096",
            "r=abcX,s=AA==,i=4095", "r=abcX,s=AA==,i=1000001", "r=abcX,s=AA==,i=-1",
            "r=abcX,s=AA==,i=+5000", "r=abcX,s=AA==,i=99999999999999999999", "r=abcX,s=AA==",
            "r=abcX,s=AA==,i=", "m=ext,r=abcX,s=AA==,i=4096",
        ])
        func `an invalid challenge is refused`(_ message: String) {
            let client = ScramClient(user: "ann", nonce: "abc")
            let failure = #expect(throws: MongoFailure.self) {
                try client.challenge(Array(message.utf8))
            }
            #expect(failure?.kind == .authentication)
        }

        @Test func `a message that is not UTF-8 or too long is refused`() {
            let client = ScramClient(user: "ann", nonce: "abc")
            #expect(throws: MongoFailure.self) { try client.challenge([0xFF]) }
            let long = "r=abc" + String(repeating: "x", count: 5_000) + ",s=AA==,i=4096"
            #expect(throws: MongoFailure.self) { try client.challenge(Array(long.utf8)) }
        }

        @Test func `a name's commas and equals signs are escaped`() {
            let client = ScramClient(user: "a=b,c", nonce: "n")
            #expect(client.first == Array("n,,n=a=3Db=2Cc,r=n".utf8))
        }

        @Test func `nonces differ and have no comma`() {
            let nonces = Set((0..<100).map { _ in ScramClient.newNonce() })
            #expect(nonces.count == 100)
            #expect(!nonces.contains { $0.contains(",") })
        }

        @Test func `a token's subject is its name`() {
            // {"sub":"ann?~"}
            #expect(Handshake.subject(of: "e30.eyJzdWIiOiJhbm4_fiJ9.c2ln") == "ann?~")
            for text in ["", "a.b", "e30.e30.c2ln", "e30.*.c2ln", "a.b.c.d"] {
                #expect(Handshake.subject(of: text) == nil)
            }
        }
    }
#endif
