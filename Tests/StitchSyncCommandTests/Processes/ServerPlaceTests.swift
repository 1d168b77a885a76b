#if Remote && Server
    import BSONStore
    import Foundation
    import TestProcesses
    import Testing

    @testable import StitchSyncCommand

    /// Without these a person would need other words for a server than for a file.
    @Suite(.timeLimit(.minutes(30))) struct ServerPlaceTests {
        private static func run(
            _ arguments: String..., in folder: TemporaryFolder, code: Int32 = 0
        ) async throws -> Tool.Answer {
            let answer = try await Tool.run(arguments: arguments, in: folder)
            #expect(answer.code == code, "\(arguments): \(answer.complaints)")
            return answer
        }

        private static func lend(
            _ body: (_ uri: String, _ folder: TemporaryFolder) async throws -> Void
        ) async throws {
            try await withTemporaryFolder { folder in
                try await ServerProcess.run { server in
                    try await body("stitchsync://127.0.0.1:\(server.port)", folder)
                }
                try await GatewayProcesses.run(1) { processes in
                    try await body("stitchsync://127.0.0.1:\(processes.ports[0])", folder)
                }
            }
        }

        @Test func `status, explain and verify work on a server and a gateway`() async throws {
            try await Self.lend { uri, folder in
                _ = try await Self.run(
                    "insert", uri, "d.c", "[{_id: 1, n: 1}, {_id: 2, n: 2}]", in: folder)
                let status = try await Self.run("status", uri, in: folder).output
                #expect(status.first?.hasSuffix("documents  indexes  bytes") == true, "\(status)")
                let words = status.map { $0.split(separator: " ") }
                #expect(words.contains { $0.prefix(2) == ["d.c", "2"] }, "\(status)")
                #expect(status.contains { $0.hasPrefix("devices: ") }, "\(status)")
                let objects = try await Self.run("status", uri, "--json", in: folder).output
                #expect(objects.first?.hasPrefix(#"{"collection":"d.c","documents":2,"#) == true)
                #expect(objects.last?.contains(#""sharedConflicts":0"#) == true, "\(objects)")
                let plan = try await Self.run(
                    "explain", uri, "d.c", "{n: 2}", "--sort", "{_id: 1}", "--json", in: folder)
                #expect(plan.output.first?.contains(#""nReturned":1"#) == true, "\(plan.output)")
                #expect(plan.output.first?.contains("clusterTime") == false)
                let checked = try await Self.run("verify", uri, in: folder).output
                // A gateway has collections of its own.
                #expect(checked.last?.hasSuffix(" documents checked: nothing is wrong") == true)
                let refused = try await Self.run(
                    "verify", uri, "--quarantine", in: folder, code: 64)
                #expect(refused.complaints.first?.contains("--quarantine needs") == true)
            }
        }

        @Test func `watch follows a server, and goes on after a position`() async throws {
            try await Self.lend { uri, folder in
                let isOver = Locked(false)
                let first = try await withThrowingTaskGroup(of: [String].self) { group in
                    group.addTask {
                        defer { isOver.withLock { $0 = true } }
                        return try await Self.run(
                            "watch", uri, "d.c", "--limit", "1", in: folder
                        ).output
                    }
                    group.addTask {
                        // The stream may begin after any of them.
                        while !isOver.withLock({ $0 }) {
                            _ = try await Self.run("insert", uri, "d.c", "{n: 1}", in: folder)
                        }
                        return []
                    }
                    var lines: [String] = []
                    for try await each in group { lines += each }
                    return lines
                }
                let change = try BSONDocument(extendedJSON: try #require(first.first))
                #expect(change["change"] == "insert" && change["collection"] == "d.c")
                #expect(change["document"]?.documentValue?["n"] == 1)
                let position = try #require(change["position"]?.stringValue)
                _ = try await Self.run("insert", uri, "d.c", "{_id: 'last'}", in: folder)
                _ = try await Self.run("delete", uri, "d.c", "{n: 1}", "--many", in: folder)
                let next = try await Self.run(
                    "watch", uri, "--after", position, "--limit", "1", in: folder)
                #expect(next.output.first?.contains(#""collection":"d.c""#) == true)
                let wrong = try await Self.run("watch", uri, "--after", "0", in: folder, code: 64)
                #expect(wrong.complaints.first?.contains("--after takes a position") == true)
            }
        }

        @Test func `the options of a sign-in are refused with a file`() async throws {
            try await withTemporaryFolder { folder in
                _ = try await Self.run("insert", "shop", "d.c", "{_id: 1}", in: folder)
                for arguments in [
                    ["find", "shop", "d.c"], ["aggregate", "shop", "d.c", "[]"],
                    ["explain", "shop", "d.c"], ["status", "shop"], ["watch", "shop"],
                    ["verify", "shop"], ["fixture", "record", "shop"], ["export", "shop", "d.c"],
                    ["import", "shop", "d.c", "in.jsonl"], ["trace", "shop", "d.c", "1"],
                ] {
                    _ = try folder.write(lines: ["{}"], to: "in.jsonl")
                    let answer = try await Tool.run(
                        arguments: arguments + ["--user", "ann"], in: folder)
                    #expect(answer.code == 1, "\(arguments): \(answer.output)")
                    #expect(
                        answer.complaints.first?.contains("--user needs a server") == true,
                        "\(arguments): \(answer.complaints)")
                }
            }
        }

        @Test func `who lists the devices, also those that left`() async throws {
            try await Self.lend { uri, folder in
                let none = try await Self.run("who", uri, in: folder).output
                #expect(none.first?.hasPrefix("user  app  device") == true && none.count == 2)
                for store in ["phone", "laptop"] {
                    _ = try await Self.run("insert", store, "d.c", "{s: '\(store)'}", in: folder)
                    _ = try await Self.run("sync", store, "d.c", "--remote", uri, in: folder)
                }
                _ = try await Self.run("sync", "phone", "d.c", "--remote", uri, in: folder)
                #expect(try await Self.run("who", uri, in: folder).output.count == 2)
                let seen = try await Self.run("who", uri, "--seen", "--json", in: folder).output
                let devices = try seen.map { try BSONDocument(extendedJSON: $0) }
                    .filter { $0["device"] != .null }
                // Each store once, although one synced twice.
                #expect(devices.count == 2, "\(seen)")
                #expect(devices.allSatisfy { $0["connected"] == false })
                #expect(devices.allSatisfy { $0["namespaces"] == ["d.c"] }, "\(seen)")
                let table = try await Self.run("who", uri, "--seen", in: folder).output
                #expect(table.count == 4 && table.last?.hasSuffix("gone") == true, "\(table)")
                #expect(try await Self.run("who", uri, "--all", in: folder).code == 0)
                for store in ["phone", "laptop"] {
                    try FileManager.default.removeItem(atPath: folder.path(store))
                }
            }
        }

        @Test func `shared conflicts become fixtures, and a handler is tried on them`() async throws
        {
            try await Self.lend { uri, folder in
                let shared: BSONDocument = [
                    "_id": .objectID(BSONObjectID()), "time": .datetime(.now), "documentID": 1,
                    "decision": "useRemote", "mayHaveLanded": false,
                    "base": ["_id": 1, "a": "plan"],
                    "local": ["_id": 1, "a": "mine"], "remote": ["_id": 1, "a": "theirs"],
                    "result": ["_id": 1, "a": "theirs"],
                    "baseVersion": ["spv": 1, "id": "fixture", "v": .int64(0)],
                    "remoteVersion": ["spv": 1, "id": "fixture", "v": .int64(1)],
                ]
                let base64 = Data(shared.bytes).base64EncodedString()
                let sent = try await Self.run(
                    "shell", uri, "--eval",
                    "db.getSiblingDB('d').runCommand({stitchsyncShareConflict: 'c', "
                        + "conflicts: [BinData(0, '\(base64)')]}).n", in: folder)
                #expect(sent.output == ["1"], "\(sent.complaints)")
                let status = try await Self.run("status", uri, in: folder).output
                #expect(status.contains { $0.hasPrefix("shared conflicts: 1") }, "\(status)")
                let out = "fleet-\(UUID()).json"
                let recorded = try await Self.run(
                    "fixture", "record", "--from", uri, "--app", "--out", out, in: folder)
                #expect(recorded.output == ["\(out): 1 of 1 conflict"])
                // The address may stand in the place of the file, too.
                let named = try await Self.run("fixture", "record", uri, "d.c", "1", in: folder)
                #expect(named.output.contains { $0.contains("d.c 1") }, "\(named.output)")
                let other = try await Self.run("fixture", "record", uri, "d.x", in: folder, code: 1)
                #expect(other.complaints.first?.contains("no conflict") == true)
                let skipped = try await Self.run("fixture", "run", out, in: folder)
                #expect(skipped.output == ["0 passed, 0 failed, 1 need the app's own handler"])
                let same = try await Self.run(
                    "fixture", "run", out, "--handler", "remoteWins", in: folder)
                #expect(same.output == ["1 same, 0 different"])
                let changed = try await Self.run(
                    "fixture", "run", out, "--handler", "localWins", in: folder, code: 1)
                #expect(changed.output.first?.contains("differs: a") == true, "\(changed.output)")
                #expect(changed.output.last == "0 same, 1 different")
                let wrong = try await Self.run(
                    "fixture", "run", out, "--handler", "app", in: folder, code: 64)
                #expect(wrong.complaints.first?.contains("built in") == true)
            }
        }
    }
#endif
