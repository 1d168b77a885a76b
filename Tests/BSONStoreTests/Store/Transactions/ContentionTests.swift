#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
import Testing

@testable import BSONCore
@testable import BSONStore

/// Without this one of several processes could starve, lose a write or miss one of another.
@Suite struct ContentionTests {
    private static let processes: Int32 = 4
    /// `make contend` asks for more.
    private static let seconds =
        ProcessInfo.processInfo.environment["CONTEND_SECONDS"].flatMap { Int($0) } ?? 1
    /// No write may wait longer: then it would be error 46.
    private static let waitMaxMS: Int32 = 20_000

    @Test func `processes that write one file wait within bounds and see every write`()
        async throws
    {
        let directory = try TemporaryDirectory()
        let store = try DocumentStore(
            at: .file(directory.file()),
            options: .init(durability: .normal, changeHistory: .keep(changesMax: 10_000_000)))
        let counters = store.collection(Namespace("app", "counters"))
        try await counters.insertOne(["_id": "n", "value": 0])
        let path = directory.path
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<Self.processes {
                group.addTask {
                    await #expect(processExitsWith: .success) {
                        [path = path as String, number = number as Int32] in
                        try await Contender(directory: path, number: number).run()
                    }
                }
            }
        }
        #expect(try store.verify().faults == [])
        var total: Int32 = 0
        let log = store.collection(Namespace("app", "log"))
        for number in 0..<Self.processes {
            // Written outside of the store by each process: what was acknowledged, what it saw.
            let ledger = try String(
                contentsOf: URL(fileURLWithPath: directory.file("ledger-\(number)")),
                encoding: .utf8)
            let acknowledged = try #require(Int32(ledger))
            #expect(acknowledged > 0)
            #expect(try log.find(["process": .int32(number)]).count() == Int(acknowledged))
            total += acknowledged
        }
        #expect(try counters.findOne(id: "n")?["value"] == .int32(total))
    }

    /// One of the processes: writes until its time is over and follows the feed to the end.
    private struct Contender {
        let directory: String
        let number: Int32

        func run() async throws {
            let store = try DocumentStore(
                at: .file(directory + "/test.store"),
                options: .init(durability: .normal, busyTimeoutMS: waitMaxMS))
            async let seen = follow(store)
            let clock = ContinuousClock()
            let end = clock.now.advanced(by: .seconds(seconds))
            var acknowledged: Int32 = 0
            var slowest = Duration.zero
            while clock.now < end {
                let start = clock.now
                let n = acknowledged
                try await store.write { transaction in
                    try transaction.insert(
                        Namespace("app", "log"), ["process": .int32(number), "n": .int32(n)])
                    try transaction.updateOne(
                        Namespace("app", "counters"), filter: Filter(["_id": "n"]),
                        update: Update(["$inc": ["value": 1]]))
                }
                acknowledged += 1
                slowest = max(slowest, clock.now - start)
            }
            try await store.collection(Namespace("app", "done")).insertOne(
                ["process": .int32(number), "count": .int32(acknowledged)])
            #expect(slowest < .milliseconds(Int(waitMaxMS)))
            try await seen
            try Data("\(acknowledged)".utf8).write(
                to: URL(fileURLWithPath: directory + "/ledger-\(number)"))
        }

        /// Reads the feed until every process is done; each change has to come once and in order.
        private func follow(_ store: DocumentStore) async throws {
            var seen = Array(repeating: Int32(0), count: Int(processes))
            var value: Int32 = 0
            var done: Int32 = 0
            var position: Int64 = 0
            for try await batch in store.followChanges(after: 0) {
                for change in batch.changes {
                    #expect(change.position == position + 1)
                    position = change.position
                    let after = try #require(change.after)
                    switch change.namespace.collection {
                    case "log":
                        let process = try Self.number(after, "process")
                        #expect(try Self.number(after, "n") == seen[Int(process)])
                        seen[Int(process)] += 1
                    case "counters":
                        #expect(try Self.number(after, "value") == value)
                        value += 1
                    default:
                        let process = try Self.number(after, "process")
                        #expect(try Self.number(after, "count") == seen[Int(process)])
                        done += 1
                    }
                }
                if done == processes { return }
            }
        }

        private static func number(_ document: BSONDocument, _ field: String) throws -> Int32 {
            guard case .int32(let number)? = document[field] else {
                throw StoreError(.badValue, "\(field) is no number")
            }
            return number
        }
    }
}
