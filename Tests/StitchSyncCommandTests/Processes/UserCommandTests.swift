#if Remote && Server
    import Foundation
    import TestProcesses
    import Testing

    @testable import StitchSyncCommand

    /// An operator must not need a MongoDB shell to help a user who is locked out.
    @Suite struct UserCommandTests {
        /// Runs `stitchsync user` and returns its output.
        private static func run(
            _ arguments: [String], _ folder: TemporaryFolder, input: String? = nil,
            code: Int32 = 0
        ) async throws -> [String] {
            let answer = try await Tool.run(
                arguments: ["user"] + arguments, in: folder, input: input)
            #expect(answer.code == code, "\(arguments) \(answer.complaints)")
            return answer.output
        }

        /// Manages a user of the database `app` at a place where no such user exists.
        private static func manage(_ place: String, _ folder: TemporaryFolder) async throws {
            _ = try folder.write(lines: ["first password"], to: "first")
            _ = try folder.write(lines: ["second password", "not read"], to: "second")
            let ann = [place, "ann", "--database", "app"]
            #expect(
                try await run(["add"] + ann, folder, input: "first")
                    == ["ann: created on the database app"])
            _ = try await run(["add"] + ann, folder, input: "first", code: 1)
            _ = try await run(["passwd"] + ann + ["--password-file", "second"], folder)
            let token = try await run(["token"] + ann, folder)
            #expect(token.count == 1 && token.first?.count == 43)
            _ = try await run(["disable"] + ann, folder)
            let shown = try await run(["show"] + ann + ["--json"], folder)
            #expect(shown.count == 1 && shown[0].contains(#""disabled":true"#))
            #expect(!shown[0].contains("storedKey") && !shown[0].contains("passwordToken"))
            let listed = try await run(["list", place], folder)
            #expect(listed.contains { $0.hasPrefix("ann") && $0.contains("disabled") })
            _ = try await run(["enable"] + ann, folder)
            _ = try await run(["delete"] + ann, folder)
            _ = try await run(["delete"] + ann, folder, code: 1)
            _ = try await run(["show"] + ann, folder, code: 1)
            // The next user of the name is another one to the rules.
            _ = try await run(["add"] + ann, folder, input: "first")
            let next = try await run(["show"] + ann + ["--json"], folder)
            #expect(next.first?.contains(#""ruleID":":$account."#) == true, "\(next)")
            _ = try await run(["delete"] + ann, folder)
            let named = ["add"] + ann + ["--rule-id"]
            _ = try await run(named + [":app.ben"], folder, input: "first", code: 1)
            _ = try await run(named + [":app.ann"], folder, input: "first")
            let same = try await run(["show"] + ann + ["--json"], folder)
            #expect(same.first?.contains("ruleID") == false, "\(same)")
            _ = try await run(["delete"] + ann, folder)
        }

        @Test func `the users of a file are managed`() async throws {
            try await withTemporaryFolder { folder in
                _ = try await Self.run(["list", "missing.stitch"], folder, code: 1)
                _ = try folder.write(lines: ["root password"], to: "pw")
                _ = try await Tool.run(
                    "adduser", "shop.stitch", "root", "--role", "root", in: folder, input: "pw")
                try await Self.manage("shop.stitch", folder)
                _ = try folder.write(lines: ["zoe's password"], to: "zoe")
                let zoe = ["shop.stitch", "zoe"]
                var hasOwnID: [Bool] = []
                for _ in 0..<2 {
                    let added = try await Tool.run(
                        arguments: ["adduser"] + zoe, in: folder, input: "zoe")
                    #expect(added.code == 0, "\(added.complaints)")
                    let shown = try await Self.run(["show"] + zoe + ["--json"], folder)
                    hasOwnID.append(shown.first?.contains("ruleID") == true)
                    _ = try await Self.run(["delete"] + zoe, folder)
                }
                #expect(hasOwnID == [false, true])
            }
        }

        @Test func `the users of a server are managed`() async throws {
            try await withTemporaryFolder { folder in
                try await ServerProcess.run(["--auth"]) { server in
                    _ = try folder.write(lines: ["rootpassword"], to: "pw")
                    _ = try await Tool.run(
                        "adduser", "stitchsync://127.0.0.1:\(server.port)", "root", "--role",
                        "root", in: folder, input: "pw")
                    try await Self.manage(
                        "stitchsync://root:rootpassword@127.0.0.1:\(server.port)", folder)
                }
            }
        }
    }
#endif
