#if Remote && Server
    import Foundation
    import StitchRules
    import TestProcesses
    import Testing

    /// The example is what a newcomer sees first: it must work, and rules and subscriptions with it.
    @Suite struct ChatExampleTests {
        private let folder = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Examples/RChat")

        /// One server, and two gateways where the program has libmongoc.
        private static let servers: [[String]] = {
            #if MongoRemote
                [[], ["--gateways"]]
            #else
                [[]]
            #endif
        }()

        @Test(arguments: servers)
        func `each user of the chat sees what rules and subscriptions give`(
            servers: [String]
        ) async throws {
            try await withTemporaryFolder { work in
                let script = folder.appending(path: "scripts/tutorial.chat").path
                let answer = try await Program.run(
                    folder.appending(path: "run"), servers + ["--script", script],
                    environment: [
                        "RCHAT_PROGRAMS": try Program.tool.deletingLastPathComponent().path,
                        "RCHAT_WORK": work.path("work"),
                    ], limit: .seconds(240), endedBy: SIGTERM)
                #expect(answer.code == 0, "\(answer.output)")
                #expect(answered(answer.output) == Self.expected)
                let denials = answer.output.split(separator: "\n").filter {
                    $0.contains("taken back: ")
                }
                #expect(denials.count == 2, "\(denials)")
                let ofMessage =
                    #" in table "ChatMessage" was denied by write filter in role "member""#
                let ofDirectory =
                    #"[alice] taken back: write to "bob" in table "Chatster" was denied by write "#
                    + #"filter in role "directory""#
                #expect(denials.first?.hasSuffix(ofMessage) == true)
                #expect(denials.last.map(String.init) == ofDirectory)
                let left = try FileManager.default.contentsOfDirectory(atPath: work.path("work"))
                #expect(!left.contains("pid"), "The server was not ended")
            }
        }

        @Test func `what is typed is read, as a script is`() async throws {
            try await withTemporaryFolder { work in
                let output = try await typed(["/as alice", "/show"], in: work)
                #expect(output.contains("[alice]   no messages"), "\(output)")
            }
        }

        @Test func `a refused sign-in is reported, and the terminal goes on`() async throws {
            try await withTemporaryFolder { work in
                _ = try await typed(["/as carol"], in: work)
                // The server of now has another password for carol, whose phone was used before.
                try await shell(
                    """
                    rm "$RCHAT_WORK"/server.stitch* "$RCHAT_WORK"/backend.stitch*
                    cd "$RCHAT_WORK"
                    echo changed | "$RCHAT_PROGRAMS/stitchsync" adduser server.stitch carol
                    echo alice | "$RCHAT_PROGRAMS/stitchsync" adduser server.stitch alice \
                        --role readWrite@RChat
                    echo backend | "$RCHAT_PROGRAMS/stitchsync" adduser server.stitch backend \
                        --role root@admin
                    """, in: work)
                let output = try await typed(
                    ["/as carol", "/as nobody", "/as nobody", "/as", "/me"], in: work)
                #expect(
                    output.split(separator: "\n").suffix(5) == [
                        "the server refused the sign-in of carol",
                        "the server refused the sign-in of nobody",
                        "the server refused the sign-in of nobody", "who? /as NAME",
                        "nobody's phone is in the hand: /as alice",
                    ], "\(output)")
            }
        }

        @Test func `a room with a taken name, or for an unknown user, is refused with a reason`()
            async throws
        {
            try await withTemporaryFolder { work in
                let output = try await typed(
                    [
                        "/as alice", "/new kitchen zorro", "/me", "/new kitchen",
                        "/see room kitchen,", "/new kitchen", "/room kitchen", "/add zorro",
                        "/as bob", "/add alice", "/new kitchen alice",
                        "/see room kitchen: the name is taken", "/me", "/room kitchen",
                        // A refused room gives no right.
                        "/add bob", "/leave", "/unsee room kitchen", "/me", "/new attic carol",
                        "/see room attic,", "/as carol", "/see room attic,",
                    ], in: work)
                let fields = "fields: conversations memberSince presence unread userName"
                #expect(
                    shown(output) == [
                        "there is no user zorro", "[alice]   \(fields)",
                        "there is a room kitchen already", "there is no user zorro",
                        "no room is open: /room NAME",
                        "[bob]   room kitchen: the name is taken", "[bob]   \(fields)",
                        "you are no member of kitchen", "[bob]   \(fields)",
                    ], "\(output)")
            }
        }

        @Test func `a member who was added reads and writes until leaving, and no longer`()
            async throws
        {
            try await withTemporaryFolder { work in
                let output = try await typed(
                    [
                        "/as alice", "/new kitchen bob", "/see room kitchen,", "/room kitchen",
                        "Soup?", "/as bob", "/see room kitchen,", "/room kitchen", "/see Soup?",
                        "/add carol", "/as carol", "/see room kitchen,", "/room kitchen",
                        "/see Soup?", "Yes.", "/sent", "/leave", "/unsee room kitchen", "/show",
                        "/as alice", "/see Yes.", "More soup?", "/sent", "/as carol",
                        "/room kitchen", "/show", "Still here?", "/see table \"ChatMessage\"",
                        "/unsee Still here?", "/show", "/new kitchen", "/see the name is taken",
                        // The owner leaves; the room goes on.
                        "/as alice", "/leave", "/unsee room kitchen", "/show", "/as bob",
                        "/see More soup?", "Alone.", "/sent", "/add carol", "/as carol",
                        "/see room kitchen,", "/see Alone.", "/as alice", "/room kitchen", "/show",
                    ], in: work)
                #expect(
                    output.split(separator: "\n").filter { $0.contains("]   ") } == [
                        "[carol]   no messages", "[carol]   no messages", "[carol]   no messages",
                        "[alice]   no messages", "[alice]   no messages",
                    ], "\(output)")
            }
        }

        @Test func `the directory follows a phone that goes offline, and being so is no error`()
            async throws
        {
            try await withTemporaryFolder { work in
                let output = try await typed(
                    [
                        "/as alice", "/see alice is here", "/as bob", "/see alice is here",
                        "/as alice", "/offline", "/as bob", "/see alice is away", "/as alice",
                        "/online", "/as bob", "/see alice is here", "/as alice", "/away",
                        "/as bob", "/see alice is away", "/as alice", "/offline", "/online",
                        // The directory has what alice's phone sent before bob's.
                        "/sent", "/as bob", "/away", "/as alice", "/see bob is away", "/who",
                        "/here", "/as bob", "/see alice is here", "/as alice", "/signout",
                        "/as bob", "/see alice is away", "/see bob is away", "/who",
                    ], in: work)
                #expect(
                    shown(output) == [
                        "[alice]   alice is away", "[alice]   bob is away",
                        "[alice]   carol is away", "[bob]   alice is away", "[bob]   bob is away",
                        "[bob]   carol is away",
                    ], "\(output)")
            }
        }

        @Test func `the directory shows a user away whose terminal ended`() async throws {
            try await withTemporaryFolder { work in
                // Each terminal of the second user ends once it has seen what the first one did.
                let output = try await shell(
                    """
                    {
                        printf '%s\\n' '/as alice'
                        until [ -f "$RCHAT_WORK/pid" ]; do sleep 0.1; done
                        printf '%s\\n' '/as carol' '/see alice is here' | "$0" >&2
                        printf '%s\\n' '/away'
                        printf '%s\\n' '/as carol' '/see alice is away' | "$0" >&2
                        printf '%s\\n' '/see carol is away' '/who'
                    } | "$0"
                    """, in: work)
                #expect(
                    output.hasSuffix(
                        """
                        [alice]   alice is away
                        [alice]   bob is away
                        [alice]   carol is away

                        """), "\(output)")
            }
        }

        /// Types lines into a terminal and returns what it shows.
        private func typed(_ lines: [String], in work: TemporaryFolder) async throws -> String {
            let file = try work.write(lines: lines, to: "typed-\(UUID())")
            return try await shell("exec \"$0\" <'\(file)'", in: work)
        }

        /// Runs a shell, in which `$0` is the chat, and returns what it shows.
        @discardableResult
        private func shell(_ script: String, in work: TemporaryFolder) async throws -> String {
            let answer = try await Program.run(
                URL(filePath: "/bin/sh"), ["-ec", script, folder.appending(path: "run").path],
                environment: [
                    "RCHAT_PROGRAMS": try Program.tool.deletingLastPathComponent().path,
                    "RCHAT_WORK": work.path("work"),
                ], limit: .seconds(120), endedBy: SIGTERM)
            #expect(answer.code == 0, "\(answer.output)")
            return answer.output
        }

        /// What a terminal showed after its help, but for messages that arrived.
        private func shown(_ output: String) -> [String] {
            let lines = output.split(separator: "\n").map(String.init)
            let help = lines.firstIndex { $0.hasPrefix("/help") } ?? 0
            return lines[(help + 1)...].filter { !$0.contains(" | ") }
        }

        /// What was shown to whom, by what was asked: a command, and the lines behind it.
        private func answered(_ output: String) -> [String] {
            let asking = ["/show", "/me", "/kept"]
            var shown: [String] = []
            for line in output.split(separator: "\n") {
                if let command = asking.first(where: { line == "> \($0)" }) {
                    shown.append(command)
                } else if line.contains("]   ") {
                    shown.append(String(line))
                }
            }
            return shown
        }

        private static let expected = [
            "/show", "[alice]   kitchen | alice: Hello Bob!", "[alice]   kitchen | bob: Hi Alice!",
            "/kept", "[alice]   kept: kitchen | bob: I owe Alice ten euros.",
            // The swap took the kitchen off the phone.
            "/show", "[alice]   garden | alice: Only carol and me?",
            // Bob is no member of the garden, and still one of the kitchen.
            "/show", "[bob]   no messages",
            "/show", "[bob]   kitchen | alice: Hello Bob!", "[bob]   kitchen | bob: Hi Alice!",
            // Neither the moderators' note nor what is bob's.
            "/me", "[alice]   room kitchen, 2 unread", "[alice]   room garden, 0 unread",
            "[alice]   fields: conversations memberSince presence unread userName",
            "/me", "[carol]   fields: conversations memberSince presence unread userName",
            "/show", "[carol]   no messages",
            // The kitchen is alice's: carol's is refused, and shows nothing of it.
            "/me", "[carol]   room kitchen: the name is taken",
            "[carol]   fields: conversations memberSince presence unread userName",
            "/show", "[carol]   no messages",
            "/show", "[alice]   kitchen | alice: Hello Bob!", "[alice]   kitchen | bob: Hi Alice!",
            "[alice]   kitchen | bob: Is anybody there?",
            // Carol is added, and leaves.
            "/show", "[carol]   kitchen | alice: Hello Bob!", "[carol]   kitchen | bob: Hi Alice!",
            "[carol]   kitchen | bob: Is anybody there?",
            "/show", "[carol]   no messages",
            // Who made the room left it, and cannot have its name again.
            "/show", "[alice]   no messages",
            "/me", "[alice]   room garden, 0 unread",
            "[alice]   fields: conversations memberSince presence unread userName",
            "/me", "[alice]   room garden, 0 unread", "[alice]   room kitchen: the name is taken",
            "[alice]   fields: conversations memberSince presence unread userName",
            // Files, which the others have, too.
            "/show", "[alice]   garden | alice: Only carol and me?",
            "[alice]   garden | alice: photo cat.svg, 96 bytes is here",
            "[bob]   saved cat.svg, 96 bytes", "[carol]   saved cat.svg, 96 bytes",
            "/show", "[carol]   kitchen | alice: Hello Bob!", "[carol]   kitchen | bob: Hi Alice!",
            "[carol]   kitchen | bob: Is anybody there?",
            "[carol]   kitchen | bob: photo cat.svg, 96 bytes is here",
            "[carol]   kitchen | bob: I am here. (at 52.52 13.4)",
            // Carol's account is deleted, with all that was carol's.
            "[carol]   the password is changed",
            "[bob]   alice is here, picture cat.svg, 96 bytes is here", "[bob]   bob is away",
        ]

        @Test func `its rules are fit for sync and warn of nothing`() throws {
            let rules = folder.appending(path: "rules")
            var files: [String: [UInt8]] = [:]
            for path in try FileManager.default.subpathsOfDirectory(atPath: rules.path)
            where path.hasSuffix(".json") {
                files[path] = try Array(Data(contentsOf: rules.appending(path: path)))
            }
            let read = try RuleSet(files: files)
            #expect(files.count == 6)
            #expect(read.isSynced && read.syncFindings.isEmpty && read.warnings.isEmpty)
            #expect(read.customData?.userIDField == "userID")
        }

        @Test func `its own package is whole`() async throws {
            // What it compiles this package compiles, too; here it is about the manifest.
            let answer = try await Program.run(
                URL(filePath: "/usr/bin/env"),
                [
                    "swift", "package", "--package-path", folder.path, "--scratch-path",
                    FileManager.default.temporaryDirectory.appending(path: "rchat-\(UUID())").path,
                    "dump-package",
                ], limit: .seconds(120))
            #expect(answer.code == 0, "\(answer.output)")
            for part in ["StitchRemote", "Tool", "\"RChat\""] {
                #expect(answer.output.contains(part), "\(part)")
            }
        }
    }
#endif
