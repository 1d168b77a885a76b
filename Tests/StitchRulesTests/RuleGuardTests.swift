import BSONStore
import Testing

@testable import StitchRules

/// A guard is the one place through which servers and remotes ask the rules.
struct RuleGuardTests {
    private static let all = #"{"name": "all", "apply_when": {}, "read": true, "write": true}"#
    private static let own = #"""
        {"name": "own", "apply_when": {},
         "document_filters": {"read": {"owner": "%%user.id"}, "write": {"owner": "%%user.id"}},
         "fields": {"owner": {"write": true}, "title": {"read": true}}}
        """#

    private static func ruleGuard(_ roles: String, _ id: String = "ann") throws -> RuleAccessPolicy
    {
        RuleAccessPolicy(try RuleFixtures.rules("[\(roles)]"), RuleUser(id: id))
    }

    @Test("No default role opens the databases and collections of the server itself")
    func closed() throws {
        let rules = try RuleFixtures.load([
            "data_sources/mongodb-atlas/default_rule.json": #"{"roles": [\#(Self.all)]}"#
        ])
        let ruleGuard = RuleAccessPolicy(rules, RuleUser(id: "ann"))
        #expect(!ruleGuard.access(Namespace("shop", "anything")).isNever)
        for (database, name) in [
            ("admin", "system.users"), ("config", "transactions"), ("local", "oplog.rs"),
            ("shop", "system.views"), ("admin", "anything"),
        ] {
            #expect(ruleGuard.access(Namespace(database, name)).isNever, "\(database).\(name)")
        }
    }

    @Test("Fingerprints are equal where as much is allowed, and only there")
    func fingerprints() throws {
        let items = RuleFixtures.items
        let ann = try Self.ruleGuard(Self.own).fingerprint(items)
        #expect(try Self.ruleGuard(Self.own).fingerprint(items) == ann)
        #expect(try Self.ruleGuard(Self.own, "ben").fingerprint(items) != ann)
        #expect(try Self.ruleGuard(Self.all).fingerprint(items) != ann)
        #expect(
            try Self.ruleGuard(Self.all).fingerprint(items)
                == Self.ruleGuard(Self.all, "ben").fingerprint(items))
        let former = try Self.ruleGuard(Self.own)
        #expect(
            try former.fingerprintOfAll(items) == Self.ruleGuard(Self.own).fingerprintOfAll(items))
        #expect(
            try former.fingerprintOfAll(items) != Self.ruleGuard(Self.all).fingerprintOfAll(items))
    }

    @Test("What is hashed has the same number in every process")
    func hashing() {
        // The reference values of FNV-1a, 64 bits.
        var hash = StableHash()
        #expect(hash.value == 0xcbf2_9ce4_8422_2325)
        hash.add("a".utf8)
        #expect(hash.value == 0xaf63_dc4c_8601_ec8c)
        var foobar = StableHash()
        foobar.add("foobar".utf8)
        #expect(foobar.value == 0x8594_4171_f739_67e8)
    }

    @Test("A change is seen of documents that are seen before or after, without hidden fields")
    func changes() throws {
        let ruleGuard = try Self.ruleGuard(Self.own)
        let mine: BSONDocument = ["_id": 1, "owner": "ann", "title": "a", "salary": 1]
        let theirs: BSONDocument = ["_id": 1, "owner": "ben", "title": "a", "salary": 1]
        func seen(
            _ kind: StoreChange.Kind, _ before: BSONDocument?, _ after: BSONDocument?
        ) -> String {
            let change = StoreChange(
                standingAt: 1, RuleFixtures.items, kind, before: before, after: after)
            guard let seen = ruleGuard.seen(change) else { return "-" }
            let documents = [seen.change.before, seen.change.after].map { document in
                document.map { $0.keys.dropFirst().joined(separator: ",") } ?? "-"
            }
            return "\(seen.change.kind) \(documents) \(seen.passage?.rawValue ?? "")"
        }
        let raised: BSONDocument = ["_id": 1, "owner": "ann", "title": "a", "salary": 2]
        let renamed: BSONDocument = ["_id": 1, "owner": "ann", "title": "b", "salary": 2]
        #expect(seen(.insert, nil, theirs) == "-")
        #expect(seen(.update, mine, raised) == "-")
        #expect(seen(.insert, nil, mine) == #"insert ["-", "owner,title"] "#)
        #expect(seen(.update, mine, renamed) == #"update ["owner,title", "owner,title"] "#)
        #expect(seen(.update, mine, theirs) == #"delete ["owner,title", "-"] leftView"#)
        #expect(seen(.replace, theirs, mine) == #"insert ["-", "owner,title"] enteredView"#)
        #expect(seen(.delete, mine, nil) == #"delete ["owner,title", "-"] "#)
        #expect(seen(.delete, theirs, nil) == "-")
    }
}
