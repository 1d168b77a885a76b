#if Remote && Server
    import Foundation
    import TestProcesses
    import Testing

    @testable import StitchSyncCommand

    /// Without these a table from a spreadsheet would have to be converted by hand.
    @Suite struct ColumnTests {
        /// Runs the tool; the output and the complaints in one transcript.
        private static func run(
            _ arguments: String..., in folder: TemporaryFolder, code: Int32 = 0
        ) async throws -> [String] {
            let answer = try await Tool.run(arguments: arguments, in: folder)
            #expect(answer.code == code, "\(arguments)")
            return answer.complaints + answer.output
        }

        private static func found(_ place: String, _ folder: TemporaryFolder) async throws
            -> [String]
        {
            try await run(
                "export", place, "d.c", "--relaxed", "--sort", "{_id: 1}", in: folder)
        }

        private static func play(_ place: String, _ folder: TemporaryFolder) async throws {
            func `import`(_ options: String..., code: Int32 = 0) async throws -> [String] {
                let words = ["import", place, "d.c"] + options
                let answer = try await Tool.run(arguments: words, in: folder)
                #expect(answer.code == code, "\(words) \(answer.complaints)")
                return answer.complaints + answer.output
            }
            _ = try folder.write(
                lines: ["_id,name,size.h,note", "1,pen,2,\"a, \"\"b\"\"\"", "2,ink,x,"],
                to: "a.csv")
            #expect(
                try await `import`("a.csv", "--headerline", "--ignore-blanks")
                    == ["2 documents imported into d.c, 0 lines rejected"])
            #expect(
                try await found(place, folder) == [
                    #"{"_id":1,"name":"pen","size":{"h":2},"note":"a, \"b\""}"#,
                    #"{"_id":2,"name":"ink","size":{"h":"x"}}"#,
                ])
            #expect(
                try await `import`("a.csv", "--headerline", "--stop-on-error", code: 1)
                    == [
                        "a.csv:2: rejected: a document with _id 1 exists already",
                        "0 documents imported into d.c, 1 line rejected",
                    ])
            _ = try folder.write(lines: ["1\t7", "3\tx", "4\t9"], to: "b.tsv")
            let typed = ["--columns-have-types", "--fields", "_id.int32(),n.int64()"]
            #expect(
                try await `import`(
                    "b.tsv", "--mode", "merge", typed[0], typed[1], typed[2], code: 1)
                    == [
                        "b.tsv:2: rejected: n: \"x\" is not of the type int64 (column 3)",
                        "2 documents imported into d.c, 1 line rejected",
                    ])
            _ = try folder.write(lines: [#"{"_id": 2, "name": "new"}"#, "{}"], to: "c.jsonl")
            #expect(
                try await `import`("c.jsonl", "--mode", "upsert", "--upsert-fields", "_id")
                    == ["2 documents imported into d.c, 0 lines rejected"])
            #expect(
                try await run(
                    "export", place, "d.c", "--type", "csv", "--fields", "_id,name,size.h,n",
                    "--query", "{_id: {$type: 'number'}}", "--sort", "{_id: -1}", "--limit", "2",
                    in: folder) == ["_id,name,size.h,n", "4,,,9", "2,new,,"])
            #expect(
                try await run(
                    "export", place, "d.c", "{_id: 1}", "--relaxed", "--json-array", "--fields",
                    "n", in: folder) == ["[", #"{"_id":1,"n":7}"#, "]"])
            #expect(
                try await `import`("b.tsv", "--mode", "delete", "--fields", "_id,n")
                    == ["2 documents deleted from d.c, 0 lines rejected"])
            #expect(
                try await `import`("a.csv", "--headerline", "--drop")
                    == ["2 documents imported into d.c, 0 lines rejected"])
            #expect(try await found(place, folder).count == 2)
            #expect(
                try await run("stats", place, "d", "--json", in: folder).first?
                    .contains(#""objects":2"#) == true)
            #expect(try await run("stats", place, "--json", in: folder).count == 1)
            #expect(try await run("drop", place, "d", "--yes", in: folder) == ["d: dropped"])
            #expect(try await found(place, folder).filter { $0.hasPrefix("{") } == [])
        }

        @Test func `tables go into a file and out of it`() async throws {
            try await withTemporaryFolder { try await Self.play("shop.stitch", $0) }
        }

        @Test func `tables go to a server and from it`() async throws {
            try await withTemporaryFolder { folder in
                try await ServerProcess.run { server in
                    try await Self.play("stitchsync://127.0.0.1:\(server.port)", folder)
                }
            }
        }

        @Test func `sync, users and devices take the user by an option`() async throws {
            try await withTemporaryFolder { folder in
                _ = try folder.write(lines: ["root:@/password"], to: "pw")
                _ = try folder.write(lines: ["annpassword"], to: "ann")
                try await ServerProcess.run(["--auth"]) { server in
                    let uri = "stitchsync://127.0.0.1:\(server.port)"
                    _ = try await Self.run(
                        "adduser", uri, "root", "--role", "root", "--password-file", "pw",
                        in: folder)
                    _ = try await Self.run(
                        "adduser", uri, "ann", "--role", "readWrite@d", "--password-file", "ann",
                        "--user", "root", "--user-password-file", "pw", in: folder)
                    let users = try await Self.run(
                        "user", "list", uri, "--user", "root", "--user-password-file", "pw",
                        in: folder)
                    #expect(users.contains { $0.hasPrefix("ann") }, "\(users)")
                    _ = try await Self.run("insert", "s", "d.c", "{_id: 1}", in: folder)
                    let synced = try await Self.run(
                        "sync", "s", "d.c", "--remote", uri, "--user", "ann", "--password-file",
                        "ann", in: folder)
                    #expect(synced.last == "in step", "\(synced)")
                    _ = try await Self.run(
                        "who", uri, "--user", "root", "--password-file", "pw", in: folder)
                }
            }
        }
    }
#endif
