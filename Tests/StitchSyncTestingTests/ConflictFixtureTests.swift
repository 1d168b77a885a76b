import BSONStore
import Foundation
import StitchSync
import Testing

@testable import StitchSyncTesting

/// Without these a fixture could pass that should fail, or fail without saying why.
@Suite struct ConflictFixtureTests {
    /// The kept fixtures.
    static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "fixtures/conflicts").path()

    @Test(arguments: try ConflictFixture.load(folder))
    func `a kept fixture comes out as it expects`(fixture: ConflictFixture) async throws {
        try await fixture.check()
    }

    @Test func `there are as many fixtures as were asked for`() throws {
        #expect(try ConflictFixture.load(Self.folder).count >= 120)
    }

    // MARK: - Failing

    private static func text(
        handler: String = #""remoteWins""#, local: String = #"{"_id": 1, "a": "mine"}"#,
        expect: String = """
        {"calls": [{"base": {"_id": 1, "a": "plan"}, "local": {"_id": 1, "a": "mine"},
                    "remote": {"_id": 1, "a": "theirs"}}],
         "local": {"_id": 1, "a": "theirs"}, "remote": {"_id": 1, "a": "theirs"}}
        """
    ) -> String {
        """
        {"cases": [{"name": "a case", "handler": \(handler),
          "start": {"base": {"_id": 1, "a": "plan"}, "local": \(local),
                    "remote": {"_id": 1, "a": "theirs"}},
          "expect": \(expect)}]}
        """
    }

    private static func fixture(_ text: String) throws -> ConflictFixture {
        try #require(try ConflictFixture.cases(json: Array(text.utf8)).first)
    }

    @Test func `a fixture that expects what comes passes`() async throws {
        try await Self.fixture(Self.text()).check()
    }

    @Test func `a fixture that expects something else says what and where`() async throws {
        let fixture = try Self.fixture(
            Self.text(
                expect: """
                    {"calls": [], "events": ["local replace pending"], "state": "pending",
                     "local": {"_id": 1, "a": "mine"}, "remote": {"_id": 1, "a": "theirs", "b": 2},
                     "version": {"lineage": "new", "counter": 5}, "errors": ["rejected"]}
                    """))
        let error = await #expect(throws: FixtureFailure.self) { try await fixture.check() }
        #expect(
            try #require(error).description == """
                1 of 1 fixture failed

                a case
                  number of handler calls
                    expected 0
                    got      1
                  local document
                    expected {"_id":1,"a":"mine"}
                    got      {"_id":1,"a":"theirs"}
                    at a: expected "mine", got "theirs"
                  remote document
                    expected {"_id":1,"a":"theirs","b":2}
                    got      {"_id":1,"a":"theirs"}
                    at b: expected 2, got nothing
                  remote version
                    expected counter 5 of a new lineage
                    got      counter 1 of the same lineage
                  events
                    expected local replace pending
                    got      local update pending, resolution replace settled
                  errors
                    expected rejected
                    got      none
                  state
                    expected pending
                    got      synced
                """)
    }

    @Test func `a fault that never happens is a failure`() async throws {
        let text = Self.text().replacing(
            #""expect":"#, with: #""steps": [{"lose": {"answer": "write"}}, "sync"], "expect":"#)
        let differences = try await Self.fixture(text).differences()
        #expect(
            differences.map(\.description) == [
                "faults that never happened\n  expected none\n  got      that of a write request"
            ])
    }

    @Test func `numbers are compared by value, at any depth`() async throws {
        let document = #"{"_id": 1, "n": {"a": [1, {"b": 2.5}], "c": 3}}"#
        func text(_ expected: String) -> String {
            Self.text(expect: #"{"both": \#(expected)}"#)
                .replacing(#"{"_id": 1, "a": "theirs"}"#, with: document)
        }
        try await Self.fixture(
            text(
                """
                {"n": {"c": 3.0, "a": [{"$numberLong": "1"}, {"b": {"$numberDecimal": "2.50"}}]},
                 "_id": {"$numberLong": "1"}}
                """)
        ).check()
        let differences = try await Self.fixture(
            text(#"{"_id": 1, "n": {"a": [1, {"b": 2}], "c": "3"}}"#)
        ).differences()
        #expect(
            differences.first?.fields == [
                #"n.a: expected [1,{"b":2}], got [1,{"b":2.5}]"#,
                #"n.c: expected "3", got 3"#,
            ])
    }

    @Test func `a case without calls and with one end for both sides is short`() async throws {
        let fixture = try Self.fixture(
            Self.text(expect: #"{"both": {"_id": 1, "a": "theirs"}}"#))
        try await fixture.check()
        #expect(fixture.expectation.calls == nil)
        let wrong = try Self.fixture(Self.text(expect: #"{"both": {"_id": 1, "a": "mine"}}"#))
        #expect(try await wrong.differences().map(\.what) == ["local document", "remote document"])
        let deleted = try Self.fixture(
            Self.text(handler: #"{"answers": ["delete"]}"#, expect: #"{"both": null}"#))
        try await deleted.check()
    }

    @Test func `a fixture's merge knows arrays with ids`() async throws {
        let text = """
            {"cases": [{"name": "a", "handler": {"mergeFields": {"arraysByID": ["items"]}},
              "start": {
                "base": {"_id": 1, "items": [{"id": 1, "a": 0, "b": 0}]},
                "local": {"_id": 1, "items": [{"id": 1, "a": 1, "b": 0}]},
                "remote": {"_id": 1, "items": [{"id": 1, "a": 0, "b": 2}]}},
              "expect": {"both": {"_id": 1, "items": [{"id": 1, "a": 1, "b": 2}]}}}]}
            """
        try await Self.fixture(text).check()
    }

    @Test func `a remote's replacement needs no _id`() async throws {
        let text = Self.text(
            handler: "null", local: #"{"_id": 1, "a": "plan"}"#,
            expect: """
                {"calls": [], "local": {"_id": 1, "a": "new"}, "remote": {"_id": 1, "a": "new"}},
                "steps": [{"remote": {"replace": {"a": "new"}}}, {"sync": "quiet"}]
                """)
        try await Self.fixture(text).check()
    }

    @Test func `a byte order mark and CRLF are no part of a file`() throws {
        let text = "\u{FEFF}" + Self.text().replacing("\n", with: "\r\n")
        #expect(try Self.fixture(text).name == "a case")
    }

    // MARK: - The app's handler

    struct Item: Codable, Sendable {
        var id: Int
        var a: String

        enum CodingKeys: String, CodingKey {
            case id = "_id"
            case a
        }
    }

    @Test func `the app's own handler is asked`() async throws {
        let text = Self.text(
            handler: #""app""#,
            expect: """
                {"calls": [{"base": {"_id": 1, "a": "plan"}, "local": {"_id": 1, "a": "mine"},
                            "remote": {"_id": 1, "a": "theirs"}}],
                 "local": {"_id": 1, "a": "mine theirs"}, "remote": {"_id": 1, "a": "mine theirs"}}
                """)
        let fixture = try Self.fixture(text)
        try await fixture.check(
            as: Item.self,
            handler: ConflictHandler { conflict in
                guard var item = conflict.local, let remote = conflict.remote else {
                    return .useRemote
                }
                item.a += " \(remote.a)"
                return .use(item)
            })
        await #expect(throws: FixtureError.self) { try await fixture.check() }
        await #expect(throws: FixtureFailure.self) { try await fixture.check(handler: .remoteWins) }
    }

    // MARK: - Reading

    @Test(arguments: [
        ("{", ": it is not Extended JSON"),
        ("{}", "cases: there are none"),
        (#"{"cases": 1}"#, "cases: a list is expected, not 1"),
        (#"{"case": []}"#, "case: no such key; there are $schema, cases, description"),
        (#"{"cases": [{}]}"#, "cases[0].name: it is missing"),
        (
            text(handler: #""theWins""#),
            "cases[0].handler: there is no theWins; there are remoteWins"
        ),
        (text(handler: #"{"newest": 1}"#), "cases[0].handler.newest: the dotted path"),
        (
            text(local: #"{"_id": 2}"#),
            "cases[0].start: base, local and remote must have the same _id"
        ),
        (text(local: "7"), "cases[0].start.local: a document or null is expected, not 7"),
        (text(expect: #"{"local": null}"#), "cases[0].expect.remote: it is missing"),
        (
            text(expect: #"{"local": null, "both": null}"#),
            "cases[0].expect.local: it is there beside both"
        ),
        (
            text(
                expect:
                    #"{"calls": [], "local": null, "remote": null, "version": {"lineage": "x"}}"#),
            "cases[0].expect.version.lineage: same or new is expected"
        ),
        (
            text(expect: #"{"calls": [], "local": null, "remote": null}, "steps": ["sing"]"#),
            "cases[0].steps[0]: there is no sing; there are local"
        ),
        (
            text(
                expect: """
                    {"calls": [], "local": null, "remote": null},
                    "steps": [{"lose": {"answer": "all"}}]
                    """),
            "cases[0].steps[0].lose.answer: there is no all; there are find"
        ),
        (
            text(
                expect: """
                    {"calls": [], "local": null, "remote": null}, "steps": [{"sync": 0}]
                    """),
            "cases[0].steps[0].sync: an integer from 1 to 10000 is expected, not 0"
        ),
    ])
    func `a fixture that is wrong says where`(text: String, message: String) throws {
        try expect(message, of: text)
    }

    private static func text(steps: String) -> String {
        text(expect: #"{"calls": [], "local": null, "remote": null}, "steps": [\#(steps)]"#)
    }

    private static func text(alsoExpect: String) -> String {
        text(expect: #"{"calls": [], "local": null, "remote": null, \#(alsoExpect)}"#)
    }

    @Test(arguments: [
        (
            text(handler: #"{"mergeFields": {"overlaps": "app"}}"#),
            "cases[0].handler.mergeFields.overlaps: a handler that is built in is expected"
        ),
        (
            text(steps: #"{"sync": 1000000000000}"#),
            "cases[0].steps[0].sync: an integer from 1 to 10000 is expected"
        ),
        (
            text(steps: #""sync", {"local": {"insert": {"_id": 2}}}"#),
            "cases[0].steps[1]: the fixture's document, with _id 1, is expected, not"
        ),
        (
            text(steps: #"{"whileAsked": [{"remote": {"insert": {"a": 2}}}]}"#),
            "cases[0].steps[0]: the fixture's document, with _id 1, is expected, not"
        ),
        (
            text(steps: #"{"local": {"delete": false}}"#),
            "cases[0].steps[0].local.delete: true is expected, not false"
        ),
        (
            text(steps: #"{"whileAsked": 1}"#),
            "cases[0].steps[0].whileAsked: a list is expected, not 1"
        ),
        (
            text(steps: #"{"remote": {"update": [{"$set": {"a": 1}}]}}"#),
            "cases[0].steps[0].remote.update: a document is expected"
        ),
        (
            text(alsoExpect: #""state": "sync""#),
            "cases[0].expect.state: there is no sync; there are synced, pending"
        ),
        (
            text(alsoExpect: #""events": ["local update"]"#),
            "cases[0].expect.events[0]: an event such as"
        ),
        (
            text(alsoExpect: #""errors": [], "errors": []"#),
            "cases[0].expect.errors: it is there twice"
        ),
        (
            text().replacing("a case", with: ""), "cases[0].name: it is empty"
        ),
    ])
    func `a slip in a fixture is no other fixture`(text: String, message: String) throws {
        try expect(message, of: text)
    }

    private func expect(_ message: String, of text: String) throws {
        let error = #expect(throws: FixtureError.self) {
            try ConflictFixture.cases(json: Array(text.utf8))
        }
        let description = try #require(error).description
        #expect(description.hasPrefix(message) || ": \(description)".hasPrefix(message))
    }

    @Test func `a folder without fixtures is an error that names it`() throws {
        let error = #expect(throws: FixtureError.self) {
            try ConflictFixture.load("no/such/folder")
        }
        #expect(try #require(error).description == "no/such/folder: there is no such file")
    }
}
