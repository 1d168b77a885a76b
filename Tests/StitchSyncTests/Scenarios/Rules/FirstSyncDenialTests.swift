#if MongoRemote
    import BSONStore
    import Foundation
    import TestProcesses
    import Testing

    @testable import StitchSync

    /// An operator who looks for denied writes must not find those of an engine that only follows a
    /// document.
    @Suite(.timeLimit(.minutes(20)))
    struct FirstSyncDenialTests {
        private static let profiles = Namespace("app", "profiles")
        private static let expenses = Namespace("app", "expenses")

        /// The files of `Docs/USERS.md`.
        private static let files = [
            "auth/custom_user_data.json": #"""
            {"enabled": true, "database_name": "app", "collection_name": "profiles",
             "user_id_field": "_id"}
            """#,
            "app/profiles/rules.json": #"""
            {"roles": [
              {"name": "owner", "apply_when": {},
               "document_filters": {"read": {"_id": "%%user.id"}, "write": false},
               "read": true, "write": false}]}
            """#,
            "app/expenses/rules.json": #"""
            {"roles": [
              {"name": "member", "apply_when": {},
               "document_filters": {
                 "read": {"group": "%%user.custom_data.group"},
                 "write": {"group": "%%user.custom_data.group", "amount": {"$lte": 1000}}},
               "read": true, "write": true}]}
            """#,
        ]

        /// Lends the port of a server or gateway under the rules, and the path of the documents'
        /// file.
        private static func served(
            _ isGateway: Bool, _ rules: URL, log: URL,
            _ body: (_ port: Int, _ path: String) async throws -> Void
        ) async throws {
            let arguments = ["--auth", "--rules", rules.path, "--log-level", "info"]
            if isGateway {
                try await GatewayProcesses.run(1, arguments, log: log) {
                    try await body($0.ports[0], $0.upstream.path)
                }
            } else {
                try await ServerProcess.run(arguments, log: log) {
                    try await body($0.port, $0.path)
                }
            }
        }

        @Test(
            "a first sync of profiles that the user may only read logs no denied write",
            arguments: ServedWay.allCases, [false, true])
        func profiles(_ way: ServedWay, isGateway: Bool) async throws {
            let directory = try ScratchDirectory()
            let rules = URL(filePath: directory.path("rules"))
            for (path, text) in Self.files {
                let url = rules.appending(path: path)
                try FileManager.default.createDirectory(
                    at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
                try Data(text.utf8).write(to: url)
            }
            let log = URL(filePath: directory.path("log"))
            try Data().write(to: log)
            func denials() throws -> [String] {
                try String(contentsOf: log, encoding: .utf8).split(separator: "\n").map(String.init)
                    .filter { $0.contains("denied a write") }
            }
            try await Self.served(isGateway, rules, log: log) { port, path in
                let run = try RuledWorld.administrator(port: port, role: "app")
                let stored = try DocumentStore(
                    at: .file(path),
                    options: .init(changeHistory: .keep(changesMax: 10_000)))
                defer { stored.close() }
                try await stored.write { transaction in
                    for name in ["ann", "ben", "eve"] as [BSONValue] {
                        let group: BSONValue = name == "eve" ? "office" : "flat"
                        try transaction.put(Self.profiles, ["_id": name, "group": group])
                    }
                    try transaction.put(
                        Self.expenses, ["_id": 1, "group": "flat", "amount": 5])
                    try transaction.put(
                        Self.expenses, ["_id": 2, "group": "flat", "amount": 5_000])
                }
                var address = ServedAddress(port: port)
                address.user = ("ann", "pw")
                let remote = try way.remote(to: address)
                let engine = try SyncEngine(
                    store: try DocumentStore(at: .inMemory), remote: remote)
                let profiles = engine.collection(Self.profiles)
                let expenses = engine.collection(Self.expenses)
                try await profiles.subscribe(named: "my profile")
                try await expenses.subscribe(named: "expenses")
                // The engine has a version for each of them.
                try await engine.syncUntilQuiet()
                #expect(try profiles.find().fetch().map(\.documentID) == ["ann"])
                #expect(try expenses.find().count() == 2)
                #expect(try await profiles.status() == SyncStatus(synced: 1))
                #expect(try denials() == [])
                // What the rules do deny is logged.
                try await expenses.insertOne(["_id": 3, "group": "flat", "amount": 1_001])
                try await engine.syncUntilQuiet()
                let logged = try denials()
                #expect(logged.count == 1)
                #expect(logged.first?.contains("_id 3, role \"member\"") == true, "\(logged)")
                await engine.close()
                await remote.close()
                _ = run
            }
        }
    }
#endif
