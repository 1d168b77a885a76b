#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
import Testing

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

@testable import BSONCore
@testable import BSONStore

/// Without this a process that dies could take acknowledged writes with it, or leave half of one.
@Suite struct CrashTests {
    private static let kills =
        ProcessInfo.processInfo.environment["KILLS"].flatMap { Int($0) } ?? 20

    @Test func `what was acknowledged is there after the writer was killed`() async throws {
        let directory = try TemporaryDirectory()
        // A writer may be killed before it makes its ledger.
        try Data().write(to: URL(fileURLWithPath: directory.file("ledger")))
        var acknowledged = 0
        for round in 0..<Self.kills {
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [path = directory.path as String, round = round as Int] in
                try Writer(directory: path, round: round).runUntilKilled()
            }
            acknowledged = try Self.check(directory)
        }
        #expect(acknowledged > 0)
    }

    /// Opens the file as the next process finds it, and compares it with the ledger.
    private static func check(_ directory: TemporaryDirectory) throws -> Int {
        let ledger = try Data(contentsOf: URL(fileURLWithPath: directory.file("ledger")))
        let store = try DocumentStore(at: .file(directory.file()))
        defer { store.close() }
        #expect(try store.verify().faults == [])
        let pairs = store.collection(Namespace("app", "left"))
        let ids = Set(try pairs.find().fetch().map { $0["_id"] })
        let others = Set(
            try store.collection(Namespace("app", "right")).find().fetch().map { $0["_id"] })
        // Both halves of a transaction are there, or none.
        #expect(ids == others)
        let lines = String(decoding: ledger, as: UTF8.self).split(separator: "\n")
        for line in lines { #expect(ids.contains(.string(String(line))), "\(line) is lost") }
        // One write at most was not acknowledged in each life.
        #expect(ids.count - lines.count <= Self.kills)
        return lines.count
    }

    /// Writes pairs of documents, noting each in a ledger of its own once it is committed.
    private struct Writer {
        let directory: String
        let round: Int

        func runUntilKilled() throws {
            let delayMS = 1 + round * 7 % 60
            let isStarted = DetachedThread.start {
                ThreadCondition(()).pause(milliseconds: delayMS)
                kill(getpid(), SIGKILL)
            }
            precondition(isStarted)
            let ledger = open(directory + "/ledger", O_WRONLY | O_APPEND | O_CREAT, 0o600)
            let store = try DocumentStore(
                at: .file(directory + "/test.store"),
                options: .init(
                    durability: round.isMultiple(of: 2) ? .full : .normal,
                    changeHistory: .keep(changesMax: 1_000)))
            var number = 0
            while true {
                number += 1
                let id = "\(round)-\(number)"
                let text = BSONValue.string(String(repeating: "y", count: number * 37 % 3_000))
                try store.write { transaction in
                    for name in ["left", "right"] {
                        try transaction.insert(
                            Namespace("app", name), ["_id": .string(id), "text": text])
                    }
                }
                let line = Array("\(id)\n".utf8)
                precondition(write(ledger, line, line.count) == line.count)
            }
        }
    }
}
