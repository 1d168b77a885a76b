import BSONStore
import Testing

@testable import StitchServer

/// A reply that no message can hold would be sent to a driver that closes the connection.
@Suite struct ReplySizeTests {
    @Test("A reply that is larger than a message is an error")
    func tooLarge() throws {
        let server = try OfflineServer(requiresSignIn: false)
        let long = BSONValue.string(String(repeating: "x", count: 13_000_000))
        let all: BSONDocument = ["usersInfo": ["forAllDBs": true], "$db": "admin"]
        for number in 1...4 {
            let made = server.answer(command: [
                "createUser": .string("u\(number)"), "$db": "admin", "pwd": "pw", "roles": [],
                "mechanisms": ["SCRAM-SHA-256"], "customData": ["long": long],
            ])
            #expect(made?["ok"] == 1.0, "\(made?["errmsg"] ?? .null)")
            let shown = server.answer(command: all)
            #expect(shown?["code"] == (number < 4 ? nil : 10_334))
            #expect(shown?["users"]?.arrayValue?.count == (number < 4 ? number : nil))
        }
    }
}
