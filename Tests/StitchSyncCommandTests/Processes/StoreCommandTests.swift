import BSONStore
import Foundation
import Testing

@testable import StitchSyncCommand

/// What the tool says of a store is what people and scripts go by.
@Suite struct StoreCommandTests {
    private let lines = [
        #"{"_id":1,"kind":"a","n":{"$numberLong":"5"}}"#, #"{"_id":2,"kind":"b","n":1.5}"#,
        #"{"_id":3,"kind":"a","n":2}"#,
    ]

    /// Runs commands over one store that holds the lines, the last of which counts.
    private func run(_ commands: [String]...) async throws -> [Tool.Answer] {
        try await withTemporaryFolder { folder in
            _ = try folder.write(lines: lines, to: "in.jsonl")
            let imported = try await Tool.run("import", "s", "d.c", "in.jsonl", in: folder)
            #expect(imported.code == 0)
            var answers: [Tool.Answer] = []
            for command in commands {
                answers.append(try await Tool.run(arguments: command, in: folder))
            }
            return answers
        }
    }

    private func bytes(of path: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(filePath: path)))
    }

    @Test func `what is exported can be imported again`() async throws {
        let answers = try await run(
            ["export", "s", "d.c", "--out", "out.jsonl"], ["import", "t", "d.c", "out.jsonl"],
            ["export", "t", "d.c"], ["export", "s", "d.c"],
            ["export", "s", "d.c", #"{"kind": "b"}"#, "--relaxed"])
        #expect(answers.map(\.code) == [0, 0, 0, 0, 0])
        #expect(answers[0].output == ["3 documents exported to out.jsonl"])
        #expect(answers[2].output == answers[3].output)
        #expect(answers[3].output.first?.contains(#"{"$numberLong":"5"}"#) == true)
        #expect(answers[4].output == [#"{"_id":2,"kind":"b","n":1.5}"#])
    }

    @Test func `a BSON dump holds the documents one after another`() async throws {
        try await withTemporaryFolder { folder in
            _ = try folder.write(lines: lines, to: "in.jsonl")
            _ = try await Tool.run("import", "s", "d.c", "in.jsonl", in: folder)
            let answer = try await Tool.run(
                "export", "s", "d.c", "--bson", "--out", "c.bson", in: folder)
            #expect(answer.code == 0)
            let expected = try lines.flatMap { try BSONDocument(extendedJSON: $0).bytes }
            #expect(try bytes(of: folder.path("c.bson")) == expected)
        }
    }

    @Test func `a pipeline's documents are shown`() async throws {
        let pipeline = """
            [{"$group": {"_id": "$kind", "n": {"$sum": 1}}}, {"$sort": {"_id": 1}}]
            """
        let answers = try await run(
            ["aggregate", "s", "d.c", pipeline, "--relaxed"],
            ["aggregate", "s", "d.c", #"[{"$match": {"kind": "a"}}, {"$out": "e"}]"#],
            ["find", "s", "d.e", "--relaxed"], ["aggregate", "s", "d.c", #"{"$match": {}}"#],
            ["aggregate", "s", "d.c", #"[{"$nothing": 1}]"#])
        #expect(answers[0].output == [#"{"_id":"a","n":2}"#, #"{"_id":"b","n":1}"#])
        #expect(answers[2].output.count == 2)
        #expect(answers.map(\.code) == [0, 0, 0, 64, 1])
        #expect(answers[4].complaints.first?.contains("$nothing") == true)
    }

    @Test func `a plan is shown with what it takes`() async throws {
        let answer = try await run(["explain", "s", "d.c", #"{"_id": 2}"#])[0]
        let plan = try BSONDocument(extendedJSON: answer.output.joined())
        #expect(plan[path: "executionStats.totalDocsExamined"]?.int64Value == 1)
    }

    @Test func `a sound store is said to be sound`() async throws {
        let answers = try await run(
            ["verify", "s"], ["verify", "s", "--json"], ["compact", "s"], ["verify", "none"],
            ["compact", "none"], ["find", "none", "d.c"])
        #expect(answers.map(\.code) == [0, 0, 0, 1, 1, 1])
        #expect(answers[0].output.last?.hasSuffix("nothing is wrong") == true)
        let report = try BSONDocument(extendedJSON: answers[1].output.joined())
        #expect(report["sound"] == .bool(true))
        #expect(report["documents"]?.int64Value == 3)
        #expect(answers[2].output.first?.hasPrefix("s: ") == true)
    }

    @Test func `a damaged document is named, and taken out when that is asked for`() async throws {
        try await withTemporaryFolder { folder in
            _ = try folder.write(lines: lines, to: "in.jsonl")
            _ = try await Tool.run("import", "s", "d.c", "in.jsonl", in: folder)
            // The type of `kind` in the second document, which makes it invalid.
            let store = try DocumentStore(at: .file(folder.path("s")))
            try store.compact()
            store.close()
            var bytes = try bytes(of: folder.path("s"))
            let kind = Array("\u{2}kind\0\u{2}\0\0\0b\0".utf8)
            let at = try #require(bytes.indices.first { bytes[$0...].starts(with: kind) })
            bytes[at] = 0x7E
            _ = try folder.write(bytes, to: "s")
            let found = try await Tool.run("verify", "s", in: folder)
            #expect(found.code == 1)
            #expect(found.output.first?.hasPrefix("document d.c 2: ") == true)
            let mended = try await Tool.run("verify", "s", "--quarantine", in: folder)
            #expect(mended.code == 1)
            #expect(try await Tool.run("verify", "s", in: folder).code == 0)
            #expect(try await Tool.run("export", "s", "d.c", in: folder).output.count == 2)
        }
    }

    /// Makes a store whose feed has lost changes, and returns the number of those that it keeps.
    private func makeStore(at path: String) throws -> Int {
        let store = try DocumentStore(
            at: .file(path), options: .init(changeHistory: .keep(changesMax: 3)))
        defer { store.close() }
        let documents = store.collection(Namespace("d", "c"))
        for n in 1...50 as ClosedRange<Int32> { try documents.insertOne(["_id": .int32(n)]) }
        let (oldest, newest) = (try store.oldestChangePosition, try store.changePosition)
        #expect(oldest > 0 && oldest < newest)
        return Int(newest - oldest)
    }

    @Test func `watch from 0 begins with the oldest change that the feed keeps`() async throws {
        try await withTemporaryFolder { folder in
            let count = try makeStore(at: folder.path("r"))
            let all = try await Tool.run(
                "watch", "r", "--after", "0", "--limit", "\(count)", in: folder)
            #expect(all.code == 0)
            #expect(all.output.count == count)
            #expect(all.output.last?.contains(#""document":{"_id":50}"#) == true)
            #expect(try await Tool.run("watch", "r", "--after", "1", in: folder).code == 1)
        }
    }

    @Test func `one is a document, and more are documents`() async throws {
        let answers = try await run(
            ["sync", "s", "d.c", "--remote", "r"], ["resume", "s", "d.c", "--ids", "[1]"],
            ["export", "s", "d.c", #"{"_id": 1}"#, "--out", "one.jsonl"],
            ["import", "t", "d.c", "one.jsonl"])
        let texts = answers.flatMap { $0.output + $0.complaints }
        #expect(!texts.contains { $0.contains("1 documents") || $0.contains("1 changes") })
        #expect(answers[2].output == ["1 document exported to one.jsonl"])
    }

    @Test func `the status is printed as JSON, and documents that are not there not resumed`()
        async throws
    {
        let answers = try await run(
            ["sync", "s", "d.c", "--remote", "r"], ["status", "s", "--json"],
            ["resume", "s", "d.c"],
            ["resume", "s", "d.c", "--ids", "[9]"], ["resume", "s", "d.c", "--ids", "9"],
            ["watch", "r", "d.c", "--after", "0", "--limit", "2"], ["watch", "s", "--after", "0"])
        let status = try BSONDocument(extendedJSON: try #require(answers[1].output.first))
        #expect(status["collection"] == .string("d.c"))
        #expect(status["synced"]?.int64Value == 3)
        #expect(status["paused"] == .array([]))
        #expect(answers[2].output == ["nothing is paused"])
        #expect(answers[3].complaints == ["error: 9 is not synced"])
        #expect(answers[5].output.count == 2)
        #expect(answers[5].output.first?.contains(#""change":"insert","collection":"d.c""#) == true)
        #expect(answers.map(\.code) == [0, 0, 0, 1, 64, 0, 1])
    }
}
