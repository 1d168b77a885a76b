#if Remote && Server
    import BSONStore
    import Foundation
    import TestProcesses
    import Testing

    @testable import StitchSyncCommand

    /// Without these a person would read half of a document's story, or in the wrong order.
    @Suite struct TraceTests {
        @Test func `both journals are one story, tied by the operations`() async throws {
            try await withTemporaryFolder { folder in
                try await ServerProcess.run { server in
                    try await Self.writeStory(folder, port: server.port)
                    let uri = "stitchsync://127.0.0.1:\(server.port)"
                    try await Self.checkServer(uri, folder)
                    try await Self.checkBoth(uri, folder)
                }
            }
        }

        @Test func `a gateway tells the story of its upstream`() async throws {
            try await withTemporaryFolder { folder in
                try await GatewayProcesses.run(1) { processes in
                    let port = processes.ports[0]
                    try await Self.writeStory(folder, port: port)
                    try await Self.checkServer("stitchsync://127.0.0.1:\(port)", folder)
                    try await Self.checkBoth("stitchsync://127.0.0.1:\(port)", folder)
                }
            }
        }

        @Test func `a server's file tells its story, and a place without one is an error`()
            async throws
        {
            try await withTemporaryFolder { folder in
                for line in [#"{"_id": 1, "name": "pen"}"#] {
                    let inserted = try await Tool.run("insert", "server", "d.c", line, in: folder)
                    #expect(inserted.code == 0, "\(inserted.complaints)")
                }
                let updated = try await Tool.run(
                    "update", "server", "d.c", #"{"_id": 1}"#, #"{"$set": {"name": "ink"}}"#,
                    in: folder)
                #expect(updated.code == 0, "\(updated.complaints)")
                let traced = try await Tool.run("trace", "server", "d.c", "1", in: folder)
                #expect(traced.complaints.isEmpty)
                #expect(traced.output.count == 3, "\(traced.output)")
                #expect(traced.output.first?.hasSuffix("Z server: inserted") == true)
                #expect(traced.output[1].hasSuffix("Z server: updated (name)"))
                #expect(traced.output.last == "now at the server: a document without a version")
                let none = try await Tool.run("trace", "server", "d.c", "2", in: folder)
                #expect(none.code == 1)
                #expect(none.complaints == ["Error: server has no story of 2 in d.c"])
                let wrong = try await Tool.run(
                    "trace", "stitchsync://127.0.0.1:1", "d.c", "2", "--server", "server",
                    in: folder)
                #expect(wrong.code == 64)
            }
        }

        @Test func `an administrator sees the denied writes, and what explains them`() async throws
        {
            try await withTemporaryFolder { folder in
                let rules = "rules/data_sources/mongodb-atlas/shop/items"
                try folder.makeFolder(rules)
                _ = try folder.write(
                    lines: [
                        #"{"roles": [{"name": "clerk", "apply_when": {}, "read": true, "#,
                        #""write": true, "delete": false}]}"#,
                    ], to: "\(rules)/rules.json")
                _ = try folder.write(lines: ["password"], to: "pw")
                try await ServerProcess.run(["--auth", "--rules", folder.path("rules")]) { server in
                    try await Self.checkDenied("stitchsync://127.0.0.1:\(server.port)", folder)
                }
            }
        }

        @Test func `the command that explains names a user of another database than admin`() {
            let story = ServerStory(
                ["denied": [["user": ":app.ann.b", "cause": "noRole"]]], 1,
                Namespace("app", "todos"), "s", 10)
            #expect(
                story.endLines.last?.hasSuffix(
                    "rules explain RULES app.todos 1 --user ann.b --database app --db s") == true,
                "\(story.endLines)")
        }

        @Test func `the devices that have seen the newest change are named`() {
            func reader(_ user: BSONValue, _ hasSeen: Bool) -> BSONValue {
                [
                    "device": "9f3c", "user": user, "app": "Notes", "appVersion": "2.1",
                    "hasSeen": .bool(hasSeen),
                ]
            }
            let readers: BSONValue = [
                reader("ann", true), reader(.null, true), reader("b\u{1b}", false),
            ]
            let story = ServerStory(
                ["readers": readers], 1, Namespace("app", "todos"), "s", 10)
            #expect(
                story.endLines.prefix(3) == [
                    "seen by: ann Notes 2.1 device 9f3c, Notes 2.1 device 9f3c",
                    "not yet seen by: b\\u{1b} Notes 2.1 device 9f3c",
                    "now at the server: no document",
                ])
        }

        private static func checkDenied(_ uri: String, _ folder: TemporaryFolder) async throws {
            try await done(
                "adduser", uri, "root", "--role", "root", "--password-file", "pw", in: folder)
            try await done(
                "adduser", uri, "ann", "--role", "readWrite@shop", "--password-file", "pw",
                "--user", "root", "--user-password-file", "pw", in: folder)
            let signIn = ["--password-file", "pw", "--user"]
            try await done(
                "insert", uri, "shop.items", "{_id: 1}", "--password-file", "pw", "--user", "ann",
                in: folder)
            let denied = try await Tool.run(
                arguments: ["delete", uri, "shop.items", "{_id: 1}"] + signIn + ["ann"], in: folder)
            #expect(denied.code == 1)
            let reason = #"not allowed: role "clerk" allows no delete"#
            #expect(denied.complaints.contains { $0.contains(reason) }, "\(denied.complaints)")
            let traced = try await Tool.run(
                arguments: ["trace", uri, "shop.items", "1"] + signIn + ["root"], in: folder)
            #expect(traced.code == 0, "\(traced.complaints)")
            #expect(traced.output.count == 4, "\(traced.output)")
            #expect(traced.output.first?.hasSuffix(" server: inserted") == true)
            #expect(
                traced.output[1].hasSuffix(
                    " server: denied a write of user ann: role clerk, cause deleteDenied"))
            #expect(
                traced.output.suffix(2) == [
                    "now at the server: a document without a version",
                    "the server denied the last write: stitchsync rules explain RULES shop.items "
                        + "1 --user ann --db \(uri)",
                ])
            let own = try await Tool.run(
                arguments: ["trace", uri, "shop.items", "1"] + signIn + ["ann"], in: folder)
            #expect(
                own.output.last
                    == "denied writes are not shown: only an administrator may read them",
                "\(own.complaints)")
        }

        /// Two devices write one document in turn.
        private static func writeStory(_ folder: TemporaryFolder, port: Int) async throws {
            let uri = "stitchsync://127.0.0.1:\(port)"
            _ = try folder.write(lines: [#"{"_id":1,"name":"pen"}"#], to: "in.jsonl")
            try await done("import", "phone", "d.c", "in.jsonl", in: folder)
            try await done("sync", "phone", "d.c", "--remote", uri, in: folder)
            try await done("sync", "laptop", "d.c", "--remote", uri, in: folder)
            try await done(
                "update", "laptop", "d.c", #"{"_id": 1}"#, #"{"$set": {"name": "ink"}}"#,
                in: folder)
            try await done("sync", "laptop", "d.c", "--remote", uri, in: folder)
            try await done("sync", "phone", "d.c", "--remote", uri, in: folder)
        }

        private static func done(_ arguments: String..., in folder: TemporaryFolder) async throws {
            let answer = try await Tool.run(arguments: arguments, in: folder)
            #expect(answer.code == 0, "\(arguments): \(answer.complaints)")
        }

        private static func checkServer(_ uri: String, _ folder: TemporaryFolder) async throws {
            let traced = try await Tool.run("trace", uri, "d.c", "1", in: folder)
            #expect(traced.code == 0, "\(traced.complaints)")
            // Which of the devices came back to ask for more is a matter of their passes.
            let lines = traced.output.filter { !$0.contains("seen by: ") }
            #expect(lines.count == 3, "\(traced.output)")
            #expect(lines.first?.contains(" server: inserted as version 0, operation ") == true)
            #expect(lines[1].contains(" server: updated (name) as version 1, operation "))
            #expect(lines.last == "now at the server: version 1")
        }

        private static func checkBoth(_ uri: String, _ folder: TemporaryFolder) async throws {
            let traced = try await Tool.run(
                "trace", "phone", "d.c", "1", "--server", uri, in: folder)
            #expect(traced.code == 0, "\(traced.complaints)")
            let wanted = [
                "device: sync began by its id", "device: sent as operation ",
                "server: inserted as version 0", "device: applied by the remote as version 0",
                "server: updated (name) as version 1", "device: applied here: the remote's update",
                "now at the server: version 1", "now synced: waits for nothing",
            ]
            var rest = traced.output[...]
            for text in wanted {
                let found = rest.firstIndex { $0.contains(text) }
                #expect(found != nil, "\(text) is missing or too early in \(traced.output)")
                if let found { rest = rest[(found + 1)...] }
            }
            let listed = try await Tool.run(
                "trace", "phone", "d.c", "1", "--server", uri, "--json", in: folder)
            let objects = try listed.output.map { try BSONDocument(extendedJSON: $0) }
            let server = objects.filter { $0["side"] == "server" }
            #expect(server.count == 3)
            let sent = objects.filter {
                $0["text"]?.stringValue?.hasPrefix("sent") == true
            }.compactMap { $0["operation"]?.stringValue }
            #expect(server.first?["operation"]?.stringValue == sent.first)
        }
    }
#endif
