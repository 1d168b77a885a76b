import BSONStore
import Foundation
import Testing

@testable import StitchServer

/// Who may not come in must not learn who may.
@Suite(.timeLimit(.minutes(30))) struct StandInTests {
    private static func mechanisms(
        _ name: String, _ server: OfflineServer, on database: String = "admin"
    ) -> BSONValue? {
        server.answer(command: [
            "hello": 1, "$db": "admin", "saslSupportedMechs": .string("\(database).\(name)"),
        ])?["saslSupportedMechs"]
    }

    private static func make(
        _ name: String, _ mechanisms: BSONArray, _ server: OfflineServer
    ) {
        let answer = server.answer(command: [
            "createUser": .string(name), "$db": "admin", "pwd": "pw", "roles": [],
            "mechanisms": .array(mechanisms),
        ])
        #expect(answer?["ok"] == 1.0)
    }

    @Test("a user who does not exist has mechanisms as one who does, and always the same")
    func mechanisms() throws {
        let server = try OfflineServer(requiresSignIn: false)
        let names = (0..<60).map { "nobody\($0)" }
        let both: BSONValue = ["SCRAM-SHA-1", "SCRAM-SHA-256"]
        let one: BSONValue = ["SCRAM-SHA-256"]
        #expect(names.allSatisfy { Self.mechanisms($0, server) == both })
        Self.make("ann", ["SCRAM-SHA-256"], server)
        #expect(Self.mechanisms("ann", server) == one)
        #expect(names.allSatisfy { Self.mechanisms($0, server) == one })
        Self.make("ben", ["SCRAM-SHA-1", "SCRAM-SHA-256"], server)
        let told = names.map { Self.mechanisms($0, server) }
        #expect(told.contains(one) && told.contains(both))
        #expect(told.allSatisfy { $0 == one || $0 == both })
        #expect(names.map { Self.mechanisms($0, server) } == told)
        // The users of other databases have the same kinds.
        #expect(names.contains { Self.mechanisms($0, server, on: "shop") == one })
    }

    @Test("a sign-in that begins with the first message is answered at once, whoever it is")
    func speculation() throws {
        let server = try OfflineServer(requiresSignIn: false)
        Self.make("ann", ["SCRAM-SHA-256"], server)
        for name in ["ann", "nobody"] {
            let answer = server.answer(command: [
                "hello": 1, "$db": "admin",
                "speculativeAuthenticate": [
                    "saslStart": 1, "mechanism": "SCRAM-SHA-256", "db": "admin",
                    "payload": .binary(BSONBinary(Array("n,,n=\(name),r=abcdef".utf8))),
                ],
            ])
            let started = answer?["speculativeAuthenticate"]?.documentValue
            #expect(started?["conversationId"] != nil && started?["done"] == false, "\(name)")
        }
    }

    @Test("the salt of a user who does not exist stays over a restart, as that of one who does")
    func salts() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "salts-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        var salts: [String: [String]] = [:]
        for _ in 0..<2 {
            let store = try DocumentStore(
                at: .file(folder.appending(path: "store").path),
                options: .init(changeHistory: .keep(changesMax: 100)))
            let server = ServerContext(settings: ServerSettings())
            let backend = try StoreBackend(store: store, server: server)
            for name in ["nobody", "noone"] {
                salts[name, default: []].append(try Self.salt(name, backend))
            }
            backend.close()
        }
        for name in ["nobody", "noone"] { #expect(salts[name]?[0] == salts[name]?[1]) }
        #expect(salts["nobody"] != salts["noone"])
        try FileManager.default.removeItem(at: folder)
    }

    @Test("a sign-in takes the same steps whether the user exists, has the mechanism, or not")
    func steps() throws {
        let store = try DocumentStore(
            at: .inMemory, options: .init(changeHistory: .keep(changesMax: 100)))
        let backend = try StoreBackend(
            store: store, server: ServerContext(settings: ServerSettings()))
        defer { backend.close() }
        for (name, mechanisms) in [("ann", [ScramMechanism.sha256]), ("ben", [.sha1])] {
            var user = User(name: name, database: "admin")
            try user.setPassword("pw", mechanisms)
            try store.write { [user] in try $0.put(User.namespace, user.stored) }
        }
        let taken = Locked<[String]>([])
        let usual = CredentialSteps()
        var signIn = backend.signIn
        signIn.steps = CredentialSteps(
            read: { records, id in
                taken.withLock { $0.append("read") }
                return try usual.read(records, id)
            },
            decode: { document in
                let user = usual.decode(document)
                taken.withLock { $0.append("decode \(user?.credentials.isEmpty == false)") }
                return user
            },
            derive: { mechanism, id, secret in
                taken.withLock { $0.append("derive") }
                return try usual.derive(mechanism, id, secret)
            })
        for name in ["ann", "ben", "nobody"] {
            let credential = try signIn.credential(.sha256, of: User.id(name, "admin"))
            #expect(credential.storedKey.count == 32 && credential.serverKey.count == 32)
            #expect(taken.withLock { $0 } == ["read", "decode true", "derive"], "\(name)")
            taken.withLock { $0 = [] }
            _ = try signIn.mechanisms(name, "admin")
            #expect(taken.withLock { $0 } == ["read", "decode true"], "\(name)")
            taken.withLock { $0 = [] }
        }
        let made = try signIn.credential(.sha1, of: User.id("nobody", "admin"))
        #expect(made.storedKey.count == 20 && made.salt.count == 16)
    }

    private static func salt(_ name: String, _ backend: StoreBackend) throws -> String {
        let connection = ClientConnection(id: 1, peer: "192.0.2.1:1", local: "localhost:27017")
        let answer = try backend.signIn.start(
            [
                "saslStart": 1, "mechanism": "SCRAM-SHA-256",
                "payload": .binary(BSONBinary(Array("n,,n=\(name),r=abc".utf8))),
            ], database: "admin", connection, began: .now)
        let payload = String(decoding: try SaslPayload.bytes(answer["payload"]), as: UTF8.self)
        return try #require(payload.split(separator: ",").first { $0.hasPrefix("s=") }).description
    }
}
