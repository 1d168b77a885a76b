import BSONStore
import StitchSync
import TestProcesses
import Testing

@testable import StitchSyncCommand

/// Without these a sync could touch more than it was asked to, and hide what it left undone.
@Suite struct SyncAdviceTests {
    private static func run(
        _ arguments: String..., in folder: TemporaryFolder, code: Int32 = 0
    ) async throws -> [String] {
        let answer = try await Tool.run(arguments: arguments, in: folder)
        #expect(answer.code == code, "\(arguments) \(answer.output) \(answer.complaints)")
        return answer.output + (code == 0 ? [] : answer.complaints)
    }

    @Test func `only the named collection is synced, and without one all are`() async throws {
        try await withTemporaryFolder { folder in
            for name in ["d.a", "d.b"] {
                _ = try await Self.run("insert", "s", name, "{_id: 1}", in: folder)
            }
            _ = try await Self.run("sync", "s", "d.b", "--remote", "other", in: folder)
            _ = try await Self.run("insert", "s", "d.b", "{_id: 2}", in: folder)
            _ = try await Self.run("sync", "s", "d.a", "--remote", "r", in: folder)
            #expect(try await Self.run("count", "r", "d.b", in: folder) == ["0"])
            let status = try await Self.run("status", "s", in: folder)
            #expect(!status.contains { $0.hasPrefix("stopped") }, "\(status)")
            #expect(
                status.last
                    == "pending: d.b 2: the next sync sends it; see `stitchsync diff s d.b 2`; "
                    + "to drop the change: `stitchsync discard s d.b 2`")
            let wrong = try await Self.run("sync", "s", "d.b", "--remote", "r", in: folder, code: 1)
            let why = wrong.filter { $0.hasPrefix("not in step") }
            #expect(
                why == [
                    "not in step: 1 pending, 0 paused; stopped: the remote does not have the "
                        + "collection that was synced before; nothing is sent or deleted, and 1 "
                        + "document is kept: sync with the original remote again, or choose with "
                        + "`stitchsync resolve s d.b --remote adopt` (or `replace`)"
                ], "\(wrong)")
            #expect(!wrong.joined().contains("adoptRemote"))
            let back = try await Self.run("sync", "s", "d.b", "--remote", "other", in: folder)
            #expect(back.last == "in step")
            for name in ["d.a", "d.b"] {
                _ = try await Self.run("insert", "t", name, "{_id: 1}", in: folder)
            }
            let all = try await Self.run("sync", "t", "--remote", "all", in: folder)
            #expect(
                all == ["d.a", "d.b"].map {
                    "\($0): 1 document synced, 1 of them new: 1 sent, 0 taken, 0 removed, "
                        + "0 conflicts resolved in 2 passes"
                } + ["in step"])
            let narrow = try await Self.run(
                "sync", "t", "--remote", "all", "--ids", "[1]", in: folder, code: 64)
            #expect(narrow.first == "Error: --filter and --ids need one collection; name it")
        }
    }

    @Test func `a new store and an empty collection are noted`() async throws {
        try await withTemporaryFolder { folder in
            _ = try await Self.run("insert", "s", "d.shop", "{_id: 1}", in: folder)
            let new = try await Tool.run("sync", "t", "d.shop", "--remote", "s2", in: folder)
            #expect(new.code == 0)
            #expect(new.complaints.first == "created t")
            let typo = try await Tool.run("sync", "s", "d.shpo", "--remote", "s2", in: folder)
            #expect(typo.code == 0)
            #expect(
                typo.complaints == [
                    "note: neither side has a document in d.shpo; did you mean d.shop?"
                ])
            for words in [["resolve", "s", "d.no", "--missing", "keep"], ["resume", "s", "d.no"]] {
                let none = try await Tool.run(arguments: words, in: folder)
                #expect(none.code == 1)
                #expect(none.complaints.last == "Error: s has no collection d.no")
            }
        }
    }

    @Test func `what is kept is named with the command that helps`() async throws {
        try await withTemporaryFolder { folder in
            try await StuckStore.make(in: folder)
            let (phone, items) = ("phone.stitch", "shop.items")
            let status = try await Self.run("status", phone, in: folder)
            #expect(
                status.contains {
                    $0.hasPrefix("paused: shop.items \"unsure\": ")
                        && $0.hasSuffix(
                            "`stitchsync diff phone.stitch shop.items '\"unsure\"'`; to sync it "
                                + "again: `stitchsync resume phone.stitch shop.items --ids "
                                + "'[\"unsure\"]'`")
                }, "\(status)")
            let rejected =
                "rejected: shop.items \"refused\": a price is not negative; see `stitchsync retry "
                + "phone.stitch`"
            #expect(status.contains(rejected), "\(status)")
            let story = try await Self.run("trace", phone, items, "refused", in: folder)
            #expect(
                story.contains(
                    "rejected write 1: a price is not negative: stitchsync retry phone.stitch 1"),
                "\(story)")
            let paused = try await Self.run("trace", phone, items, "unsure", in: folder)
            #expect(paused.contains { $0.hasSuffix(": see `stitchsync resume`") }, "\(paused)")
            let update = try await Self.run(
                "update", phone, items, "{_id: 'unsure'}", "{$set: {note: 'new'}}", in: folder)
            #expect(update.last == "1 paused document will be synced again")
            #expect(
                try await Self.run("resume", phone, items, in: folder) == ["nothing is paused"])
            #expect(
                try await Self.run("discard", phone, items, "unsure", in: folder) == [
                    "shop.items \"unsure\": the change is discarded; the document is again as the "
                        + "remote confirmed it"
                ])
            let none = try await Self.run("discard", phone, items, "merged", in: folder, code: 1)
            #expect(none == ["Error: shop.items merged has no pending change"])
            let far = try await Self.run("discard", phone, items, "7", in: folder, code: 1)
            #expect(far == ["Error: shop.items 7 is not synced in phone.stitch"])
            _ = try await Self.run("delete", phone, items, "{_id: 'merged'}", in: folder)
            let deleted = try await Self.run("status", phone, in: folder)
            #expect(
                deleted.contains(
                    "deleted: shop.items: 1 synced document deleted here, not yet at the remote; "
                        + "the next sync sends it"), "\(deleted)")
        }
    }

    @Test func `an update that would replace a document needs a flag`() async throws {
        try await withTemporaryFolder { folder in
            _ = try await Self.run("insert", "s", "d.c", "{_id: 1, n: 1}", in: folder)
            let refused = try await Self.run(
                "update", "s", "d.c", "{_id: 1}", "{q: 2}", in: folder, code: 64)
            #expect(refused.first?.contains("requires atomic operators") == true, "\(refused)")
            let kept = try await Self.run("find", "s", "d.c", "--relaxed", in: folder)
            #expect(kept == [#"{"_id":1,"n":1}"#])
            let mixed = try await Self.run(
                "update", "s", "d.c", "{_id: 1}", "{$set: {q: 2}}", "--replace", in: folder,
                code: 64)
            #expect(mixed.first?.contains("--replace needs a whole document") == true, "\(mixed)")
            _ = try await Self.run(
                "update", "s", "d.c", "{_id: 1}", "{q: 2}", "--replace", in: folder)
            let replaced = try await Self.run("find", "s", "d.c", "--relaxed", in: folder)
            #expect(replaced == [#"{"_id":1,"q":2}"#])
        }
    }

    @Test(arguments: [
        ("dump", "; did you mean `stitchsync export`?"), ("restore", "`stitchsync import`?"),
        ("delte", "; `stitchsync --help` lists the commands"),
    ])
    func `no command that deletes is suggested`(_ word: String, _ end: String) async throws {
        try await withTemporaryFolder { folder in
            let refused = try await Self.run(word, "s", in: folder, code: 64)
            #expect(refused.first?.hasSuffix(end) == true, "\(refused)")
        }
    }

    #if Server
        @Test func `the shell hints at its own words, and notes what is pending`() async throws {
            try await withTemporaryFolder { folder in
                _ = try await Self.run("insert", "s", "test.c", "{_id: 1}", in: folder)
                _ = try await Self.run("sync", "s", "test.c", "--remote", "r", in: folder)
                let lines = [
                    ".tables", "SELECT * FROM c", "db.c.insertOne({_id: 2})",
                    "db.c.insertOne({_id: 3})",
                ]
                _ = try folder.write(lines: lines, to: "in.js")
                let shell = try await Tool.run("shell", "s", in: folder, input: "in.js")
                #expect(
                    shell.complaints.filter { !$0.contains("Error") } == [
                        "Hint: try `show collections`",
                        "Hint: try `db.NAME.find({field: value})`",
                        "note: test.c is synced; its changes are pending until the next sync",
                    ])
            }
        }

        @Test func `explain says that a user without a role is refused`() async throws {
            try await withTemporaryFolder { folder in
                _ = try await Self.run("insert", "s", "shop.items", "{_id: 1}", in: folder)
                _ = try folder.write(lines: ["password"], to: "pw")
                let added = try await Tool.run("adduser", "s", "ann", in: folder, input: "pw")
                #expect(added.complaints.first?.hasPrefix("note: ann has no role") == true)
                let rules = "rules/data_sources/mongodb-atlas/shop/items"
                try folder.makeFolder(rules)
                _ = try folder.write(
                    lines: [
                        #"{"roles": [{"name": "all", "apply_when": {}, "read": true, "write": true}]}"#
                    ], to: "\(rules)/rules.json")
                func explained() async throws -> String? {
                    try await Self.run(
                        "rules", "explain", "rules", "shop.items", "1", "--user", "ann", "--db",
                        "s", in: folder
                    ).first
                }
                let without = try await explained()
                #expect(
                    without
                        == "Has the user a role on the database shop? no: the server refuses every "
                        + "command (error 13), whatever the rules allow; give one with `stitchsync "
                        + "user grant s ann --role readWrite@shop`")
                #expect(
                    try await Self.run(
                        "user", "grant", "s", "ann", "--role", "readWrite@shop", in: folder)
                        == ["ann: readWrite@shop granted"])
                #expect(try await explained()?.hasPrefix("Which role has the user? all") == true)
                #expect(
                    try await Self.run(
                        "user", "revoke", "s", "ann", "--role", "readWrite@shop", in: folder)
                        == ["ann: readWrite@shop revoked"])
                #expect(try await explained() == without)
            }
        }

        #if Remote
            @Test func `a rejected write is named by sync as long as it is kept`() async throws {
                try await withTemporaryFolder { folder in
                    _ = try folder.write(lines: ["password"], to: "pw")
                    let rules = "rules/data_sources/mongodb-atlas/shop/items"
                    try folder.makeFolder(rules)
                    _ = try folder.write(
                        lines: [
                            #"{"roles": [{"name": "all", "apply_when": {}, "document_filters": "#,
                            #"{"read": true, "write": {"price": {"$gte": 0}}}, "#,
                            #""read": true, "write": true, "insert": true, "delete": true}]}"#,
                        ], to: "\(rules)/rules.json")
                    try await ServerProcess.run(["--auth", "--rules", folder.path("rules")]) {
                        server in
                        let uri = "stitchsync://127.0.0.1:\(server.port)"
                        _ = try await Self.run(
                            "adduser", uri, "root", "--role", "root", "--password-file", "pw",
                            in: folder)
                        _ = try await Self.run(
                            "adduser", "stitchsync://root:password@127.0.0.1:\(server.port)", "ann",
                            "--role", "readWrite@shop", "--password-file", "pw", in: folder)
                        _ = try await Self.run(
                            "insert", "s", "shop.items",
                            "[{_id: 1, price: 1}, {_id: 2, price: -1}]",
                            in: folder)
                        let words = [
                            "sync", "s", "shop.items", "--remote", uri, "--user", "ann",
                            "--password-file", "pw",
                        ]
                        let first = try await Tool.run(arguments: words, in: folder)
                        #expect(first.code == 1)
                        #expect(
                            first.output.contains {
                                $0.hasPrefix("1 write rejected: shop.items 2: write to \"2\"")
                                    && $0.hasSuffix("; see `stitchsync retry s`")
                            }, "\(first.output) \(first.complaints)")
                        #expect(
                            first.output.last == "not in step: 0 pending, 0 paused, 1 rejected")
                        let second = try await Tool.run(arguments: words, in: folder)
                        #expect(second.code == 0)
                        #expect(
                            second.output.suffix(2) == [
                                "1 rejected write kept; see `stitchsync retry s`", "in step",
                            ])
                        let status = try await Self.run("status", "s", in: folder)
                        #expect(
                            status.suffix(2).first?.hasPrefix(
                                "no document: shop.items: 1 synced _id without") == true)
                        #expect(status.last?.hasPrefix("rejected: shop.items 2: ") == true)
                    }
                }
            }
        #endif
    #endif
}
