#if Remote && Server
    import Foundation
    import TestProcesses
    import Testing

    @testable import StitchSyncCommand

    /// Without these a file and a server would be managed by different words.
    @Suite struct DocumentVerbTests {
        /// Runs the tool and returns its output.
        private static func run(
            _ arguments: String..., in folder: TemporaryFolder, code: Int32 = 0
        ) async throws -> [String] {
            let answer = try await Tool.run(arguments: arguments, in: folder)
            #expect(answer.code == code, "\(arguments) \(answer.complaints)")
            return answer.output
        }

        private static func play(_ place: String, _ folder: TemporaryFolder) async throws {
            func run(_ arguments: String..., code: Int32 = 0) async throws -> [String] {
                let words = [arguments[0], place, "d.c"] + arguments.dropFirst()
                let answer = try await Tool.run(arguments: words, in: folder)
                #expect(answer.code == code, "\(words) \(answer.complaints)")
                return answer.output
            }
            func index(_ word: String, _ rest: String...) async throws -> [String] {
                let words = ["index", word, place, "d.c"] + rest
                let answer = try await Tool.run(arguments: words, in: folder)
                #expect(answer.code == 0, "\(words) \(answer.complaints)")
                return answer.output
            }
            #expect(
                try await run("insert", "{_id: 1, n: 'a'}", "[{_id: 2}, {_id: 3}]")
                    == ["d.c: 3 inserted"])
            #expect(
                try await run("insert", "{_id: 1}", "{_id: 4}", "--json", code: 1)
                    == [#"{"inserted":1,"pending":false}"#])
            #expect(
                try await run("update", "{_id: {$gt: 1}}", "{$set: {n: 'b'}}", "--many")
                    == ["d.c: 3 matched, 3 modified"])
            #expect(
                try await run("update", "{_id: 9}", "{$set: {n: 'c'}}", "--upsert")
                    == ["d.c: 0 matched, 0 modified, _id 9 upserted"])
            #expect(try await run("count", "{n: 'b'}") == ["3"])
            #expect(try await run("count", "--query", "{n: 'b'}") == ["3"])
            #expect(try await run("delete", "{n: 'b'}") == ["d.c: 1 deleted"])
            #expect(try await run("delete", "{n: 'b'}", "--many") == ["d.c: 2 deleted"])
            #expect(
                try await run("find", "{}", "--table")
                    == ["_id  n", "------", "1    a", "9    c"])
            #expect(try await run("find", "{_id: 9}", "--relaxed") == [#"{"_id":9,"n":"c"}"#])
            #expect(try await run("export", "{_id: 9}", "--relaxed") == [#"{"_id":9,"n":"c"}"#])
            #expect(
                try await run("aggregate", "[{$match: {n: 'a'}}]", "--relaxed")
                    == [#"{"_id":1,"n":"a"}"#])
            #expect(try await index("create", "{n: 1}") == ["d.c: the index n_1 exists"])
            #expect(try await index("list").contains { $0.hasPrefix("n_1") })
            #expect(try await index("drop", "n_1") == ["d.c: the index n_1 was dropped"])
            #expect(try await run("stats").contains { $0.contains("\"count\": 2") })
            let listed = try await Tool.run("ls", place, "d", "--json", in: folder)
            #expect(
                listed.output.first?.hasPrefix(
                    #"{"collection":"d.c","documents":2,"indexes":1,"#) == true,
                "\(listed.output) \(listed.complaints)")
            let refused = try await Tool.run("drop", place, "d.c", in: folder)
            #expect(refused.code == 1)
            #expect(refused.complaints.first?.contains("--yes") == true)
            #expect(try await run("drop", "--yes") == ["d.c: dropped"])
            #expect(try await run("count") == ["0"])
        }

        @Test func `the documents of a file are managed`() async throws {
            try await withTemporaryFolder { try await Self.play("shop.stitch", $0) }
        }

        @Test func `the documents of a server are managed`() async throws {
            try await withTemporaryFolder { folder in
                try await ServerProcess.run { server in
                    try await Self.play("mongodb://127.0.0.1:\(server.port)", folder)
                }
            }
        }

        @Test func `writes to a synced collection are pending`() async throws {
            try await withTemporaryFolder { folder in
                _ = try await Self.run("insert", "a", "d.c", "{_id: 1}", in: folder)
                _ = try await Self.run("sync", "a", "d.c", "--remote", "r", in: folder)
                let pending = "pending: it is sent with the next sync"
                #expect(
                    try await Self.run("insert", "a", "d.c", "{_id: 2}", in: folder)
                        == ["d.c: 1 inserted", pending])
                #expect(
                    try await Self.run(
                        "update", "a", "d.c", "{_id: 2}", "{n: 1}", "--replace", in: folder)
                        == ["d.c: 1 matched, 1 modified", pending])
                #expect(
                    try await Self.run("delete", "a", "d.c", "{_id: 1}", in: folder)
                        == ["d.c: 1 deleted", pending])
                let listed = try await Self.run("ls", "a", in: folder)
                #expect(listed.last?.hasSuffix("yes") == true)
                _ = try await Self.run("sync", "a", "d.c", "--remote", "r", in: folder)
                #expect(
                    try await Self.run("find", "r", "d.c", "--relaxed", in: folder)
                        .map { $0.contains(#""_id":2,"n":1"#) } == [true])
            }
        }

        @Test func `a file knows no sign-in`() async throws {
            try await withTemporaryFolder { folder in
                _ = try await Self.run("insert", "a.stitch", "d.c", "{_id: 1}", in: folder)
                for (option, value) in [("--user", "ann"), ("--password-file", "p.txt")] {
                    for words in [["count", "a.stitch", "d.c"], ["shell", "a.stitch"]] {
                        let answer = try await Tool.run(
                            arguments: words + [option, value], in: folder)
                        #expect(answer.code == 1, "\(words)")
                        #expect(
                            answer.complaints.joined().contains(
                                "\(option) needs a server; a.stitch is a file"),
                            "\(answer.complaints)")
                    }
                }
            }
        }

        @Test func `the server's own database is listed with all only`() async throws {
            try await withTemporaryFolder { folder in
                _ = try await Self.run("insert", "a.stitch", "d.c", "{_id: 1}", in: folder)
                _ = try await Self.run(
                    "shell", "a.stitch", "--eval",
                    "db.getSiblingDB('stitchsync').journal.insertOne({_id: 1})", in: folder)
                func lists(_ rest: String...) async throws -> Bool {
                    try await Tool.run(arguments: ["ls", "a.stitch"] + rest, in: folder).output
                        .contains { $0.contains("stitchsync.journal") }
                }
                #expect(try await !lists())
                #expect(try await lists("--all"))
                #expect(try await lists("stitchsync"))
                func shows(_ words: String) async throws -> Bool {
                    let answer = try await Tool.run(
                        arguments: ["shell", "a.stitch", "--eval", words], in: folder)
                    #expect(answer.output.contains { $0.hasPrefix("d ") }, "\(answer)")
                    return answer.output.contains { $0.hasPrefix("stitchsync ") }
                }
                #expect(try await !shows("show dbs"))
                #expect(try await shows("show dbs all"))
            }
        }

        @Test func `a missing file is not created, and its neighbours are named`() async throws {
            try await withTemporaryFolder { folder in
                _ = try await Self.run("insert", "shop.stitch", "d.c", "{_id: 1}", in: folder)
                for verb in ["count", "ls", "find"] {
                    let words = verb == "ls" ? [verb, "shp.stitch"] : [verb, "shp.stitch", "d.c"]
                    let answer = try await Tool.run(arguments: words, in: folder)
                    #expect(answer.code == 1)
                    #expect(
                        answer.complaints.first?.hasSuffix("did you mean shop.stitch?") == true,
                        "\(answer.complaints)")
                }
                let far = try await Tool.run("find", "no/such/file", "d.c", in: folder)
                #expect(far.complaints.first?.contains("does not exist, only /") == true)
            }
        }

        private static func diff(
            against uri: String, _ named: String, _ folder: TemporaryFolder
        ) async throws {
            _ = try await run("insert", "a.stitch", "d.c", "{_id: 1}", in: folder)
            for sign in [[uri, "--user", "root"], [named]] {
                let diff = try await Tool.run(
                    arguments: [
                        "diff", "a.stitch", "d.c", "1", "--password-file", "pw", "--remote",
                    ]
                        + sign, in: folder)
                #expect(diff.code == 0, "\(diff.complaints)")
                #expect(diff.complaints.isEmpty)
            }
        }

        @Test func `a password comes from a file, and one in an address is warned of`()
            async throws
        {
            try await withTemporaryFolder { folder in
                _ = try folder.write(lines: ["rootpassword"], to: "pw")
                try await ServerProcess.run(["--auth"]) { server in
                    let uri = "stitchsync://127.0.0.1:\(server.port)"
                    _ = try await Self.run(
                        "adduser", uri, "root", "--role", "root", "--password-file", "pw",
                        in: folder)
                    let user = ["--user", "root", "--password-file", "pw"]
                    let quiet = try await Tool.run(
                        arguments: ["insert", uri, "d.c", "{_id: 1}"] + user, in: folder)
                    #expect(quiet.output == ["d.c: 1 inserted"])
                    #expect(quiet.complaints.isEmpty)
                    let loud = try await Tool.run(
                        "count", "stitchsync://root:rootpassword@127.0.0.1:\(server.port)", "d.c",
                        in: folder)
                    #expect(loud.output == ["1"])
                    #expect(loud.complaints.first?.hasPrefix("note: other users") == true)
                    let named = "stitchsync://root@127.0.0.1:\(server.port)"
                    let asked = try await Tool.run(
                        "count", named, "d.c", "--password-file", "pw", in: folder)
                    #expect(asked.output == ["1"], "\(asked.complaints)")
                    #expect(asked.complaints.isEmpty)
                    let unasked = try await Tool.run("count", named, "d.c", in: folder)
                    #expect(unasked.complaints.first?.contains("--password-file") == true)
                    let listed = try await Tool.run(
                        "user", "list", named, "--user-password-file", "pw", in: folder)
                    #expect(listed.code == 0, "\(listed.complaints)")
                    try await Self.diff(against: uri, named, folder)
                    let none = try await Tool.run("count", uri, "d.c", in: folder)
                    #expect(none.code == 1)
                }
            }
        }
    }
#endif
