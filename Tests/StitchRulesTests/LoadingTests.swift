import BSONStore
import StitchRules
import Testing

/// Rules that are read wrongly open data to the wrong people: what is not understood is refused.
@Suite struct LoadingTests {
    static let refused: [(String, String)] = [
        (#"[{"apply_when": {}}]"#, "roles[0]: The key name is missing"),
        (#"[{"name": "r"}]"#, "roles[0]: The key apply_when is missing"),
        (
            #"[{"name": 5, "apply_when": {}}]"#,
            "roles[0].name: A text is needed, not a number"
        ),
        (
            #"[{"name": "", "apply_when": {}}]"#,
            "roles[0].name: The name of a role has 1 to 100 characters"
        ),
        (#"{}"#, "roles: An array is needed, not an object"),
        (#"[1]"#, "roles[0]: An object is needed, not a number"),
        (
            #"[{"name": "r", "apply_when": {}, "red": true}]"#,
            "roles[0].red: There is no such key; known are _id, additional_fields, apply_when, "
                + "delete, document_filters, fields, insert, name, read, search, write"
        ),
        (
            #"[{"name": "r", "apply_when": {}, "read": true, "read": false}]"#,
            "roles[0].read: The key stands twice"
        ),
        (
            #"[{"name": "r", "apply_when": {"owner": "x"}}]"#,
            "roles[0].apply_when: A role is chosen by the user alone; put conditions on documents "
                + "into document_filters"
        ),
        (
            #"[{"name": "r", "apply_when": {"%%user.name": "x"}}]"#,
            "roles[0].apply_when[\"%%user.name\"]: There is no expansion %%user.name"
        ),
        (
            #"[{"name": "r", "apply_when": {"%%nobody": "x"}}]"#,
            "roles[0].apply_when.%%nobody: There is no expansion %%nobody"
        ),
        (
            #"[{"name": "r", "apply_when": {"%%request.remoteIPAddress": "x"}}]"#,
            "roles[0].apply_when[\"%%request.remoteIPAddress\"]: %%request belongs to the hosted "
                + "product and has no value"
        ),
        (
            #"[{"name": "r", "apply_when": {"%%true": {"%function": {"name": "f"}}}}]"#,
            "roles[0].apply_when.%%true.%function: %function calls code of the hosted product; "
                + "write the condition with custom data"
        ),
        (
            #"[{"name": "r", "apply_when": {}, "document_filters": {"read": {"$where": "1"}}}]"#,
            "roles[0].document_filters.read.$where: $where is not known in the place of a field; "
                + "known are $and, $or, $nor and $not"
        ),
        (
            #"[{"name": "r", "apply_when": {}, "document_filters": {"read": {"a": {"$foo": 1}}}}]"#,
            "roles[0].document_filters.read.a.$foo: There is no operator $foo in rules"
        ),
        (
            #"[{"name": "r", "apply_when": {}, "document_filters": {"read": {"$or": []}}}]"#,
            "roles[0].document_filters.read.$or: At least one condition is needed"
        ),
        (
            #"[{"name": "r", "apply_when": {}, "document_filters": {"read": {"a": {"$in": 1}}}}]"#,
            "roles[0].document_filters.read.a.$in: An array or an expansion is needed, not a number"
        ),
        (
            #"[{"name": "r", "apply_when": {}, "read": {"%%prevRoot.a": 1}}]"#,
            "roles[0].read: There is no %%prevRoot when a document is read"
        ),
        (
            #"[{"name": "r", "apply_when": {}, "read": "yes"}]"#,
            "roles[0].read: true, false or an object is needed, not a text"
        ),
        (
            #"[{"name": "r", "apply_when": {}, "fields": {"a.b": {"read": true}}}]"#,
            "roles[0].fields[\"a.b\"]: This is not a field; fields in fields are nested under fields"
        ),
        (
            #"[{"name": "r", "apply_when": {}, "fields": {"a": {"read": {"%%this": 1}}}}]"#,
            "roles[0].fields.a.read.%%this: %%this depends on the value of a field; permissions of "
                + "fields must be decided by the user alone"
        ),
        (
            #"[{"name": "r", "apply_when": {}, "document_filters": {"read": {"a": "#
                + #"{"%stringToOid": {"$in": []}}}}}]"#,
            "roles[0].document_filters.read.a.%stringToOid.$in: $in cannot stand inside of a value"
        ),
        (
            #"[{"name": "r", "apply_when": {}, "document_filters": {"read": {"a": "#
                + #"{"%stringToOid": "xyz"}}}}]"#,
            "roles[0].document_filters.read.a.%stringToOid: %stringToOid cannot convert this value"
        ),
        (
            #"[{"name": "r", "apply_when": {}, "document_filters": {"read": {"%%root": 5}}}]"#,
            "roles[0].document_filters.read: This cannot be evaluated: %%root and %%prevRoot as a "
                + "whole can only be asked whether they exist"
        ),
    ]

    @Test("What is wrong is named with its place", arguments: refused)
    func errors(roles: String, expected: String) {
        let error = #expect(throws: RuleError.self) { try RuleFixtures.rules(roles) }
        #expect(
            error?.description == "data_sources/mongodb-atlas/shop/items/rules.json: " + expected)
    }

    @Test("A file that is no JSON, or nested without end, is refused")
    func noJSON() {
        let broken = #expect(throws: RuleError.self) { try RuleFixtures.rules("[{") }
        #expect(broken?.reason == .invalidJSON)
        let ends = String(repeating: "}", count: 60)
        let deep = String(repeating: #"{"$not":"#, count: 60) + "{}" + ends
        let error = #expect(throws: RuleError.self) {
            try RuleFixtures.rules(#"[{"name": "r", "apply_when": \#(deep)}]"#)
        }
        #expect(error?.reason == .tooDeep)
    }

    @Test("Two files about one collection are refused")
    func twice() {
        let text = #"{"database": "shop", "collection": "items", "roles": []}"#
        let error = #expect(throws: RuleError.self) {
            try RuleFixtures.load(["a/rules.json": text, "b/rules.json": text])
        }
        #expect(error?.reason == .duplicateCollection)
        #expect(error?.description == "b/rules.json: a/rules.json describes shop.items as well")
    }

    @Test("What is probably not meant is told")
    func warnings() throws {
        let rules = try RuleFixtures.rules(
            #"""
            [{"name": "all", "apply_when": {}, "document_filters": {"read": true},
              "write": false, "fields": {"a": {"write": true}}},
             {"name": "never", "apply_when": {}}]
            """#)
        let file = "data_sources/mongodb-atlas/shop/items/rules.json"
        #expect(
            rules.warnings.map(\.description) == [
                "\(file): roles[0].document_filters: Without write the filter is false; write true "
                    + "when it is not wanted",
                "\(file): roles[0].write: write is false for the whole document, so write of a "
                    + "field has no effect",
                "\(file): roles[1]: The role is never reached: one before always applies",
            ])
    }

    @Test("Rules that name custom data are told that there is none")
    func missingCustomData() throws {
        let role = #"{"name": "r", "apply_when": {"%%user.custom_data.group": "a"}, "read": true}"#
        var files = ["data_sources/a/shop/items/rules.json": #"{"roles": [\#(role)]}"#]
        let told = try RuleFixtures.load(files).warnings
        #expect(told.count == 1 && told[0].message.contains("%%user.data"), "\(told)")
        files["auth/custom_user_data.json"] = #"""
            {"enabled": true, "database_name": "shop", "collection_name": "profiles",
             "user_id_field": "user"}
            """#
        #expect(try RuleFixtures.load(files).warnings.isEmpty)
        files["auth/custom_user_data.json"] = #"{"enabled": false}"#
        #expect(try RuleFixtures.load(files).warnings.count == 1)
        files["data_sources/a/shop/items/rules.json"] = #"""
            {"roles": [{"name": "r", "apply_when": {"%%user.data.custom_data": "a"}}]}
            """#
        #expect(try RuleFixtures.load(files).warnings.isEmpty)
    }

    @Test("Custom data that a default role lets users write is told")
    func writableCustomData() throws {
        let place = #"""
            {"enabled": true, "database_name": "shop", "collection_name": "profiles",
             "user_id_field": "user"}
            """#
        let writers = [
            #"{"name": "w", "apply_when": {}, "write": true}"#,
            #"{"name": "w", "apply_when": {}, "insert": {"%%user.id": "ann"}}"#,
            #"{"name": "w", "apply_when": {}, "fields": {"a": {"fields": {"b": {"write": {}}}}}}"#,
        ]
        let readers = [
            #"{"name": "r", "apply_when": {}, "read": true}"#,
            #"{"name": "r", "apply_when": {}, "read": true, "write": false, "delete": false}"#,
        ]
        for (role, count) in writers.map({ ($0, 1) }) + readers.map({ ($0, 0) }) {
            var files = [
                "auth/custom_user_data.json": place,
                "data_sources/a/default_rule.json": #"{"roles": [\#(role)]}"#,
            ]
            let told = try RuleFixtures.load(files).warnings.filter {
                $0.message.contains("custom data")
            }
            #expect(told.count == count, "\(role)")
            #expect(told.allSatisfy { $0.message.contains("shop.profiles") })
            // Rules of its own say what is meant.
            files["data_sources/a/shop/profiles/rules.json"] = #"{"roles": []}"#
            #expect(
                try !RuleFixtures.load(files).warnings.contains {
                    $0.message.contains("custom data")
                })
        }
    }

    @Test("Custom data stand in a collection that can be")
    func placeOfCustomData() {
        let text = #"""
            {"enabled": true, "database_name": "shop", "collection_name": "a\u0000b",
             "user_id_field": "user"}
            """#
        #expect(throws: RuleError.self) {
            try RuleFixtures.load(["auth/custom_user_data.json": text])
        }
    }

    @Test("The policy for deleted accounts is read, and its errors name file and place")
    func accountDeletion() throws {
        func policy(_ rows: String...) throws -> AccountDeletionPolicy? {
            let text = #"{"collections": [\#(rows.joined(separator: ","))]}"#
            return try RuleFixtures.load(["auth/account_deletion.json": text]).accountDeletion
        }
        func row(_ rest: String, of collection: String = "items", in database: String = "shop")
            -> String
        {
            #"{"database": "\#(database)", "collection": "\#(collection)", \#(rest)}"#
        }
        let deletes = #""owner_field": "owner", "action": "delete""#
        let read = try policy(
            row(deletes), row(#""owner_field": "a.b", "action": "hand_over", "to": "x""#),
            row(#""owner_field": "owner", "action": "keep""#, of: "others"))
        #expect(read?.collections.map(\.action) == [.delete, .handOver(to: "x"), .keep])
        #expect(try RuleFixtures.load([:]).accountDeletion == nil)
        let wrong: [([String], String)] = [
            ([row(deletes), row(deletes)], "collections[1]"),
            ([row(deletes, of: "system.users", in: "admin")], "collections[0]"),
            ([row(deletes, of: "users", in: "stitchsync_gateway")], "collections[0]"),
            ([row(deletes, of: "a$b")], "collections[0]"),
            ([row(#""owner_field": "$x", "action": "keep""#)], "collections[0].owner_field"),
            ([row(#""owner_field": "a..b", "action": "keep""#)], "collections[0].owner_field"),
            ([row(#""owner_field": "a", "action": "drop""#)], "collections[0].action"),
            ([row(#""owner_field": "a", "action": "hand_over""#)], "collections[0]"),
            ([row(deletes + #", "to": "x""#)], "collections[0].to"),
            ([row(deletes + #", "more": 1"#)], "collections[0].more"),
            (
                [row(#""owner_field": "_id", "action": "hand_over", "to": "x""#)],
                "collections[0].owner_field"
            ),
        ]
        for (rows, place) in wrong {
            let error = #expect(throws: RuleError.self) {
                try RuleFixtures.load([
                    "auth/account_deletion.json":
                        #"{"collections": [\#(rows.joined(separator: ","))]}"#
                ])
            }
            #expect(error?.file == "auth/account_deletion.json" && error?.path == place)
        }
    }

    @Test("Roles that sync cannot use are named, and deny with sync")
    func compatibility() throws {
        let roles = #"""
            [{"name": "r", "apply_when": {}, "read": {"%%user.type": "normal"}, "write": true,
              "document_filters": {"read": {"owner": "%%user.id", "size": 3}},
              "insert": {"%%prevRoot": {"$exists": false}},
              "fields": {"_id": {"read": true}, "a": {"write": {"%%user.id": "x"}}}},
             {"name": "second", "apply_when": {}, "document_filters": {"read": true, "write": true},
              "read": true, "write": true}]
            """#
        let sync = #"{"type": "flexible", "queryable_fields_names": ["owner"]}"#
        let rules = try RuleFixtures.rules(roles, sync: sync)
        #expect(
            rules.syncFindings.map { "\($0.path): \($0.message)" } == [
                "roles[0].document_filters.write: sync needs a write filter",
                "roles[0].document_filters.read: the field \"size\" is not queryable",
                "roles[0].insert: sync knows no %%prevRoot",
                "roles[0].read: with sync this is true or false, not a condition",
                "roles[0].fields.a.write: with sync this is true or false, not a condition",
                "roles[0].fields._id: _id cannot have permissions of its own",
            ])
        let access = rules.access(to: RuleFixtures.items, for: RuleUser(id: "ann"))
        #expect(access.problem == .roleNotSyncable && access.isNever && access.role == "r")
    }

    @Test("Both layouts of before 2023 decide as the roles of today that they stand for")
    func legacy() throws {
        let role = #"""
            {"name": "own", "applyWhen": {}, "read": {"_id": "%%user.id"}, "write":
             {"_id": "%%user.id"}}
            """#
        let chat = #"""
            {"name": "all", "applyWhen": {}, "read": {}, "write": {"authorID": "%%user.id"}}
            """#
        let one = #"""
            {"type": "flexible", "database_name": "RChat", "queryable_fields_names": ["authorID"],
             "permissions": {"rules": {"User": [\#(role)], "ChatMessage": [\#(chat)]},
                             "defaultRoles": []}}
            """#
        let other = #"""
            {"type": "flexible", "database_name": "RChat", "queryable_fields_names": ["authorID"],
             "permissions": {"User": {"roles": [\#(role)]}, "ChatMessage": {"roles": [\#(chat)]}}}
            """#
        let unified = [
            "d/RChat/User/rules.json": #"""
            {"roles": [{"name": "own", "apply_when": {}, "document_filters":
             {"read": {"_id": "%%user.id"}, "write": {"_id": "%%user.id"}}, "read": true,
             "write": true, "insert": true, "delete": true, "search": true}]}
            """#,
            "d/RChat/ChatMessage/rules.json": #"""
            {"roles": [{"name": "all", "apply_when": {}, "document_filters":
             {"read": {}, "write": {"authorID": "%%user.id"}}, "read": true,
             "write": true, "insert": true, "delete": true, "search": true}]}
            """#,
        ]
        let expected = try RuleFixtures.load(unified)
        for text in [one, other] {
            let rules = try RuleFixtures.load(["sync/config.json": text])
            #expect(rules.syncFindings.isEmpty)
            for name in ["User", "ChatMessage", "Chatster"] {
                for user in ["ann", "ben"] {
                    let namespace = Namespace("RChat", name)
                    let a = rules.access(to: namespace, for: RuleUser(id: user))
                    let b = expected.access(to: namespace, for: RuleUser(id: user))
                    #expect(a.decidesEqually(b), "\(name) \(user)")
                }
            }
        }
    }

    @Test("Default roles count where a collection has none, and only there")
    func defaults() throws {
        let none = #"{"roles": [{"name": "admins", "apply_when": {"%%user.data.admin": true}}]}"#
        let all = #"{"roles": [{"name": "default", "apply_when": {}, "read": true}]}"#
        let rules = try RuleFixtures.load([
            "data_sources/a/shop/items/rules.json": none, "data_sources/a/default_rule.json": all,
        ])
        let user = RuleUser(id: "ann")
        #expect(rules.access(to: RuleFixtures.items, for: user).problem == .noRole)
        #expect(rules.access(to: Namespace("shop", "other"), for: user).role == "default")
    }

    @Test("Roles of before 2023 fall through to the default roles where that is asked for")
    func fallThrough() throws {
        let text = #"""
            {"type": "flexible", "database_name": "shop", "permissions": {"rules": {"items":
             [{"name": "no", "applyWhen": {"%%user.id": "x"}, "read": true, "write": true}]},
             "defaultRoles": [{"name": "d", "applyWhen": {}, "read": true, "write": false}]}}
            """#
        for falls in [false, true] {
            let rules = try RuleFixtures.load(["sync/config.json": text], fallThrough: falls)
            let access = rules.access(to: RuleFixtures.items, for: RuleUser(id: "ann"))
            #expect(access.role == (falls ? "d" : nil))
        }
    }
}
