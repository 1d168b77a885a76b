import BSONStore
import StitchRules
import Testing

/// The standard patterns of roles decide as their authors mean them.
@Suite struct AccessTests {
    /// One line of a pattern: who, which document, what is seen and what may be done.
    private static func line(_ access: RuleAccess, _ document: BSONDocument) -> String {
        let seen = access.visible(document).map { $0.extendedJSON(.relaxed) } ?? "-"
        var changed = access.shown(document)
        changed.set("note", to: "changed")
        var taken = access.shown(document)
        taken.set("owner", to: "someone")
        let outcomes = [
            "insert": RuleFixtures.outcome(access, nil, document),
            "delete": RuleFixtures.outcome(access, document, nil),
            "note": RuleFixtures.outcome(access, document, changed),
            "owner": RuleFixtures.outcome(access, document, taken),
        ]
        return "sees \(seen); "
            + ["insert", "note", "owner", "delete"].map { "\($0) \(outcomes[$0] ?? "")" }
            .joined(separator: ", ")
    }

    static let patterns: [(String, String)] = [
        (
            "own data only",
            #"""
            [{"name": "owner", "apply_when": {}, "document_filters":
              {"read": {"owner": "%%user.id"}, "write": {"owner": "%%user.id"}},
              "read": true, "write": true}]
            """#
        ),
        (
            "write own, read all",
            #"""
            [{"name": "r", "apply_when": {}, "document_filters":
              {"read": true, "write": {"owner": "%%user.id"}}, "read": true, "write": true}]
            """#
        ),
        (
            "admin",
            #"""
            [{"name": "admin", "apply_when": {"%%user.custom_data.admin": true},
              "document_filters": {"read": true, "write": true}, "read": true, "write": true},
             {"name": "user", "apply_when": {}, "document_filters":
              {"read": {"owner": "%%user.id"}, "write": {"owner": "%%user.id"}},
              "read": true, "write": true}]
            """#
        ),
        (
            "restricted feed",
            #"""
            [{"name": "r", "apply_when": {}, "document_filters":
              {"read": {"owner": {"$in": "%%user.custom_data.follows"}},
               "write": {"owner": "%%user.id"}}, "read": true, "write": true}]
            """#
        ),
        (
            "collaborators",
            #"""
            [{"name": "r", "apply_when": {}, "document_filters":
              {"read": {"$or": [{"owner": "%%user.id"}, {"helpers": "%%user.id"}]},
               "write": {"$or": [{"owner": "%%user.id"}, {"helpers": "%%user.id"}]}},
              "read": true, "write": true}]
            """#
        ),
        (
            "tiered team",
            #"""
            [{"name": "lead", "apply_when": {"%%user.custom_data.admin": true},
              "document_filters": {"read": {"team": "%%user.custom_data.team"},
                "write": {"team": "%%user.custom_data.team"}}, "read": true, "write": true},
             {"name": "member", "apply_when": {}, "document_filters":
              {"read": {"team": "%%user.custom_data.team"}, "write": {"owner": "%%user.id"}},
              "read": true, "write": true}]
            """#
        ),
        (
            "read-only",
            #"""
            [{"name": "r", "apply_when": {}, "document_filters": {"read": true, "write": false},
              "read": true, "write": false}]
            """#
        ),
        (
            "insert-only",
            #"""
            [{"name": "r", "apply_when": {}, "document_filters":
              {"read": false, "write": {"%%prevRoot": {"$exists": false}}},
              "read": true, "write": true, "delete": false}]
            """#
        ),
        (
            "field mask",
            #"""
            [{"name": "r", "apply_when": {}, "document_filters": {"read": true, "write": true},
              "fields": {"note": {"read": true, "write": true}, "owner": {"read": true}},
              "insert": true, "delete": false, "additional_fields": {"read": false}}]
            """#
        ),
        (
            "reversed",
            #"""
            [{"name": "r", "apply_when": {}, "document_filters":
              {"read": {"%%user.id": {"$in": "%%root.helpers"}},
               "write": {"%%user.id": "%%root.owner"}}, "read": true, "write": true}]
            """#
        ),
        (
            "the owner stays",
            #"""
            [{"name": "r", "apply_when": {}, "document_filters":
              {"read": true, "write": {"$or": [{"%%prevRoot": {"$exists": false}},
               {"%%root.owner": "%%prevRoot.owner"}]}}, "read": true, "write": true}]
            """#
        ),
        ("no role", #"[{"name": "r", "apply_when": {"%%user.type": "server"}}]"#),
        ("no filters", #"[{"name": "r", "apply_when": {}, "read": true, "write": true}]"#),
        (
            "conditions at the top",
            #"""
            [{"name": "r", "apply_when": {}, "read": {"team": "red"}, "write":
              {"owner": "%%user.id"}}]
            """#
        ),
    ]

    @Test("Patterns decide as the page says")
    func patterns() throws {
        let users = [
            RuleUser("ann", ["team": "red", "admin": true, "follows": ["ben"]]),
            RuleUser("ben", ["team": "red"]), RuleUser(id: "eve"),
        ]
        let documents: [BSONDocument] = [
            ["_id": 1, "owner": "ann", "team": "red", "helpers": ["ben"], "note": "a"],
            ["_id": 2, "owner": "ben", "team": "blue", "helpers": [], "note": "b"],
        ]
        var lines: [String] = []
        for (name, roles) in Self.patterns {
            lines.append("# \(name)")
            for user in users {
                let access = try RuleFixtures.access(roles, user)
                lines += documents.enumerated().map {
                    "\(user.id) \($0.offset + 1): \(Self.line(access, $0.element))"
                }
            }
        }
        try expectGolden("rules/patterns.txt", lines.joined(separator: "\n") + "\n")
    }

    @Test("What asks for data that the user does not have is never satisfied, nor its opposite")
    func missing() throws {
        for condition in [
            #"{"team": "%%user.custom_data.team"}"#,
            #"{"team": {"$ne": "%%user.custom_data.team"}}"#,
            #"{"team": {"$nin": "%%user.custom_data.teams"}}"#,
            #"{"$nor": [{"team": "%%user.custom_data.team"}]}"#,
            #"{"%not": {"team": {"%in": "%%user.custom_data.teams"}}}"#,
            #"{"team": {"$not": {"$eq": "%%user.custom_data.team"}}}"#,
            #"{"$not": {"$nor": [{"team": "%%user.custom_data.team"}]}}"#,
            #"{"%%user.custom_data.team": {"$ne": "red"}}"#,
            #"{"$nor": [{"%%user.custom_data.team": "red"}]}"#,
            #"{"_id": {"%stringToOid": "%%user.id"}}"#,
            #"{"_id": {"$ne": {"%stringToUuid": "%%user.id"}}}"#,
        ] {
            let access = try RuleFixtures.access(
                #"""
                [{"name": "r", "apply_when": {}, "document_filters":
                  {"read": \#(condition), "write": false}, "read": true, "write": true}]
                """#)
            #expect(access.isNever, "\(condition)")
        }
    }

    @Test("What a user's data says about itself decides which role is held")
    func ofUsers() throws {
        for (condition, data, expected) in [
            (#"{"%%user.custom_data.team": {"$exists": false}}"#, [:], true),
            (#"{"%%user.custom_data.team": {"$exists": false}}"#, ["team": 1], false),
            (#"{"%%user.custom_data.teams": "red"}"#, ["teams": ["blue", "red"]], true),
            (#"{"%%user.custom_data.n": {"$gte": 3, "$lt": 5}}"#, ["n": 4.5], true),
            (#"{"%%user.custom_data.n": {"$in": "%%values.limit"}}"#, ["n": 2], true),
            (#"{"%%user.custom_data.n": {"$nin": "%%values.limit"}}"#, ["n": 2], false),
            (#"{"%%true": "%%user.custom_data.admin"}"#, ["admin": true], true),
            (#"{"%%environment.tag": ""}"#, [:], true),
            (#"{"%%user.id": "ann", "%%user.type": "normal"}"#, [:], true),
            (
                #"{"%or": [{"%%user.id": "x"}, {"%%user.custom_data.a.b": 1}]}"#,
                ["a": ["b": 1]], true
            ),
            (#"{"%%user.custom_data.s": {"$regex": "^a", "$options": "i"}}"#, ["s": "Ab"], true),
        ] as [(String, BSONDocument, Bool)] {
            let rules = try RuleFixtures.rules(
                #"[{"name": "r", "apply_when": \#(condition), "read": true}]"#,
                values: #"{"name": "limit", "value": [1, 2]}"#)
            let access = rules.access(to: RuleFixtures.items, for: RuleUser("ann", data))
            #expect((access.role == "r") == expected, "\(condition) \(data.extendedJSON())")
        }
    }

    @Test("Ids are compared in the type that a document has them in")
    func conversions() throws {
        let hex = "507f1f77bcf86cd799439011"
        let uuid = "00112233-4455-6677-8899-aabbccddeeff"
        let id = BSONValue.objectID(try BSONObjectID(hex))
        let bytes = BSONValue.binary(
            BSONBinary((0...15).map { UInt8($0 * 17) }, subtype: 4))
        for (condition, user, document) in [
            (#"{"_id": {"%stringToOid": "%%user.id"}}"#, hex, ["_id": id]),
            (#"{"_id": {"%stringToUuid": "%%user.id"}}"#, uuid, ["_id": bytes]),
            (#"{"%%user.id": {"%oidToString": "%%root._id"}}"#, hex, ["_id": id]),
            (#"{"%%user.id": {"%uuidToString": "%%root._id"}}"#, uuid, ["_id": bytes]),
            (
                #"{"owner": {"%oidToString": "%%user.custom_data._id"}}"#, hex,
                ["owner": .string(hex)]
            ),
        ] as [(String, String, BSONDocument)] {
            let access = try RuleFixtures.access(
                #"""
                [{"name": "r", "apply_when": {}, "document_filters":
                  {"read": \#(condition), "write": false}, "read": true, "write": true}]
                """#, RuleUser(user, ["_id": id]))
            #expect(access.sees(document), "\(condition)")
            #expect(!access.sees(["_id": "other"]), "\(condition)")
        }
    }

    @Test("A hidden field is missing and not null, also in documents of arrays")
    func hiddenIsMissing() throws {
        let access = try RuleFixtures.access(
            #"""
            [{"name": "r", "apply_when": {}, "fields": {"a": {"read": true},
              "b": {"fields": {"x": {"read": true}}}}}]
            """#)
        let document: BSONDocument = [
            "_id": 1, "a": 2, "b": [["x": 1, "y": 2], 5, ["y": 3]], "c": 3,
            "__stitch_sync_version": ["v": 1],
        ]
        #expect(
            access.shown(document) == [
                "_id": 1, "a": 2, "b": [["x": 1], [:]], "__stitch_sync_version": ["v": 1],
            ])
    }

    @Test("The reasons of the source documents are given word for word")
    func reasons() throws {
        let access = try RuleFixtures.access(
            #"""
            [{"name": "owner-read-write", "apply_when": {}, "document_filters":
              {"read": {"owner": "%%user.id"}, "write": {"owner": "%%user.id"}},
              "read": true, "write": true}]
            """#)
        let id = BSONValue.objectID(try BSONObjectID("63bdfc40f16be7b1e8c7e4b7"))
        let denial = #expect(throws: RuleDenial.self) {
            try access.judge(from: nil, toShown: ["_id": id, "owner": "someone else"])
        }
        #expect(
            denial?.reason
                == #"write to "63bdfc40f16be7b1e8c7e4b7" in table "items" was denied by write "#
                + #"filter in role "owner-read-write""#)
        let stranger = RuleSet().access(to: RuleFixtures.items, for: RuleUser(id: "ann"))
        let other = #expect(throws: RuleDenial.self) {
            try stranger.judge(from: nil, toShown: ["_id": 5])
        }
        #expect(other?.reason == #"write to "5" in table "items" not allowed: no role applies"#)
        #expect(other?.details == ["cause": "noRole", "table": "items", "primaryKey": 5])
    }

    @Test("The fields that a role may not write are named in the reason")
    func namedFields() throws {
        let access = try RuleFixtures.access(
            #"""
            [{"name": "member", "apply_when": {}, "fields": {
              "title": {"read": true, "write": true}, "amount": {"read": true, "write": false},
              "paid": {"read": true, "write": false}}, "additional_fields": {"read": true}}]
            """#)
        let before: BSONDocument = ["_id": 5, "title": "a", "amount": 1, "paid": false]
        func reason(_ after: BSONDocument) -> String? {
            #expect(throws: RuleDenial.self) { try access.judge(from: before, toShown: after) }?
                .reason
        }
        let start = #"write to "5" in table "items" not allowed: "#
        #expect(
            reason(["_id": 5, "title": "b", "amount": 2, "paid": false])
                == start + #""amount" is read-only in role "member""#)
        #expect(
            reason(["_id": 5, "title": "a", "amount": 2, "paid": true])
                == start + #""amount", "paid" are read-only in role "member""#)
    }
}
