#if Remote && Server
    import Foundation
    import TestProcesses
    import Testing

    @testable import StitchSyncCommand

    /// An author of rules must see a mistake before users do.
    @Suite struct RulesCommandTests {
        private static let file = "data_sources/mongodb-atlas/shop/items/rules.json"

        /// Writes the rules of `shop.items` into a folder.
        private static func write(
            _ lines: [String], _ rules: String, _ folder: TemporaryFolder
        ) throws {
            let path = folder.url.appending(path: "\(rules)/\(file)")
            try FileManager.default.createDirectory(
                at: path.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: path)
        }

        private static let old = [
            #"{"roles": ["#,
            #"  {"name": "clerk", "apply_when": {"%%user.id": "ben"}, "read": true,"#,
            #"   "fields": {"price": {"write": true}}},"#,
            #"  {"name": "owner", "apply_when": {},"#,
            #"   "document_filters": {"read": {"owner": "%%user.id"}, "write": {"public": true}},"#,
            #"   "read": true, "write": true}"#,
            "]}",
        ]

        private static let new = [
            #"{"roles": ["#,
            #"  {"name": "clerk", "apply_when": {"%%user.id": "ben"},"#,
            #"   "fields": {"price": {"read": true}, "owner": {"write": true}}},"#,
            #"  {"name": "owner", "apply_when": {},"#,
            #"   "document_filters": {"read": {"public": true}, "write": {"public": true}},"#,
            #"   "read": true, "write": true}"#,
            "]}",
        ]

        private static func prepare(_ folder: TemporaryFolder) async throws {
            try write(old, "old", folder)
            try write(new, "new", folder)
            _ = try folder.write(
                lines: [
                    #"{"_id": "a", "owner": "ann", "price": 1}"#,
                    #"{"_id": "b", "owner": "zoe", "price": 2, "public": true}"#,
                ], to: "items.jsonl")
            _ = try await Tool.run("import", "shop.stitch", "shop.items", "items.jsonl", in: folder)
            _ = try folder.write(lines: ["password"], to: "pw")
            for name in ["ann", "ben"] {
                _ = try await Tool.run(
                    "adduser", "shop.stitch", name, "--role", "readWrite@shop", in: folder,
                    input: "pw")
            }
        }

        @Test func `check names the place of errors and of probable mistakes`() async throws {
            try await withTemporaryFolder { folder in
                try Self.write(Self.old, "old", folder)
                let checked = try await Tool.run("rules", "check", "old", in: folder)
                #expect(checked.code == 0)
                #expect(
                    checked.output == [
                        "\(Self.file):5:57: warning: roles[1].document_filters.write: The write "
                            + "filter lets users read documents that the read filter of the role "
                            + "\"owner\" hides: write permission includes read permission",
                        "0 errors, 1 warning",
                    ])
                let strict = try await Tool.run("rules", "check", "old", "--strict", in: folder)
                #expect(strict.code == 1)
                try Self.write(
                    [#"{"roles": [{"name": "a","#, #"  "apply_when": {"x": {"$foo": 1}}}]}"#],
                    "wrong", folder)
                let wrong = try await Tool.run("rules", "check", "wrong", "--json", in: folder)
                #expect(wrong.code == 1 && wrong.output.count == 1)
                #expect(wrong.output.first?.contains(#""level":"error""#) == true)
                #expect(wrong.output.first?.contains(#""line":2"#) == true)
                let missing = try await Tool.run("rules", "check", "missing", in: folder)
                #expect(missing.code == 1)
            }
        }

        @Test func `check compares the rules with a database`() async throws {
            try await withTemporaryFolder { folder in
                try await Self.prepare(folder)
                let checked = try await Tool.run(
                    "rules", "check", "new", "--db", "shop.stitch", in: folder)
                #expect(
                    checked.output == [
                        "\(Self.file):5:4: warning: roles[1].document_filters: No index of "
                            + "shop.items begins with a field of the filters (\"public\"): each "
                            + "read tests every document",
                        "0 errors, 1 warning",
                    ])
            }
        }

        @Test func `explain says which role decides, and field by field`() async throws {
            try await withTemporaryFolder { folder in
                try await Self.prepare(folder)
                let ann = try await Tool.run(
                    "rules", "explain", "old", "shop.items", #""a""#, "--user", "ann", "--db",
                    "shop.stitch", in: folder)
                #expect(
                    ann.output == [
                        "Does the role clerk apply? no: apply_when does not hold (\(Self.file), "
                            + "roles[0].apply_when)",
                        "Which role has the user? owner: apply_when holds (\(Self.file), "
                            + "roles[1].apply_when)",
                        "Does the user see the document? yes, all of it",
                        "May the user change it? no: writeFilter",
                        "May the user delete it? no: writeFilter",
                        "May the user insert it? no: writeFilter",
                        #"The user sees {"_id":"a","owner":"ann","price":1}"#,
                        "field  read  write", "------------------", "_id     yes     no",
                        "owner   yes     no", "price   yes     no",
                    ], "\(ann.complaints)")
                let other = try await Tool.run(
                    "rules", "explain", "old", "shop.items", #""a""#, "--user-id", "zoe",
                    "--custom-data", "{}", "--db", "shop.stitch", "--json", in: folder)
                #expect(other.output.first?.contains(#""sees":null"#) == true)
                let missing = try await Tool.run(
                    "rules", "explain", "old", "shop.items", #""x""#, "--user", "ann", "--db",
                    "shop.stitch", in: folder)
                #expect(missing.code == 1)
            }
        }

        @Test func `an administrator signs in to a server with an option of its own`() async throws
        {
            try await withTemporaryFolder { folder in
                try Self.write(Self.old, "old", folder)
                _ = try folder.write(lines: ["password"], to: "pw")
                try await ServerProcess.run(["--auth", "--rules", folder.path("old")]) { server in
                    try await Self.checkServer("stitchsync://127.0.0.1:\(server.port)", folder)
                }
            }
        }

        private static func checkServer(_ uri: String, _ folder: TemporaryFolder) async throws {
            for (name, role) in [("root", "root"), ("ann", "readWrite@shop")] {
                let user = ["adduser", uri, name, "--role", role, "--password-file", "pw"]
                let root = ["--user", "root", "--user-password-file", "pw"]
                let added = try await Tool.run(
                    arguments: user + (name == "root" ? [] : root), in: folder)
                #expect(added.code == 0, "\(added.complaints)")
            }
            let inserted = try await Tool.run(
                "insert", uri, "shop.items", "{_id: 'a', owner: 'ann'}", "--user", "root",
                "--password-file", "pw", in: folder)
            #expect(inserted.code == 0, "\(inserted.complaints)")
            for words in [
                ["check", "old"], ["diff", "old", "old"],
                ["explain", "old", "shop.items", #""a""#, "--user", "ann"],
            ] {
                let arguments = ["rules"] + words
                let place = ["--db", uri]
                let tried = try await Tool.run(
                    arguments: arguments + place + ["--admin", "root", "--password-file", "pw"],
                    in: folder)
                #expect(tried.code == 0, "\(words): \(tried.complaints)")
                #expect(!tried.output.isEmpty)
                let stranger = try await Tool.run(arguments: arguments + place, in: folder)
                #expect(stranger.code == 1, "\(words): \(stranger.output)")
            }
        }

        @Test func `diff shows what other rules change, in a file and at a server`() async throws {
            try await withTemporaryFolder { folder in
                try await Self.prepare(folder)
                let expected = [
                    "ann@admin, shop.items:", #"  becomes invisible: 1 document, such as "a""#,
                    "ben@admin, shop.items:",
                    #"  public becomes hidden: 1 document, such as "b""#,
                    #"  owner becomes writable: 2 documents, such as "a""#,
                    #"  price is no longer writable: 2 documents, such as "a""#,
                ]
                let changed = try await Tool.run(
                    "rules", "diff", "old", "new", "--db", "shop.stitch", in: folder)
                #expect(changed.output == expected, "\(changed.complaints)")
                let same = try await Tool.run(
                    "rules", "diff", "old", "old", "--db", "shop.stitch", in: folder)
                #expect(same.output == ["no differences for 2 users"])
                let one = try await Tool.run(
                    "rules", "diff", "old", "new", "--db", "shop.stitch", "--user", "ann",
                    "--json", in: folder)
                #expect(one.output.count == 1)
            }
        }
    }
#endif
