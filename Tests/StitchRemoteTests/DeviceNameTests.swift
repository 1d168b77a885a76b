#if Remote
    import BSONStore
    import StitchSync
    import TestProcesses
    import Testing

    @testable import StitchRemote

    /// Operators must recognize a device, also after the app started anew.
    @Suite(.timeLimit(.minutes(10))) struct DeviceNameTests {
        private static func sync(
            _ store: DocumentStore, _ uri: String
        ) async throws -> (engine: SyncEngine, remote: ServerRemote) {
            var options = ServerRemote.Options.patient
            options.applicationName = "Notes"
            options.applicationVersion = "2.1"
            let remote = try ServerRemote(uri, options: options)
            let engine = try SyncEngine(store: store, remote: remote)
            try await engine.collection(Namespace("app", "notes")).subscribe(waitForSync: .never)
            try await engine.syncUntilQuiet()
            return (engine, remote)
        }

        private static let request: BSONDocument = [
            "currentOp": 1, "comment": ["stitchsyncDevices": true],
        ]

        private static func devices(_ remote: ServerRemote) async throws -> [BSONDocument] {
            let reply = try await remote.run(Self.request, on: "admin")
            return (reply["devices"]?.arrayValue ?? []).compactMap(\.documentValue)
                .filter { $0["device"] != .null }
        }

        @Test func `an engine names the device, by the same name after a new start`()
            async throws
        {
            try await ServerProcess.run { server in
                let uri = "stitchsync://127.0.0.1:\(server.port)/app"
                let store = try DocumentStore(at: .inMemory)
                let first = try await Self.sync(store, uri)
                let rows = try await Self.devices(first.remote)
                #expect(rows.count == 1)
                #expect(rows.first?["app"] == "Notes" && rows.first?["appVersion"] == "2.1")
                let second = try await Self.sync(store, uri)
                let both = try await Self.devices(second.remote)
                let name = rows.first?["device"]
                #expect(both.map { $0["device"] } == [name, name])
                #expect(Set(both.compactMap { $0["instance"]?.stringValue }).count == 2)
                let other = try await Self.sync(DocumentStore(at: .inMemory), uri)
                #expect(try await Self.devices(other.remote).count == 3)
                for each in [first, second, other] {
                    await each.engine.close()
                    await each.remote.close()
                }
            }
        }

        @Test func `operators see what waits on a device`() async throws {
            try await ServerProcess.run { server in
                let uri = "stitchsync://127.0.0.1:\(server.port)/app"
                let device = try await Self.sync(try DocumentStore(at: .inMemory), uri)
                func backlog() async throws -> BSONDocument {
                    try await Self.devices(device.remote).first?["backlog"]?.documentValue ?? [:]
                }
                #expect(try await backlog()["pending"] == .int64(0))
                let notes = device.engine.collection(Namespace("app", "notes"))
                // The handler fails, so the conflict waits.
                await notes.configure(
                    conflictHandler: ConflictHandler { _ in throw HandlerFailure() })
                try await notes.insertOne(["_id": 1, "a": 1])
                try await device.engine.syncUntilQuiet()
                #expect(try await backlog()["pending"] == .int64(0))
                _ = try await device.remote.run(
                    ["update": "notes", "updates": [["q": ["_id": 1], "u": ["$set": ["a": 2]]]]],
                    on: "app")
                try await notes.updateOne(["_id": 1], ["$set": ["a": 3]])
                try await device.engine.syncUntilQuiet()
                let waiting = try await backlog()
                #expect(waiting["pending"] == .int64(1), "\(waiting)")
                await device.engine.close()
                await device.remote.close()
            }
        }

        private struct HandlerFailure: Error {}

        @Test func `the description of the longest names fits into MongoDB's limit`() {
            let metadata = ClientMetadata(
                applicationName: String(repeating: "é", count: 500),
                applicationVersion: String(repeating: "1", count: 500),
                device: DeviceIdentity(first: .max, instance: .max),
                backlog: DeviceBacklog(pending: .max, paused: .max, rejected: .max))
            #expect(metadata.document.byteCount <= 512)
            let bare = ClientMetadata(applicationName: "a", applicationVersion: nil).document
            #expect(bare["stitchsync"] == nil)
        }
    }
#endif
