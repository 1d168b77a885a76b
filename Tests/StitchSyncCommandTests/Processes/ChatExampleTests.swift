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

        @Test func `each user of the chat sees what rules and subscriptions give`() async throws {
            try await withTemporaryFolder { work in
                let answer = try await Program.run(
                    folder.appending(path: "run"),
                    ["--script", folder.appending(path: "scripts/tutorial.chat").path],
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
                let typed = "printf '%s\\n' '/as alice' '/show' | exec \"$0\""
                let answer = try await Program.run(
                    URL(filePath: "/bin/sh"), ["-c", typed, folder.appending(path: "run").path],
                    environment: [
                        "RCHAT_PROGRAMS": try Program.tool.deletingLastPathComponent().path,
                        "RCHAT_WORK": work.path("work"),
                    ], limit: .seconds(240), endedBy: SIGTERM)
                #expect(answer.code == 0, "\(answer.output)")
                #expect(answer.output.contains("[alice]   no messages"), "\(answer.output)")
            }
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
            "/show", "[alice]   kitchen | alice: Hello Bob!", "[alice]   kitchen | bob: Hi Alice!",
            "[alice]   kitchen | bob: Is anybody there?",
        ]

        @Test func `its rules are fit for sync and warn of nothing`() throws {
            let rules = folder.appending(path: "rules")
            var files: [String: [UInt8]] = [:]
            for path in try FileManager.default.subpathsOfDirectory(atPath: rules.path)
            where path.hasSuffix(".json") {
                files[path] = try Array(Data(contentsOf: rules.appending(path: path)))
            }
            let read = try RuleSet(files: files)
            #expect(files.count == 5)
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
