import BSONStore
import Testing

@testable import StitchServer

/// Without these a gateway would tell a user that rules deny a write which only has to be repeated.
@Suite struct UpstreamWriterTests {
    /// An upstream that gives one answer to all commands.
    private struct OneAnswer: Upstream {
        let reply: BSONDocument

        func run(
            _ command: BSONDocument, on database: String, _ kind: UpstreamCommandKind
        ) throws(UpstreamFailure) -> BSONDocument { reply }

        func openSession() throws(UpstreamFailure) -> any UpstreamSession {
            throw UpstreamFailure(.unreachable, code: 6, "there are no sessions")
        }
    }

    private static let items = Namespace("shop", "items")

    /// Sends an insert to an upstream that refuses it with a code.
    private static func send(refusedWith code: Int32) throws -> UpstreamWriter.Outcome {
        let server = ServerContext(settings: ServerSettings())
        let connection = ClientConnection(id: 1, peer: "127.0.0.1:1", local: "localhost:27017")
        let call = CommandCall(
            name: "insert", givenName: "insert", body: ["insert": "items"], sequences: [:],
            database: "shop", connection: connection, server: server, budget: WorkBudget(),
            session: nil, transaction: nil, snapshot: nil, allowsExhaust: false)
        let error: BSONDocument = ["index": 0, "code": .int32(code), "errmsg": "no"]
        let upstream = OneAnswer(reply: ["ok": 1.0, "n": 0, "writeErrors": [.document(error)]])
        let link = UpstreamLink(upstream: upstream, server: server, metrics: UpstreamMetrics())
        let writer = UpstreamWriter(
            link: link, call: call, isConditional: true, hasCollation: { _ in false })
        return try writer.send([
            StoreChange(
                position: 1, namespace: items, kind: .insert, before: nil, after: ["_id": 1],
                remarks: nil)
        ])
    }

    @Test(
        "an error of the upstream's state is the command's, not the document's",
        arguments: [6, 91, 112, 189, 50])
    func passing(code: Int32) throws {
        let error = #expect(throws: CommandFailure.self) { try Self.send(refusedWith: code) }
        #expect(error?.code == code)
    }

    @Test("an error about the document is a refusal", arguments: [121, 11_000, 16_500])
    func lasting(code: Int32) throws {
        guard case .stopped(0, .refused(let fault)) = try Self.send(refusedWith: code) else {
            Issue.record("it is not refused")
            return
        }
        #expect(fault.code == code)
    }
}
