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

        @Test func `a new connection tells what waits now`() async throws {
            try await ServerProcess.run { server in
                let uri = "stitchsync://127.0.0.1:\(server.port)/app"
                let remote = try ServerRemote(uri, options: .patient)
                let engine = try SyncEngine(
                    store: DocumentStore(at: .inMemory), remote: remote)
                let notes = engine.collection(Namespace("app", "notes"))
                try await notes.insertOne(["_id": 1])
                let row = try await Self.devices(remote).first
                #expect(row?["backlog"]?.documentValue?["pending"] == .int64(1), "\(row ?? [:])")
                await engine.close()
                await remote.close()
            }
        }

        @Test func `a report that failed is sent by the next pass`() async throws {
            let store = try DocumentStore(at: .inMemory)
            let remote = try FailingReporter()
            let engine = try SyncEngine(store: store, remote: remote)
            let notes = engine.collection(Namespace("app", "notes"))
            try await notes.subscribe(waitForSync: .never)
            try await engine.syncUntilQuiet()
            let count = remote.reports.withLock { $0 }
            #expect(count > 0)
            try await engine.syncUntilQuiet()
            #expect(remote.reports.withLock { $0 } > count)
            remote.fails.withLock { $0 = false }
            try await engine.syncUntilQuiet()
            let told = remote.reports.withLock { $0 }
            try await engine.syncUntilQuiet()
            #expect(remote.reports.withLock { $0 } == told)
            await engine.close()
        }

        @Test func `connections that were open before the engine are replaced`() async throws {
            try await ServerProcess.run { server in
                let uri = "stitchsync://127.0.0.1:\(server.port)/app"
                let remote = try ServerRemote(uri, options: .patient)
                _ = try await remote.run(["ping": 1], on: "admin")
                #expect(try await Self.devices(remote).isEmpty)
                let engine = try SyncEngine(
                    store: DocumentStore(at: .inMemory), remote: remote)
                #expect(try await Self.devices(remote).count == 1)
                await engine.close()
                await remote.close()
            }
        }

        @Test func `a running engine has seen a change, and a stopped one has not yet`()
            async throws
        {
            try await ServerProcess.run { server in
                let uri = "stitchsync://127.0.0.1:\(server.port)/app"
                let first = try await Self.sync(DocumentStore(at: .inMemory), uri)
                let second = try await Self.sync(DocumentStore(at: .inMemory), uri)
                let names = try await Self.devices(first.remote).map { $0["device"] }
                try #require(names.count == 2)
                func upTo(_ number: Int) async throws -> Int64? {
                    let row = try await Self.devices(first.remote)
                        .first { $0["device"] == names[number] }
                    let times = (row?["caughtUp"]?.arrayValue ?? []).compactMap(\.documentValue)
                    let found = times.first { $0["namespace"] == "app.notes" }
                    guard case .datetime(let time)? = found?["time"] else { return nil }
                    return time.milliseconds
                }
                func sees(_ number: Int, _ time: Int64) async throws -> Bool {
                    let end = ContinuousClock.now + .seconds(60)
                    while ContinuousClock.now < end {
                        if let known = try await upTo(number), known >= time { return true }
                        await Task.yield()
                    }
                    return false
                }
                let start = BSONDatetime.now.milliseconds
                try await withThrowingTaskGroup(of: Void.self) { running in
                    running.addTask { try await first.engine.run() }
                    try await withThrowingTaskGroup(of: Void.self) { stopping in
                        stopping.addTask { try await second.engine.run() }
                        #expect(try await sees(0, start))
                        #expect(try await sees(1, start))
                        stopping.cancelAll()
                        try await stopping.waitForAll()
                    }
                    _ = try await first.remote.run(
                        ["insert": "notes", "documents": [["_id": 1]]], on: "app")
                    let written = BSONDatetime.now.milliseconds
                    #expect(try await sees(0, written))
                    let behind = try await upTo(1) ?? .max
                    #expect(behind < written)
                    running.addTask { try await second.engine.run() }
                    #expect(try await sees(1, written))
                    running.cancelAll()
                    try await running.waitForAll()
                }
                for each in [first, second] {
                    await each.engine.close()
                    await each.remote.close()
                }
            }
        }

        private struct HandlerFailure: Error {}

        /// A remote whose server takes no numbers.
        private struct FailingReporter: Remote, DeviceReporter {
            let base: InProcessRemote
            let fails = Locked(true)
            let reports = Locked(0)

            init() throws { base = try InProcessRemote(at: .inMemory) }

            func collection(_ namespace: Namespace) -> any RemoteCollection {
                base.collection(namespace)
            }

            func report(_ backlog: DeviceBacklog) async throws(RemoteError) {
                reports.withLock { $0 += 1 }
                if fails.withLock({ $0 }) { throw RemoteError(.retryable, "down") }
            }
        }

        @Test func `a description has the numbers that are known, zeros included`() {
            func numbers(_ backlog: DeviceBacklog?) -> [BSONValue?] {
                let metadata = ClientMetadata(
                    applicationName: "a", applicationVersion: nil,
                    device: DeviceIdentity(first: 1, instance: 1), backlog: { backlog })
                let own = metadata.document["stitchsync"]?.documentValue ?? [:]
                return ["pending", "paused", "rejected"].map { own[$0] }
            }
            #expect(numbers(DeviceBacklog(paused: 2)) == [.int64(0), .int64(2), .int64(0)])
            #expect(numbers(DeviceBacklog()) == [.int64(0), .int64(0), .int64(0)])
            #expect(numbers(nil) == [nil, nil, nil])
        }

        @Test func `the description of the longest names fits into MongoDB's limit`() {
            let metadata = ClientMetadata(
                applicationName: String(repeating: "é", count: 500),
                applicationVersion: String(repeating: "1", count: 500),
                device: DeviceIdentity(first: .max, instance: .max),
                backlog: { DeviceBacklog(pending: .max, paused: .max, rejected: .max) })
            #expect(metadata.document.byteCount <= 512)
            let bare = ClientMetadata(applicationName: "a", applicationVersion: nil).document
            #expect(bare["stitchsync"] == nil)
        }
    }
#endif
