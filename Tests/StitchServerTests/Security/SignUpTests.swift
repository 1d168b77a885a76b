import BSONStore
import Foundation
import StitchWire
import TestProcesses
import Testing

@testable import StitchServer

/// A stranger who makes an account gets what the rules give, and no one else's account.
@Suite(.timeLimit(.minutes(30))) struct SignUpTests {
    private static func command(
        _ name: String, _ password: String = "long enough", on database: String = "app"
    ) -> BSONDocument {
        [
            "stitchsyncSignUp": .string(name), "pwd": .string(password),
            "$db": .string(database),
        ]
    }

    private static func settings(_ rules: String) throws -> ServerSettings {
        var settings = ServerSettings()
        settings.requiresSignIn = true
        settings.rules = try ReloadableRules(folder: rules)
        settings.signUps = SignUpLimits()
        return settings
    }

    @Test("Who signs up can sign in, also after a restart, and has what the rules give")
    func signUp() async throws {
        try await OpenRules.lend { rules in
            let arguments = ["--auth", "--rules", rules, "--sign-up"]
            try await ServerProcess.run(arguments) { server in
                let stranger = try ServerClient(port: server.port, database: "app")
                let hello = try stranger.run(["hello": 1], on: "admin")
                #expect(hello["stitchsync"]?.documentValue?["signUp"] == 1)
                let signUp: BSONDocument = ["stitchsyncSignUp": "ann", "pwd": "long enough"]
                try stranger.run(signUp)
                #expect(try stranger.reply(signUp)["code"] == 51_003)
                // It is not signed in.
                #expect(try stranger.reply(["find": "notes"])["code"] == 13)
                let (port, id) = (server.port, BSONValue.string(":app.ann"))
                let ann = try Self.signedIn(port)
                try ann.insert([["_id": 1, "owner": id]], into: "notes")
                let forged = try ann.reply([
                    "insert": "notes", "documents": [["_id": 2, "owner": "ann"]],
                ])
                #expect(ServerRefusal.error(of: forged)?["code"] == 13, "\(forged)")
                #expect(try ann.reply(["usersInfo": 1])["code"] == 13)
                #expect(try ann.reply(["find": "system.users"], on: "admin")["code"] == 13)
                try server.restart(SIGTERM, arguments)
                let again = try Self.signedIn(server.port)
                #expect(try again.documents(["find": "notes"]).count == 1)
                // Without rules a user without roles may do nothing.
                try server.restart(SIGTERM, ["--auth"])
                let plain = try Self.signedIn(server.port)
                #expect(try plain.reply(["find": "notes"])["code"] == 13)
                #expect(try plain.reply(signUp)["code"] == 59)
            }
        }
    }

    private static func signedIn(_ port: Int) throws -> ServerClient {
        try ServerClient(
            port: port, database: "app", user: "ann", password: "long enough", of: "app")
    }

    @Test("Names, passwords and databases outside of the limits are refused")
    func arguments() async throws {
        try await OpenRules.lend { rules in
            let server = try OfflineServer(try Self.settings(rules), isLoopback: true)
            let long = String(repeating: "é", count: 64)
            var refused = [
                Self.command(""), Self.command("a\0b"), Self.command(long + "x"),
                Self.command("ann", "7 bytes"), Self.command("ann", "long\0enough"),
                Self.command("ann", String(repeating: "x", count: 1_025)),
                ["stitchsyncSignUp": 1, "pwd": "long enough", "$db": "app"],
            ]
            for database in ["admin", "$external", "config", "local"] {
                refused.append(Self.command("ann", on: database))
            }
            for command in refused {
                #expect(server.answer(command: command)?["code"] == 2, "\(command)")
            }
            #expect(server.answer(command: Self.command("ann", on: "$anonymous"))?["code"] == 73)
            // Refused ones do not count.
            for name in [long, "e\u{301}", "é", ":x", "ann"] {
                #expect(server.answer(command: Self.command(name))?["ok"] == 1.0, "\(name)")
            }
            let password = String(repeating: "x", count: 1_024)
            #expect(server.answer(command: Self.command("ben", password))?["ok"] == 1.0)
        }
    }

    @Test("A stranger of another machine needs TLS, and a server must allow sign-ups")
    func closed() async throws {
        try await OpenRules.lend { rules in
            var settings = try Self.settings(rules)
            let remote = try OfflineServer(settings)
            #expect(remote.answer(command: Self.command("ann"))?["code"] == 13)
            settings.signUps = nil
            let closed = try OfflineServer(settings, isLoopback: true)
            #expect(closed.answer(command: Self.command("ann"))?["code"] == 59)
        }
    }

    @Test("Beyond the limit sign-ups are refused, also those for names that are taken")
    func limit() async throws {
        try await OpenRules.lend { rules in
            var settings = try Self.settings(rules)
            settings.signUps = SignUpLimits(ofAddress: 3, inAll: 100)
            let server = try OfflineServer(settings, isLoopback: true)
            #expect(server.answer(command: Self.command("ann"))?["ok"] == 1.0)
            for _ in 0..<2 {
                #expect(server.answer(command: Self.command("ann"))?["code"] == 51_003)
            }
            let answer = server.answer(command: Self.command("ben"))
            #expect(answer?["code"] == 462, "\(String(describing: answer))")
            #expect((answer?["retryAfterSeconds"]?.wholeNumber ?? 0) > 0)
        }
    }

    @Test("Each attempt writes one line, refused or not, without names and passwords")
    func log() async throws {
        try await OpenRules.lend { rules in
            let lines = Locked<[String]>([])
            var settings = try Self.settings(rules)
            settings.allowsAnonymous = true
            settings.signUps = SignUpLimits(ofAddress: 3, inAll: 100)
            settings.passwordMail = PasswordMail(
                limits: SignUpLimits(ofAddress: 3, inAll: 100)
            ) { _ in "" }
            settings.log = ServerLog { level, text in
                // How long a key takes depends on the machine.
                guard !text.hasPrefix("slow command") else { return }
                lines.withLock { $0.append("\(level) \(text)") }
            }
            let server = try OfflineServer(settings, isLoopback: true)
            func expect(_ line: String, _ code: BSONValue?, _ command: BSONDocument) {
                lines.withLock { $0 = [] }
                var command = command
                if command["$db"] == nil { command.append("$db", "app") }
                let reply = server.answer(command: command)
                #expect(reply?["code"] == code, "\(command) \(reply ?? [:])")
                #expect(lines.withLock { $0 } == [line], "\(command)")
            }
            func refusal(_ command: String, _ name: String) -> String {
                "warning \(command) was refused on connection 1 from 192.0.2.1:1: \(name)"
            }
            let request: BSONDocument = ["stitchsyncRequestPasswordToken": "zoe"]
            expect(
                refusal("stitchsyncSignUp", "BadValue"), 2, Self.command("ann", "7 bytes"))
            expect("info a user signed up on connection 1", nil, Self.command("ann"))
            expect(refusal("stitchsyncSignUp", "Location51003"), 51_003, Self.command("ann"))
            let guest = SignedInUser(name: "0123", database: "$anonymous", roles: [])
            server.become(guest)
            let register: BSONDocument = ["stitchsyncRegister": "ann", "pwd": "long enough"]
            expect(refusal("stitchsyncRegister", "Location51003"), 51_003, register)
            expect(
                refusal("stitchsyncRegister", "IngressRequestRateLimitExceeded"), 462, register)
            expect(
                refusal("stitchsyncChangePassword", "IllegalOperation"), 20,
                ["stitchsyncChangePassword": 1, "old": "long enough", "pwd": "long enough"])
            expect(
                refusal("stitchsyncSignOutEverywhere", "IllegalOperation"), 20,
                ["stitchsyncSignOutEverywhere": 1])
            expect(
                refusal("stitchsyncEndSession", "NoSuchSession"), 206,
                ["stitchsyncEndSession": 7])
            server.become(nil)
            expect(
                refusal("stitchsyncSignUp", "IngressRequestRateLimitExceeded"), 462,
                Self.command("ben"))
            for _ in 0..<3 {
                expect("info connection 1 asked for a token for a new password", nil, request)
            }
            expect(
                refusal("stitchsyncRequestPasswordToken", "IngressRequestRateLimitExceeded"), 462,
                request)
            expect(
                refusal("stitchsyncSetPassword", "BadValue"), 2,
                ["stitchsyncSetPassword": "ann", "token": "x", "pwd": "7 bytes"])
        }
    }

    @Test(
        "Of two sign-ups of one name one succeeds, also at two gateways",
        arguments: RuledWorld.Place.allCases)
    func race(place: RuledWorld.Place) async throws {
        try await OpenRules.lend { rules in
            let arguments = ["--auth", "--rules", rules, "--sign-up"]
            try await RuledWorld.lend(place, arguments) { ports in
                let clients = try [ports[0], ports[ports.count - 1]].map {
                    try ServerClient(port: $0, database: "app")
                }
                let signUp: BSONDocument = ["stitchsyncSignUp": "ann", "pwd": "long enough"]
                for client in clients { client.send(signUp) }
                let answers = try clients.map { try $0.answer() }
                #expect(answers.count { $0["ok"] == 1.0 } == 1, "\(answers)")
                #expect(answers.count { $0["code"] == 51_003 } == 1, "\(answers)")
                _ = try Self.signedIn(ports[0])
            }
        }
    }

    @Test("The record of an hour has its limits, for an address and in all, and forgets")
    func record() throws {
        let time = Locked(ContinuousClock.now)
        let record = SignUpRecord(SignUpLimits(ofAddress: 2, inAll: 5)) { time.withLock { $0 } }
        func isAdmitted(_ peer: String) -> Bool {
            do throws(CommandFailure) {
                try record.admit(peer: peer)
                return true
            } catch {
                #expect(error.code == 462)
                return false
            }
        }
        // The addresses of one network of IPv6 are one.
        let peers = ["[2001:db8:0:1::1]:1", "[2001:db8:0:1::2]:2", "[2001:db8:0:1::3]:3"]
        #expect(peers.map(isAdmitted) == [true, true, false])
        time.withLock { $0 += .seconds(1_800) }
        let others = (0..<1_000).map { isAdmitted("192.0.2.\($0):1") }
        #expect(others.count { $0 } == 3 && record.count == 5)
        time.withLock { $0 += .seconds(1_800) }
        #expect(peers.map(isAdmitted) == [true, true, false], "the first two are forgotten")
        #expect(record.count == 5)
    }

    @Test("The answer comes at the same time, whether the name is taken or not")
    func sameDelay() async throws {
        try await OpenRules.lend { rules in
            let server = ServerContext(settings: try Self.settings(rules))
            let store = try DocumentStore(
                at: .inMemory, options: .init(changeHistory: .keep(changesMax: 100)))
            let backend = try StoreBackend(store: store, server: server)
            let dispatcher = Dispatcher(server: server, backend: backend)
            let connection = ClientConnection(id: 1, peer: "127.0.0.1:1", local: "localhost:1")
            var codes: [BSONValue?] = []
            for _ in 0..<2 {
                let start = ContinuousClock.now
                let request = WireRequest(
                    requestID: 1, form: .message([]), body: Self.command("ann"))
                var outcome = dispatcher.respond(to: request, on: connection)
                if case .blocking(let step) = outcome { outcome = step() }
                guard case .waiting(let wait) = outcome else {
                    Issue.record("answered at once")
                    break
                }
                #expect(wait.deadline >= start + StitchsyncSignUpCommand.replyDelay)
                if case .reply(let reply) = try wait.again(true) { codes.append(reply["code"]) }
            }
            #expect(codes == [nil, 51_003])
            // A command that waits is counted once, with its answer.
            let counted = server.metrics.all.first { $0.name == "stitchsyncSignUp" }?.calls
            #expect(counted?.count == 2 && counted?.failures == 1)
            backend.close()
        }
    }
}
