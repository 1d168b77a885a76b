import BSONStore
import Foundation
import TestProcesses
import Testing

@testable import StitchServer

/// A person who forgot the password must receive a token, and a stranger must learn nothing.
@Suite(.timeLimit(.minutes(30))) struct PasswordMailTests {
    /// Writes each line that it reads to a file, and says what it read.
    private static let script = """
        #!/bin/sh
        read -r line
        echo "$line" >> "$1"
        echo "mailed $line"
        """

    /// Lends the first and the last port of servers with the users `ann` and `ben`, and the file of
    /// sent tokens.
    private static func lend(
        _ place: RuledWorld.Place, _ more: [String] = [],
        _ body: @escaping @Sendable (_ ports: [Int], _ mails: URL) throws -> Void
    ) async throws {
        try await OpenRules.lend(["mail": script]) { rules in
            let folder = URL(filePath: rules)
            let (program, mails) = (folder.appending(path: "mail"), folder.appending(path: "sent"))
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o700], ofItemAtPath: program.path)
            let arguments = [
                "--auth", "--rules", rules, "--sign-up", "--password-mail", program.path,
                "--password-mail-argument", mails.path,
            ]
            try await RuledWorld.lend(place, arguments + more) { ports in
                for name in ["ann", "ben"] {
                    try stranger(ports[0]).run([
                        "stitchsyncSignUp": .string(name), "pwd": "first password",
                    ])
                }
                try body([ports[0], ports[ports.count - 1]], mails)
            }
        }
    }

    private static func stranger(_ port: Int) throws -> ServerClient {
        try ServerClient(port: port, database: "app")
    }

    private static func request(_ name: String) -> BSONDocument {
        ["stitchsyncRequestPasswordToken": .string(name)]
    }

    /// Waits for a number of sent tokens and returns them.
    private static func sent(_ count: Int, _ mails: URL) throws -> [BSONDocument] {
        let end = ContinuousClock.now + .seconds(60)
        while ContinuousClock.now < end {
            guard FileManager.default.fileExists(atPath: mails.path) else { continue }
            let lines = try String(contentsOf: mails, encoding: .utf8).split(separator: "\n")
            if lines.count >= count {
                return try lines.map { try BSONDocument(extendedJSON: String($0)) }
            }
        }
        return []
    }

    @Test(
        "Who asks receives a token that sets the password; for a stranger nothing differs",
        arguments: RuledWorld.Place.allCases)
    func sends(place: RuledWorld.Place) async throws {
        try await Self.lend(place) { ports, mails in
            let door = try Self.stranger(ports[1])
            let hello = try door.run(["hello": 1], on: "admin")
            #expect(hello["stitchsync"]?.documentValue?["passwordMail"] == 1)
            func fields(_ name: String) throws -> [String] {
                try door.run(Self.request(name)).map(\.key)
            }
            let unknown = try fields("zoe")
            #expect(try fields("ann") == unknown)
            // The second one in five minutes is not sent.
            #expect(try fields("ann") == unknown)
            #expect(try fields("ben") == unknown)
            let sent = try Self.sent(2, mails)
            #expect(sent.map { $0["user"] } == ["ann", "ben"], "\(sent)")
            #expect(sent.allSatisfy { $0["database"] == "app" })
            #expect(sent.allSatisfy { $0["expires"]?.stringValue?.hasSuffix("Z") == true })
            let set: BSONDocument = [
                "stitchsyncSetPassword": "ann", "token": sent.first?["token"] ?? .null,
                "pwd": "second password",
            ]
            try Self.stranger(ports[0]).run(set)
            let ann = try ServerClient(
                port: ports[1], database: "app", user: "ann", password: "second password",
                of: "app")
            try ann.run(["find": "notes"])
            for database in ["admin", "$external"] {
                #expect(try door.reply(Self.request("root"), on: database)["code"] == 2)
            }
        }
    }

    @Test("Requests have a limit of their own, and need --password-mail")
    func limit() async throws {
        try await Self.lend(.file, ["--sign-ups-per-address", "2"]) { ports, mails in
            let door = try Self.stranger(ports[0])
            #expect(
                try door.reply(["stitchsyncSignUp": "cid", "pwd": "long enough"])["code"] == 462)
            for name in ["zoe", "ann"] { try door.run(Self.request(name)) }
            let refused = try door.reply(Self.request("ben"))
            #expect(refused["code"] == 462, "\(refused)")
            let sent = try Self.sent(1, mails)
            #expect(sent.map { $0["user"] } == ["ann"])
        }
        try await ServerProcess.run(["--auth"]) { server in
            let refused = try Self.stranger(server.port).reply(Self.request("ann"))
            #expect(refused["code"] == 59)
        }
    }

    @Test("The log holds what the program says, but no token, and a disabled user receives none")
    func log() throws {
        let lines = Locked<[String]>([])
        let sent = Locked<[String]>([])
        var settings = ServerSettings()
        settings.requiresSignIn = true
        settings.log = ServerLog { _, text in lines.withLock { $0.append(text) } }
        settings.passwordMail = PasswordMail { message in
            sent.withLock { $0.append(message.token) }
            guard message.user == "ann" else {
                throw ProgramFailure(reason: "no address for \(message.token)")
            }
            return "mailed\n\(message.token)"
        }
        let server = try OfflineServer(settings, isLoopback: true)
        /// Signs the administrator in, who is not stored and so is signed out by each change of users.
        func becomeRoot(_ generation: Int) {
            server.become(
                SignedInUser(
                    name: "root", database: "admin",
                    roles: [Role(name: "root", database: "admin")], generation: generation))
        }
        for (index, name) in ["ann", "ben", "cid"].enumerated() {
            becomeRoot(index + 1)
            let user: BSONDocument = [
                "createUser": .string(name), "pwd": "first password", "roles": [], "$db": "app",
            ]
            #expect(server.answer(command: user)?["ok"] == 1.0)
        }
        becomeRoot(4)
        let disabled: BSONDocument = ["updateUser": "cid", "disabled": true, "$db": "app"]
        #expect(server.answer(command: disabled)?["ok"] == 1.0)
        server.become(nil)
        for name in ["cid", "ann", "ben"] {
            var command = Self.request(name)
            command.append("$db", "app")
            #expect(server.answer(command: command)?["ok"] == 1.0)
        }
        let end = ContinuousClock.now + .seconds(60)
        func logged() -> [String] {
            lines.withLock { $0.filter { $0.contains(" send") || $0.hasPrefix("sent") } }
        }
        while logged().count < 2, ContinuousClock.now < end {}
        let tokens = sent.withLock { $0 }
        #expect(tokens.count == 2)
        let text = lines.withLock { $0.joined(separator: "\n") }
        #expect(!tokens.contains { text.contains($0) }, "\(text)")
        #expect(
            logged() == [
                "sent a token for a new password: mailed; (hidden)",
                "cannot send a token for a new password: "
                    + "ProgramFailure(reason: \"no address for (hidden)\")",
            ])
    }
}
