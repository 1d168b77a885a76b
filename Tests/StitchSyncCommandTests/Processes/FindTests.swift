import Testing

@testable import StitchSyncCommand

/// What is shown must be what is stored, to the type.
@Suite struct FindTests {
    private let documents = [
        "{\"_id\":{\"$numberInt\":\"1\"},\"name\":\"b\",\"n\":{\"$numberLong\":\"5\"}}",
        "{\"_id\":{\"$oid\":\"603c32515f1e1d0c0b000001\"},\"name\":\"a\",\"n\":{\"$numberDouble\":\"7.0\"}}",
        "{\"_id\":\"x\",\"name\":\"c\",\"n\":{\"$numberDecimal\":\"6.50\"}}",
    ]

    private func find(_ arguments: [String]) async throws -> Tool.Answer {
        try await withTemporaryFolder { folder in
            _ = try folder.write(lines: documents, to: "in.jsonl")
            let imported = try await Tool.run("import", "s", "d.c", "in.jsonl", in: folder)
            #expect(imported.code == 0)
            return try await Tool.run(arguments: ["find", "s", "d.c"] + arguments, in: folder)
        }
    }

    @Test func `documents come out as they went in`() async throws {
        let answer = try await find([])
        #expect(answer.code == 0)
        #expect(answer.output == documents)
    }

    @Test(.timeLimit(.minutes(2)))
    func `a terminal shows relaxed documents, unless the option asks for all types`() async throws {
        try await withTemporaryFolder { folder in
            _ = try folder.write(lines: documents, to: "in.jsonl")
            let imported = try await Tool.run("import", "s", "d.c", "in.jsonl", in: folder)
            #expect(imported.code == 0)
            let relaxed = try TerminalProcess("find", "s", "d.c", in: folder)
            try await relaxed.expect("{\"_id\":1,\"name\":\"b\",\"n\":5}\n")
            #expect(await relaxed.code() == 0)
            let canonical = try TerminalProcess("find", "s", "d.c", "--canonical", in: folder)
            try await canonical.expect("\(documents[0])\n")
            #expect(await canonical.code() == 0)
        }
    }

    @Test func `filter, sort, projection, skip and limit are MongoDB's`() async throws {
        let some = try await find(["{\"n\": {\"$gt\": 5}}", "--sort", "{\"n\": -1}"])
        #expect(some.output == [documents[1], documents[2]])
        let one = try await find([
            "--sort", "{\"name\": 1}", "--skip", "1", "--limit", "1", "--projection",
            "{\"name\": 1}", "--relaxed",
        ])
        #expect(one.output == ["{\"_id\":1,\"name\":\"b\"}"])
        let none = try await find(["{\"name\": \"z\"}"])
        #expect(none.code == 0)
        #expect(none.output.isEmpty)
    }

    @Test(arguments: [
        "{_id: 1}", "{ _id : 1 }", "{\"_id\": 1}", "{name: \"b\", n: {$gt: 4}}",
        "{$or: [{_id: 1}, {name: \"x: y\"}]}", "{name: {$in: [\"b\", \"{a: \\\"1\"]}}",
    ])
    func `keys may be without quotes`(_ filter: String) async throws {
        let answer = try await find([filter])
        #expect(answer.code == 0)
        #expect(answer.output == [documents[0]])
    }

    @Test(arguments: [
        (#"{n: {$lt: {$date: "tomorrow"}}}"#, "$date takes a date as RFC 3339", 19),
        (#"{n: {$lt: {$date: 5}}}"#, "$date takes", 19),
        (#"{"n": {$lt: {"$date": "tomorrow"}}}"#, "$date takes a date as RFC 3339", 23),
        (#"{name: "ä", _id: {$oid: "x"}}"#, "$oid takes 24 hexadecimal digits", 26),
        ("{n: 1, : 2}", "key is missing", 8),
        (
            #"{"d": {"$gt": {"$date": 2026-01-01T00:00:00Z}}}"#,
            #"a date needs quotes, such as "2026-01-01T00:00:00Z""#, 25
        ),
        (#"{d: {$gt: {$date: 1-2-2026}}}"#, #"a date needs quotes, such as "1-2-2026""#, 19),
        ("{ä: 1, d: ISODate(2026-01-01)}", #"a date needs quotes, such as "2026-01-01""#, 20),
        ("{d: new Date( 2026/01/01 )}", #"a date needs quotes, such as "2026/01/01""#, 15),
        ("{d: [1, 2026-01-01]}", #"a date needs quotes, such as "2026-01-01""#, 9),
    ])
    func `a fault behind keys without quotes is told with its own place`(
        _ filter: String, _ text: String, _ column: Int
    ) async throws {
        let answer = try await find([filter])
        #expect(answer.code == 64)
        let complaint = answer.complaints.joined(separator: "\n")
        #expect(complaint.contains(text), "\(complaint)")
        #expect(complaint.contains("(line 1, column \(column))"), "\(complaint)")
    }

    @Test func `--pretty writes a field a line`() async throws {
        let answer = try await find(["{_id: 1}", "--pretty"])
        #expect(answer.output == ["{", "  \"_id\": 1,", "  \"name\": \"b\",", "  \"n\": 5", "}"])
        let list = try await find(["{_id: 1}", "--pretty", "--json"])
        #expect(list.output.first == "[")
        #expect(list.output.contains { $0.contains("$numberInt") })
    }

    @Test func `what is no filter is refused`() async throws {
        let notJSON = try await find(["{name"])
        #expect(notJSON.code == 64)
        let unknown = try await find(["{\"n\": {\"$near\": 1}}"])
        #expect(unknown.code == 1)
        #expect(unknown.complaints.first?.contains("$near") == true)
        let negative = try await find(["--limit=-1"])
        #expect(negative.code == 1)
    }

    @Test func `a store that is not there is not made`() async throws {
        try await withTemporaryFolder { folder in
            for _ in 1...2 {
                let answer = try await Tool.run("find", "none", "d.c", in: folder)
                #expect(answer.code == 1)
            }
        }
    }
}
