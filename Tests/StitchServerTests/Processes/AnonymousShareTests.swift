import BSONStore
import Foundation
import TestProcesses
import Testing

/// A device can be any number of anonymous users: none of them must take what all others need.
@Suite(.timeLimit(.minutes(20))) struct AnonymousShareTests {
    private static let sessions: BSONDocument = {
        let ids = (0..<50_000).map { number -> BSONValue in
            let bytes = withUnsafeBytes(of: Int64(number)) { Array($0) }
            return ["id": .binary(BSONBinary(bytes + bytes, subtype: 4))]
        }
        return ["refreshSessions": .array(BSONArray(ids))]
    }()

    @Test(
        "The sessions of anonymous users count by address, and leave room for others",
        arguments: RuledWorld.Place.allCases)
    func sessions(place: RuledWorld.Place) async throws {
        try await place.lend(RuledWorld.arguments + ["--anonymous"]) { ports in
            let port = ports[0]
            try await BlockingThread.run {
                try ServerClient(port: port, database: "shop").run(
                    ["createUser": "root", "pwd": "pw", "roles": ["root"]], on: "admin")
                var codes: [Int64?] = []
                for secret in 1...2 as ClosedRange<UInt8> {
                    let device = try ServerClient(port: port, database: "shop")
                    let signedIn = try device.signInAnonymously(
                        Array(repeating: secret, count: 32))
                    #expect(signedIn["ok"] == 1.0, "\(signedIn)")
                    codes.append(
                        try device.reply(Self.sessions, on: "admin")["code"]?.int64Value)
                }
                #expect(codes == [nil, 261])
                let root = try ServerClient(port: port, database: "shop", user: "root")
                var insert: BSONDocument = ["insert": "items", "documents": [["_id": 1]]]
                insert.append("lsid", .document(ServerSession(1).document))
                try root.run(insert)
            }
        }
    }
}
