import BSONStore
import Testing

@testable import StitchServer

/// A command that forgets to ask who calls it gives the data to everybody.
@Suite struct StrangerTests {
    @Test("Strangers are answered only what is open to strangers", arguments: ["admin", "shop"])
    func refusal(database: String) throws {
        let server = try OfflineServer(requiresSignIn: true)
        for rule in CommandTable.rules where !rule.traits.contains(.unauthenticated) {
            for target: BSONValue in [1, "items"] {
                let answer = server.answer(command: [
                    rule.name: target, "$db": .string(database),
                ])
                #expect(answer?["ok"] != 1.0, "\(rule.name)")
            }
        }
        let count = CommandTable.rules.count { $0.traits.contains(.unauthenticated) }
        #expect(count < 15, "few commands are open to strangers")
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
