import BSONStore
import Testing

@testable import StitchServer

/// Without these a gateway would tell a user that rules deny a write which only has to be repeated.
@Suite struct UpstreamWriterTests {
    /// An upstream that gives one answer to all commands.
    private struct OneAnswer: Upstream {
        let reply: BSONDocument

        func run(
            _ command: BSONDocument, on database: String, _ kind: UpstreamCommandKind,
            for caller: UpstreamCaller
        ) throws(UpstreamFailure) -> BSONDocument { reply }

        func place(for caller: UpstreamCaller) throws(UpstreamFailure) -> any UpstreamPlace {
            throw UpstreamFailure(.unreachable, code: 6, "there are no places")
        }

        func openSession(
            for caller: UpstreamCaller
        ) throws(UpstreamFailure) -> any UpstreamSession {
            throw UpstreamFailure(.unreachable, code: 6, "there are no sessions")
        }
    }

    private static let items = Namespace("shop", "items")

    /// Sends an insert to an upstream that refuses it with a code.
    private static func send(refusedWith code: Int32) throws -> UpstreamWriter.Outcome {
        try send(answeredBy: [
            "ok": 1.0, "n": 0,
            "writeErrors": [["index": 0, "code": .int32(code), "errmsg": "no"]],
        ])
    }

    /// Sends inserts to an upstream that answers in one way.
    private static func send(
        _ count: Int32 = 1, answeredBy reply: BSONDocument
    ) throws -> UpstreamWriter.Outcome {
        let server = ServerContext(settings: ServerSettings())
        let connection = ClientConnection(id: 1, peer: "127.0.0.1:1", local: "localhost:27017")
        let call = CommandCall(
            signature: InsertCommand.definition.signature, givenName: "insert",
            body: ["insert": "items"], sequences: [:],
            database: "shop", connection: connection, server: server, budget: WorkBudget(),
            session: nil, transaction: nil, snapshot: nil, allowsExhaust: false)
        let upstream = OneAnswer(reply: reply)
        let link = UpstreamLink(upstream: upstream, server: server, metrics: UpstreamMetrics())
        let writer = UpstreamWriter(
            link: link, call: call, isConditional: true, hasCollation: { _ in false })
        return try writer.send(
            (0..<count).map { id in
                StoreChange(
                    position: 1, namespace: items, kind: .insert, before: nil,
                    after: ["_id": .int32(id)], remarks: nil)
            })
    }

    @Test(
        "an upstream that does not say which statement failed is an error",
        arguments: [.int32(1), .int32(-1), .int64(.max), .int64(.min), "0", .null] as [BSONValue])
    func unknownStatement(index: BSONValue) throws {
        let error = #expect(throws: CommandFailure.self) {
            try Self.send(answeredBy: [
                "ok": 1.0, "n": 0,
                "writeErrors": [["index": index, "code": 11_000, "errmsg": "no"]],
            ])
        }
        #expect(error?.code == 1)
    }

    @Test("results of writes that succeeded stay whole, however many there are")
    func manyResults() {
        let count = 30_000
        let results = (0..<count).map { index -> BSONValue in
            ["ok": 1.0, "idx": .int32(Int32(index)), "n": 1, "nModified": 1]
        }
        var tally = StatementTally(.mixed)
        tally.add(
            ["cursor": ["firstBatch": .array(BSONArray(results))]], at: Array(0..<count))
        let told = tally.reply["cursor"]?.documentValue?["firstBatch"]?.arrayValue
        #expect(told == BSONArray(results))
        #expect(!tally.hasErrors)
    }

    @Test("no count of an upstream ends the process", arguments: [.min, -1, .max] as [Int64])
    func wrongCounts(count: Int64) throws {
        _ = try Self.send(2, answeredBy: ["ok": 1.0, "n": .int64(count)])
        var tally = StatementTally(.inserts)
        for place in 0..<3 { tally.add(["n": .int64(count)], at: [place]) }
        #expect(tally.reply["n"] == .int32(count > 0 ? .max : 0))
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
