#if Remote
    import BSONStore
    import Foundation
    import StitchRemote
    import StitchSync
    import TestProcesses
    import Testing

    /// Files beside documents are in GridFS so that other programs use them: a driver must read what
    /// devices sent, and devices what a driver stored.
    @Suite(.timeLimit(.minutes(30))) struct GridFSTests {
        private static let todos = Namespace("app", "todos")
        private static let sizes = [0, 1, 261_119, 261_120, 261_121, 5_000_000]

        @Test func `a driver and devices read each other's files over a server`() async throws {
            try await ServerProcess.run { server in
                try await exchange(server.port, server.port)
            }
        }

        #if MongoRemote
            @Test func `a driver and devices read each other's files over a gateway`() async throws
            {
                try await GatewayProcesses.run(1) { processes in
                    try await exchange(processes.ports[0], processes.ports[0])
                }
                // An operator's driver, which asks the database behind the gateway.
                try await GatewayProcesses.run(1) { processes in
                    try await exchange(processes.ports[0], processes.upstream.port)
                }
            }
        #endif

        /// Sends files by a device, lets the driver read and store, and reads by another device.
        private func exchange(
            _ port: Int, _ driverPort: Int
        ) async throws {
            let device = try device(port)
            var ids: [BSONValue] = []
            for (number, size) in Self.sizes.enumerated() {
                let id = BSONValue.int32(Int32(number))
                let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 / 7 + number) }
                let photo = try await device.todos.store(bytes, name: "sent \(number)")
                try await device.todos.insertOne([
                    "_id": id, "sent": true, "photo": photo.bsonValue,
                ])
                ids.append(id)
            }
            try await device.engine.syncUntilQuiet()
            #expect(try await device.engine.attachments.transfer().sent == Self.sizes.count)
            let answer = try await Python.run("gridfiles.py", String(driverPort))
            #expect(answer.code == 0, "\(answer.output)")
            let other = try self.device(port)
            ids += Self.sizes.indices.map { .string("python \($0)") } + ["python small"]
            try await other.todos.sync(ids: ids)
            let (report, _) = try await other.engine.syncUntilQuiet()
            #expect(report.errors.isEmpty && report.reachedRemote)
            for id in ids {
                let document = try #require(try other.todos.findOne(id: id), "\(id)")
                let photo = try #require(BSONStore.Attachment.all(in: document).first)
                let file = other.todos.file(photo, of: id)
                let bytes = try await file.bytes()
                #expect(bytes.count == Int(photo.length), "\(id)")
                #expect(SHA256.hash(bytes) == photo.sha256, "\(id)")
                #expect(try file.state() == .here)
            }
            for device in [device, other] {
                await device.engine.close()
                device.store.close()
            }
        }

        private struct Device {
            let store: DocumentStore
            let engine: SyncEngine
            var todos: SyncCollection<BSONDocument> { engine.collection(GridFSTests.todos) }
        }

        private func device(_ port: Int) throws -> Device {
            let store = try DocumentStore(at: .inMemory)
            let remote = try ServerRemote(
                "stitchsync://127.0.0.1:\(port)/app?serverSelectionTimeoutMS=240000"
                    + "&connectTimeoutMS=240000&socketTimeoutMS=240000")
            return Device(store: store, engine: try SyncEngine(store: store, remote: remote))
        }
    }
#endif
