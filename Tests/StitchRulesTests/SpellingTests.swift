import BSONStore
import Testing

@testable import StitchRules

/// Two spellings of one text are two fields and two collections: a rule for one says nothing of the
/// other.
@Suite struct SpellingTests {
    private static let composed = "caf\u{E9}"
    private static let decomposed = "cafe\u{301}"

    @Test func `a rule for one spelling leaves the other to the others`() throws {
        let access = try RuleFixtures.access(
            #"""
            [{"name": "r", "apply_when": {}, "fields": {"\#(Self.composed)": {"read": true}},
              "additional_fields": {}}]
            """#)
        let shown = access.mask.shown(
            ["_id": 1, Self.composed: 1, Self.decomposed: 2] as BSONDocument)
        #expect(shown == (["_id": 1, Self.composed: 1] as BSONDocument))
        #expect(access.mask.hides(path: Self.decomposed))
        #expect(!access.mask.hides(path: Self.composed))
    }

    @Test func `both spellings have rules of their own`() throws {
        let access = try RuleFixtures.access(
            #"""
            [{"name": "r", "apply_when": {}, "fields": {"\#(Self.composed)": {"write": true},
              "\#(Self.decomposed)": {"read": true}}, "additional_fields": {}}]
            """#)
        let before: BSONDocument = ["_id": 1, Self.composed: 1, Self.decomposed: 1]
        let after: BSONDocument = ["_id": 1, Self.composed: 2, Self.decomposed: 2]
        #expect(access.mask.shown(before) == before)
        let denied = access.mask.deniedChanges(from: before, to: after)
        #expect(denied.map { Array($0.utf8) } == [Array(Self.decomposed.utf8)])
    }

    @Test func `users and conditions of two spellings differ`() {
        #expect(RuleUser(id: Self.composed) != RuleUser(id: Self.decomposed))
        #expect(RuleUser(id: "a", type: Self.composed) != RuleUser(id: "a", type: Self.decomposed))
        #expect(RuleUser(id: Self.composed) == RuleUser(id: Self.composed))
        #expect(
            RulePredicate.across(.equal, root: Name(Self.composed), previous: "a")
                != .across(.equal, root: Name(Self.decomposed), previous: "a"))
    }

    @Test func `what is hidden stays behind its own neighbour`() throws {
        let access = try RuleFixtures.access(
            #"""
            [{"name": "r", "apply_when": {}, "fields": {"secret": {}},
              "additional_fields": {"write": true}}]
            """#)
        let before: BSONDocument = [
            "_id": 1, Self.composed: 1, "secret": 5, Self.decomposed: 1,
        ]
        let after: BSONDocument = ["_id": 1, Self.composed: 2, Self.decomposed: 2]
        let merged = access.mask.merged(after, into: before)
        let expected: BSONDocument = [
            "_id": 1, Self.composed: 2, "secret": 5, Self.decomposed: 2,
        ]
        #expect(merged == expected)
    }

    @Test func `an accent behind a dot hides nothing of the path`() throws {
        let access = try RuleFixtures.access(
            #"""
            [{"name": "r", "apply_when": {}, "fields": {"a": {}},
              "additional_fields": {"read": true}}]
            """#)
        #expect(access.mask.hides(path: "a.\u{301}b"))
    }

    @Test func `folders of two spellings are two collections`() throws {
        let roles = #"{"roles": [{"name": "r", "apply_when": {}, "read": true}]}"#
        let none = #"{"roles": [{"name": "r", "apply_when": {}, "read": false}]}"#
        func entry(_ name: String, _ text: String) -> (path: String, bytes: [UInt8]) {
            ("data_sources/mongodb-atlas/shop/\(name)/rules.json", Array(text.utf8))
        }
        let rules = try RuleSet(
            entries: [entry(Self.composed, roles), entry(Self.decomposed, none)])
        #expect(rules.namespaces.count == 2)
        let user = RuleUser(id: "ann")
        let seesAll = [Self.composed, Self.decomposed].map {
            rules.access(to: Namespace("shop", $0), for: user).seesAll
        }
        #expect(seesAll == [true, false])
    }

    @Test func `one spelling is queryable`() throws {
        let rules = try RuleFixtures.rules(
            "[]",
            sync: #"""
                {"type": "flexible", "database_name": "shop",
                 "queryable_fields_names": ["\#(Self.composed)"]}
                """#)
        #expect(rules.queryableNames("items").contains(Self.composed))
        #expect(!rules.queryableNames("items").contains(Self.decomposed))
    }
}
