import Testing

@testable import StitchSyncCommand

/// A fixture that fails must be seen to fail, with what differs, and must not hide the others.
@Suite struct FixtureTests {
    private static func lines(local: String) -> [String] {
        [
            #"{"cases": [{"name": "first", "handler": "remoteWins","#,
            #""start": {"base": {"_id": 1, "a": "plan"}, "local": {"_id": 1, "a": "mine"}},"#,
            #""expect": {"calls": [], "remote": {"_id": 1, "a": "mine"}, "local": \#(local)}},"#,
            #"{"name": "second", "handler": "app", "start": {"local": {"_id": 1}},"#,
            #""expect": {"calls": [], "remote": {"_id": 1}, "local": {"_id": 1}}},"#,
            #"{"name": "third", "handler": "localWins", "start": {"local": {"_id": 1, "b": 1}},"#,
            #""steps": [{"local": {"update": {"$inc": {"_id": 1}}}}],"#,
            #""expect": {"calls": [], "remote": {"_id": 1}, "local": {"_id": 1}}}]}"#,
        ]
    }

    private func run(_ lines: [String], _ options: String...) async throws -> Tool.Answer {
        try await withTemporaryFolder { folder in
            _ = try folder.write(lines: lines, to: "some.json")
            return try await Tool.run(
                arguments: ["fixture", "run", "some.json"] + options, in: folder)
        }
    }

    @Test func `what differs is shown`() async throws {
        let answer = try await run(Self.lines(local: #"{"_id": 1, "a": "plan"}"#))
        #expect(answer.code == 1)
        #expect(
            Array(answer.output.prefix(5)) == [
                "some.json: first", "  local document", #"    expected {"_id":1,"a":"plan"}"#,
                #"    got      {"_id":1,"a":"mine"}"#,
                #"    at a: expected "plan", got "mine""#,
            ])
        #expect(answer.output.last == "0 passed, 2 failed, 1 need the app's own handler")
        #expect(answer.output.contains { $0.contains("playing it") })
    }

    @Test func `what came of each is printed as JSON`() async throws {
        let answer = try await run(Self.lines(local: #"{"_id": 1, "a": "mine"}"#), "--json")
        #expect(answer.code == 1)
        #expect(answer.output.count == 2)
        #expect(answer.output.first?.contains(#""passed":true"#) == true)
        #expect(answer.output.last?.contains(#""actual":null"#) == true)
    }

    @Test func `a file that is wrong is named with the place`() async throws {
        let answer = try await run(["{\"cases\": [{\"name\": 1}]}"])
        #expect(answer.code == 1)
        #expect(
            answer.complaints.first?.hasSuffix(
                "some.json: cases[0].name: a string is expected, not 1") == true)
    }
}
