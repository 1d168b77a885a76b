import BSONStore
import Foundation
import TestProcesses
import Testing

@testable import StitchServer

/// Requests that wait for a thread are in memory: one user must not send more of them than is foreseen.
@Suite(.timeLimit(.minutes(20)), .serialized) struct WaitingRequestTests {
    /// The time in which refusals arrive; debug builds beside other tests are slow.
    private static let allowed: Duration = .seconds(100)

    /// What occupies the threads.
    enum Work: String, CaseIterable, Sendable {
        case reads, writes

        /// A command that takes minutes.
        var command: BSONDocument {
            ExpensiveRequest.aggregate(
                ExpensiveRequest.joins + (self == .writes ? [["$merge": "merged"]] : []))
        }
    }

    /// The threads that one address may have.
    private static let most = {
        let bound = WorkShares<Int>.Bounds.usual(common: ServerSettings().threadsMax)
        return (bound.threads[.common] ?? 0) / 2
    }()

    /// Lends a server on which slow commands take all threads of this address.
    private static func occupied(
        by work: Work,
        _ body: @escaping @Sendable (_ port: Int, _ client: ServerClient) throws -> Void
    ) async throws {
        // The first message of a connection may be a large one.
        try await ServerProcess.run(["--handshake-timeout", "100"]) { server in
            let port = server.port
            try await BlockingThread.run {
                let client = try ServerClient(port: port, database: "served")
                try client.insert(ExpensiveRequest.documents, into: "items")
                let slow = try (0..<most).map { _ in
                    try ServerClient(port: port, database: "served")
                }
                for one in slow { one.send(work.command) }
                let name = "aggregate"
                let end = ContinuousClock.now + allowed
                while try client.operations(name).count < most {
                    guard .now < end else { throw ProgramFailure(reason: "\(name) does not run") }
                }
                try body(port, client)
                withExtendedLifetime(slow) {}
            }
        }
    }

    /// Sends a message on connections of their own, and counts those that are refused.
    private static func refused(
        _ message: [UInt8], _ count: Int, port: Int, until enough: Int
    ) throws -> Int {
        let clients = try (0..<count).map { _ in
            try ServerClient(port: port, database: "served")
        }
        for client in clients { client.wire.send(message) }
        let end = ContinuousClock.now + allowed
        var refused: Set<Int> = []
        while refused.count < enough, .now < end {
            for (index, client) in clients.enumerated() where !refused.contains(index) {
                guard case .reply(let reply) = client.wire.answer(within: .zero)
                else { continue }
                #expect(reply["code"] == 462, "\(reply)")
                refused.insert(index)
            }
        }
        return refused.count
    }

    /// The bytes of an insert whose documents follow the command, which alone may not be so large.
    private static func insert(bytes: Int, count: Int) -> [UInt8] {
        let pad = BSONValue.binary(BSONBinary(Array(repeating: 0, count: bytes)))
        var list = Array("documents".utf8) + [0]
        for number in 0..<count {
            let document: BSONDocument = ["_id": .int32(Int32(number)), "x": pad]
            document.withUnsafeBytes { list += $0 }
        }
        var message = WireClient.message(["insert": "large", "$db": "served"])
        message += [1] + bytesOf(Int32(list.count + 4)) + list
        message.replaceSubrange(0..<4, with: bytesOf(Int32(message.count)))
        return message
    }

    private static func bytesOf(_ number: Int32) -> [UInt8] {
        withUnsafeBytes(of: number.littleEndian) { Array($0) }
    }

    /// 24 of these took 1.1 GB before.
    @Test(
        "Large requests that wait are refused before they fill the memory",
        arguments: Work.allCases)
    func large(work: Work) async throws {
        try await Self.occupied(by: work) { port, client in
            let message = Self.insert(bytes: 15 << 20, count: 3)
            let fitting = RequestRoom.usualBytesMax / 2 / message.count + 1
            let refused = try Self.refused(message, fitting + 4, port: port, until: 4)
            #expect(refused >= 4)
            #expect(try client.run(["ping": 1])["ok"] == 1.0)
        }
    }

    @Test("More than 1,000 commands of an address do not wait", arguments: Work.allCases)
    func many(work: Work) async throws {
        try await Self.occupied(by: work) { port, client in
            let message = Self.insert(bytes: 1, count: 1)
            let waitingMax = WorkShares<Int>.Bounds.usual(common: 1).waitingOfOneMax
            let refused = try Self.refused(message, waitingMax + 20, port: port, until: 20)
            #expect(refused == 20)
            #expect(try client.run(["ping": 1])["ok"] == 1.0)
        }
    }
}
