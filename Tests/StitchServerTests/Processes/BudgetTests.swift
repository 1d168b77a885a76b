import BSONStore
import Foundation
import TestProcesses
import Testing

/// One expensive request must not hold up a server: it ends at its time, by killOp and with its
/// client.
@Suite(.timeLimit(.minutes(20)), .serialized) struct BudgetTests {
    /// The time in which such a request ends; debug builds beside other tests are slow.
    private static let allowed: Duration = .seconds(60)

    /// Lends a client of a server of its own.
    private static func served(
        _ body: @escaping @Sendable (ServerClient, _ port: Int, pid_t) throws -> Void
    ) async throws {
        try await ServerProcess.run { server in
            let (port, process) = (server.port, server.processID)
            try await BlockingThread.run {
                try body(ServerClient(port: port, database: "served"), port, process)
            }
        }
    }

    /// Expects that stages over some documents end at their time.
    private static func ends(
        _ stages: [BSONValue], over documents: [BSONDocument] = [["_id": 0, "t": .string(text)]],
        index: BSONDocument? = nil, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        try await served { client, _, _ in
            if let index {
                try client.run([
                    "createIndexes": "items",
                    "indexes": [["key": .document(index), "name": "index"]],
                ])
            }
            try client.insert(documents, into: "items")
            let start = ContinuousClock.now
            let reply = try client.reply(ExpensiveRequest.aggregate(stages, limitMS: 100))
            let took = ContinuousClock.now - start
            #expect(reply["code"] == 50, "\(reply)", sourceLocation: sourceLocation)
            #expect(took < allowed, sourceLocation: sourceLocation)
        }
    }

    /// Expects that a computation for one document ends at its time.
    private static func computes(
        _ expression: BSONValue, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        try await ends([["$project": ["x": expression]]], sourceLocation: sourceLocation)
    }

    private static let text = String(repeating: "ab", count: 20_000)

    @Test("Joins end at their time")
    func lookups() async throws {
        try await Self.ends(ExpensiveRequest.joins, over: ExpensiveRequest.documents)
    }

    @Test("A search of each value of an array in it ends at its time")
    func mapOverIndex() async throws {
        let search: BSONValue = ["$indexOfArray": ["$$a", ["$add": ["$$this", 1e9]]]]
        try await Self.computes([
            "$let": [
                "vars": ["a": ["$range": [["$min": [0, 1]], 300_000]]],
                "in": ["$map": ["input": "$$a", "in": search]],
            ]
        ])
    }

    @Test("An expression of constants ends at its time")
    func constants() async throws {
        try await Self.computes([
            "$reduce": [
                "input": ["$range": [0, 5_000_000]], "initialValue": 0,
                "in": ["$add": ["$$this", "$$value"]],
            ]
        ])
    }

    @Test("Operators of long arrays end at their time", arguments: ["union", "difference", "zip"])
    func longArrays(kind: String) async throws {
        let ranges = (0..<8).map { number -> BSONValue in
            ["$range": [["$strLenBytes": "$t"], .int32(3_000_000 + number)]]
        }
        let all = BSONValue.array(BSONArray(ranges))
        let expressions: [String: BSONValue] = [
            "union": ["$setUnion": all],
            "difference": ["$setDifference": .array(BSONArray(ranges.prefix(2)))],
            "zip": ["$zip": ["inputs": all]],
        ]
        try await Self.computes(["$size": try #require(expressions[kind])])
    }

    @Test("The search of a pattern in a long text ends at its time")
    func patternInLongText() async throws {
        let long: BSONValue = [
            "$reduce": [
                "input": ["$range": [0, 8]], "initialValue": "$t",
                "in": ["$concat": ["$$value", "$$value"]],
            ]
        ]
        try await Self.computes(["$size": ["$regexFindAll": ["input": long, "regex": "a|b"]]])
    }

    @Test("The search of a long pattern ends at its time")
    func longPattern() async throws {
        let pattern = (0..<700).map { "x{1,9}y\($0)" }.joined(separator: "|")
        let text = String(repeating: "x", count: 40_000)
        try await Self.ends(
            [["$match": ["t": ["$regex": .string(pattern)]]]],
            over: (0..<20).map { ["_id": .int32($0), "t": .string(text)] })
    }

    @Test("The search of a long text ends at its time")
    func text() async throws {
        let words = (0..<100_000).map { "w\($0)" }.joined(separator: " ")
        try await Self.ends(
            [["$match": ["$text": ["$search": .string(words)]]]],
            over: (0..<3).map { ["_id": .int32($0), "t": .string(words)] }, index: ["t": "text"])
    }

    @Test("The search of many words ends at its time")
    func manyWords() async throws {
        let words = (0..<500_000).map { "w\($0)" }.joined(separator: " ")
        try await Self.ends(
            [["$match": ["$text": ["$search": .string(words)]]]], over: [["_id": 0, "t": "one"]],
            index: ["t": "text"])
    }

    @Test("killOp ends a request that works")
    func killOp() async throws {
        try await Self.served { client, port, _ in
            try client.insert(ExpensiveRequest.documents, into: "items")
            let other = try ServerClient(port: port, database: "served")
            other.send(ExpensiveRequest.aggregate(ExpensiveRequest.joins))
            try client.run(["killOp": 1, "op": client.running("aggregate")], on: "admin")
            #expect(try other.answer(within: Self.allowed)["code"] == 11_601)
        }
    }

    @Test("A request ends when its client closes the connection")
    func clientLeft() async throws {
        try await Self.served { client, port, _ in
            try client.insert(ExpensiveRequest.documents, into: "items")
            do {
                let other = try ServerClient(port: port, database: "served")
                other.send(ExpensiveRequest.aggregate(ExpensiveRequest.joins))
                _ = try client.running("aggregate")
                withExtendedLifetime(other) {}
            }
            let end = ContinuousClock.now + Self.allowed
            while ContinuousClock.now < end {
                if try client.operations("aggregate").isEmpty { return }
            }
            Issue.record("it still runs")
        }
    }

    /// The time in which a large request ends, with what reading its message takes.
    private static let allowedForLarge: Duration = .seconds(20)

    /// The documents that large requests are on; one has 20,000 fields under a path.
    private static let written: [BSONDocument] =
        (1..<200).map { ["_id": .int32($0), "n": .int32($0), "at": [0.5, 0.5]] } + [
            ["_id": 0, "wide": .document(LargeRequest.fields(0..<20_000))]
        ]

    @Test("A large request ends at its time, or is done at once", arguments: LargeRequest.allCases)
    func largeRequest(kind: LargeRequest) async throws {
        try await Self.served { client, _, _ in
            try client.insert(Self.written, into: "items")
            var command = kind.command
            command.append("maxTimeMS", 1)
            let start = ContinuousClock.now
            let reply = try client.reply(command)
            let took = ContinuousClock.now - start
            #expect(reply["code"] == 50 || reply["ok"] == 1.0, "\(reply)")
            #expect(took < Self.allowedForLarge)
            #expect(try client.run(["count": "items", "query": ["_id": 0]])["ok"] == 1.0)
        }
    }

    @Test("SIGTERM during a large request ends the process", arguments: LargeRequest.allCases)
    func stopDuringLargeRequest(kind: LargeRequest) async throws {
        try await Self.served { client, port, process in
            try client.insert(Self.written, into: "items")
            let name = try #require(kind.command.keys.first)
            let other = try ServerClient(port: port, database: "served")
            other.send(kind.command)
            while try client.operations(name).isEmpty {
                // It may be done before it is seen.
                if case .reply = other.wire.answer(within: .zero) { break }
            }
            kill(process, SIGTERM)
            let start = ContinuousClock.now
            while kill(process, 0) == 0, ContinuousClock.now - start < Self.allowedForLarge {
                sched_yield()
            }
            #expect(ContinuousClock.now - start < Self.allowedForLarge)
            withExtendedLifetime(other) {}
        }
    }

    @Test("A wait is listed while it lasts")
    func waitIsListed() async throws {
        try await Self.served { client, port, _ in
            let other = try Self.waiting(port, milliseconds: 20_000)
            _ = try client.running("getMore")
            try client.insert([["_id": 1]], into: "items")
            let batch = try other.answer(within: .seconds(30))["cursor"]?.documentValue
            #expect(batch?["nextBatch"]?.arrayValue?.isEmpty == false)
            #expect(try client.operations("getMore").isEmpty)
        }
    }

    @Test("killOp ends a wait")
    func killOfWait() async throws {
        try await Self.served { client, port, _ in
            let other = try Self.waiting(port, milliseconds: 300_000)
            try client.run(["killOp": 1, "op": client.running("getMore")], on: "admin")
            #expect(try other.answer(within: .seconds(60))["code"] == 11_601)
        }
    }

    /// Returns a client that waits for a change.
    private static func waiting(_ port: Int, milliseconds: Int32) throws -> ServerClient {
        let client = try ServerClient(port: port, database: "served")
        let opened = try client.run(ExpensiveRequest.aggregate([["$changeStream": [:]]]))
        client.send([
            "getMore": opened["cursor"]?.documentValue?["id"] ?? .null, "collection": "items",
            "maxTimeMS": .int32(milliseconds),
        ])
        return client
    }
}

#if os(Linux)
    extension BudgetTests {
        private static let stagesOfParts: [[BSONValue]] = {
            let unwound: [BSONValue] = [["$unwind": "$a"]]
            let parts: [BSONValue] = unwound + [["$replaceRoot": ["newRoot": "$a"]]]
            return [
                parts + [["$sort": ["x": 1]]], parts + [["$group": ["_id": "$$ROOT"]]],
                unwound + [["$group": ["_id": 1, "all": ["$push": "$a"]]]],
                unwound + [["$unset": "pad"], ["$sort": ["a.x": 1]]],
                parts + [["$facet": ["all": []]]],
            ]
        }()

        @Test("A part of a document does not keep the whole in memory")
        func memoryOfParts() async throws {
            try await Self.served { client, _, process in
                let elements = (0..<30).map { number -> BSONValue in ["x": .int32(number)] }
                let pad = BSONValue.string(String(repeating: "x", count: 12 << 20))
                for number in Int32(0)..<8 {
                    let array = BSONValue.array(BSONArray(elements))
                    try client.insert(
                        [["_id": .int32(number), "a": array, "pad": pad]], into: "items")
                }
                for stages in Self.stagesOfParts {
                    try Data("5".utf8).write(to: URL(filePath: "/proc/\(process)/clear_refs"))
                    let before = try Self.peakBytes(process)
                    try client.run(ExpensiveRequest.aggregate(stages + [["$limit": 1]]))
                    // Without the copies 240 parts keep 2.9 GB.
                    #expect(try Self.peakBytes(process) - before < 600 << 20, "\(stages)")
                }
            }
        }

        @Test("A window's large value is held once, not for each document")
        func memoryOfWindows() async throws {
            try await Self.served { client, _, process in
                try client.insert([["_id": 0]], into: "items")
                let all: BSONValue = [
                    "$push": "$a", "window": ["documents": ["unbounded", "unbounded"]],
                ]
                let stages: [BSONValue] = [
                    ["$project": ["a": ["$range": [0, 20_000]]]], ["$unwind": "$a"],
                    ["$setWindowFields": ["sortBy": ["a": 1], "output": ["all": all]]],
                ]
                try client.run(ExpensiveRequest.aggregate(stages + [["$limit": 1]]))
                // With the value in each document they take 4 GB.
                // A sanitizer's own memory is several times the program's.
                #expect(try Sanitizer.isOn || Self.peakBytes(process) < 600 << 20)
                let start = ContinuousClock.now
                let count = ["$group": ["_id": 1, "n": ["$sum": ["$size": "$all"]]]] as BSONValue
                let reply = try client.reply(
                    ExpensiveRequest.aggregate(stages + [count], limitMS: 100))
                #expect(reply["code"] == 50, "\(reply)")
                #expect(ContinuousClock.now - start < Self.allowed)
            }
        }

        @Test("The growing values of a window are refused before they fill the memory")
        func memoryOfGrowingWindows() async throws {
            try await Self.served { client, _, process in
                try client.insert([["_id": 0]], into: "items")
                let some: BSONValue = [
                    "$push": "$a", "window": ["documents": ["unbounded", "current"]],
                ]
                let stages: [BSONValue] = [
                    ["$project": ["a": ["$range": [0, 10_000]]]], ["$unwind": "$a"],
                    ["$setWindowFields": ["sortBy": ["a": 1], "output": ["all": some]]],
                ]
                var command = ExpensiveRequest.aggregate(stages)
                command.append("allowDiskUse", false)
                let reply = try client.reply(command)
                #expect(reply["code"] == 292, "\(reply)")
                // A sanitizer's own memory is several times the program's.
                #expect(try Sanitizer.isOn || Self.peakBytes(process) < 600 << 20)
            }
        }

        /// The most resident memory of a process since its mark was cleared.
        private static func peakBytes(_ process: pid_t) throws -> Int {
            let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
            let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM") }
            let kilobytes = line?.split(separator: " ", omittingEmptySubsequences: true)
                .compactMap { Int($0) }.first
            return try #require(kilobytes) << 10
        }
    }
#endif
