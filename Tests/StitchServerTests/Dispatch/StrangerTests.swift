import BSONStore
import Testing

@testable import StitchServer

/// A command that forgets to ask who calls it gives the data to everybody.
@Suite struct StrangerTests {
    @Test("Strangers are answered only what is open to strangers", arguments: ["admin", "shop"])
    func refusal(database: String) throws {
        let server = try OfflineServer(requiresSignIn: true)
        for definition in CommandTable.all where !definition.traits.contains(.unauthenticated) {
            for target: BSONValue in [1, "items"] {
                let answer = server.answer(command: [
                    definition.name: target, "$db": .string(database),
                ])
                #expect(answer?["ok"] != 1.0, "\(definition.name)")
            }
        }
        let count = CommandTable.all.count { $0.traits.contains(.unauthenticated) }
        #expect(count < 15, "few commands are open to strangers")
    }

    @Test("A stranger's messages are small, and sessions of strangers are not kept")
    func memory() throws {
        let long: [UInt8] = [255, 255, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 221, 7, 0, 0]
        for (isStranger, answer) in [(true, false), (false, true)] {
            let server = try OfflineServer(requiresSignIn: isStranger)
            #expect(long.withUnsafeBytes { server.answer($0) }.goesOn == answer)
            let session: BSONValue = ["id": .binary(BSONBinary(Array(1...16), subtype: 4))]
            let command: BSONDocument = ["endSessions": [], "$db": "admin", "lsid": session]
            #expect(server.answer(command: command)?["ok"] == 1.0)
            #expect(server.sessionCount == (isStranger ? 0 : 1))
        }
    }

    @Test("A long name takes no more memory than others when its password is wrong")
    func longNames() {
        let key = SignInDelay.key(
            user: String(repeating: "é", count: 1 << 20), database: "app", peer: "192.0.2.1:1")
        #expect(key.utf8.count < 1_000)
        let other = SignInDelay.key(user: "ann", database: "app", peer: "192.0.2.1:1")
        #expect(other == "192.0.2.1 app.ann")
    }

    @Test("Half a message is waited for, and what is none closes the connection")
    func framing() throws {
        let server = try OfflineServer(requiresSignIn: false)
        let half: [UInt8] = [60, 0, 0, 0, 1, 0, 0, 0]
        let waits = half.withUnsafeBytes { server.answer($0) }
        #expect(waits.bytes.isEmpty && waits.goesOn)
        let absurd: [UInt8] = [255, 255, 255, 127] + Array(repeating: 0, count: 12)
        let closed = absurd.withUnsafeBytes { server.answer($0) }
        #expect(closed.bytes.isEmpty && !closed.goesOn)
    }
}
