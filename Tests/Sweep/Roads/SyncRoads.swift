import BSONStore
import Foundation
import StitchSync

/// Passes of the engine, local writes to synced collections and what is asked of them.
enum SyncRoads {
    /// The roads.
    static var all: [Road] { down + up + local + asked + many }

    /// A device that is in step with n documents of the remote.
    static func inStep(_ count: Int) async throws -> SweptDevice {
        let device = try await SweptDevice()
        try device.fillRemote(count)
        try await device.items.subscribe(waitForSync: .never)
        try await device.sync()
        let found = try device.items.find().count()
        guard found == count else { throw SweptFailure("\(found) documents, not \(count)") }
        return device
    }

    /// A road of a device in step, for each run a new one.
    private static func stepping(
        _ name: String, _ growth: Road.Growth = .documents, upTo: Int = 4_000,
        _ prepare: @escaping (SweptDevice, Int) async throws -> Void = { _, _ in },
        count: ((Int) -> Int)? = nil,
        _ run: @escaping (SweptDevice, Int) async throws -> Void
    ) -> Road {
        Road(once: "sync: \(name)", growth, upTo: upTo) { n in
            let device = try await inStep(n)
            try await prepare(device, n)
            return Trip(end: { try await device.end(count: count?(n)) }) {
                try await run(device, n)
            }
        }
    }

    private static var down: [Road] {
        [
            Road(once: "sync: first download of ids", .documents, from: 400, upTo: 8_000) { n in
                let device = try await SweptDevice()
                try device.fillRemote(n)
                try await device.items.sync(ids: (0..<n).map { .int($0) })
                return Trip(end: { try await device.end(count: n) }) { try await device.sync() }
            },
            stepping("download of changes", .changes) { device, _ in
                try await device.changeRemote(
                    [:], ["$set": ["x": 1], "$inc": ["__stitch_sync_version.v": 1]])
            } _: { device, n in
                let report = try await device.sync()
                guard report.taken == n else { throw SweptFailure("\(report)") }
            },
            stepping("download of one change among many documents", upTo: 16_000) { device, _ in
                try await device.changeRemote(
                    ["_id": 1], ["$set": ["x": 1], "$inc": ["__stitch_sync_version.v": 1]])
            } _: { device, _ in
                try await device.sync()
            },
            stepping("download of deletes", .changes) { device, _ in
                _ = try await device.remote.collection(Sample.namespace).deleteMany([:])
            } count: { _ in
                0
            } _: { device, _ in
                try await device.sync()
            },
            stepping("many changes of one document", .changes) { device, n in
                for _ in 0..<n {
                    try await device.changeRemote(
                        ["_id": 1], ["$inc": ["x": 1, "__stitch_sync_version.v": 1]])
                }
            } _: { device, _ in
                try await device.sync()
            },
            stepping("an idle pass", upTo: 16_000) { device, _ in try await device.sync() },
            stepping("forceScan") { device, _ in
                try await device.engine.forceScan(Sample.namespace)
                try await device.sync()
            },
            stepping("events of downloads to a listener", .events) { device, _ in
                let count = Locked(0)
                await device.items.configure(
                    conflictHandler: .remoteWins,
                    changeEventListener: { _ in count.withLock { $0 += 1 } })
                try await device.changeRemote(
                    [:], ["$set": ["x": 1], "$inc": ["__stitch_sync_version.v": 1]])
            } _: { device, _ in
                try await device.sync()
            },
            Road(once: "sync: download of a wide document", .fields, upTo: 32_000) { n in
                let device = try await SweptDevice()
                try await device.remote.collection(Sample.namespace)
                    .insertOne(SweptDevice.versioned(Sample.wide(n)))
                try await device.items.subscribe(waitForSync: .never)
                return Trip(end: { try await device.end(count: 1) }) { try await device.sync() }
            },
        ]
    }

    private static var up: [Road] {
        [
            Road(once: "sync: upload of inserts", .changes, upTo: 4_000) { n in
                let device = try await inStep(0)
                try await device.items.insertMany(Sample.documents(n))
                return Trip(end: { try await device.end(remoteCount: n) }) {
                    try await device.sync()
                }
            },
            stepping("upload of updates", .changes) { device, _ in
                try await device.items.updateMany([:], ["$set": ["x": 1]])
            } _: { device, n in
                let report = try await device.sync()
                guard report.uploaded == n else { throw SweptFailure("\(report)") }
            },
            stepping("upload of deletes", .changes) { device, _ in
                try await device.items.deleteMany([:])
            } count: { _ in
                0
            } _: { device, _ in
                try await device.sync()
            },
            Road(once: "sync: upload of one document changed often", .writes, upTo: 4_000) { n in
                let device = try await inStep(10)
                for _ in 0..<n { try await device.items.updateOne(["_id": 1], ["$inc": ["x": 1]]) }
                return Trip(end: { try await device.end() }) { try await device.sync() }
            },
            Road(once: "sync: writes that each sync at once", .writes, upTo: 1_600) { n in
                let device = try await inStep(10)
                return Trip(end: { try await device.end() }) {
                    for _ in 0..<n {
                        try await device.items.updateOne(["_id": 1], ["$inc": ["x": 1]])
                        try await device.engine.syncNow()
                    }
                }
            },
            Road(once: "sync: inserts that each sync at once", .writes, upTo: 1_600) { n in
                let device = try await inStep(0)
                return Trip(end: { try await device.end(remoteCount: n) }) {
                    for number in 0..<n {
                        try await device.items.insertOne(Sample.document(number))
                        try await device.engine.syncNow()
                    }
                    try await device.sync()
                }
            },
            Road(once: "sync: upload of all fields of a wide document", .fields, upTo: 16_000) {
                n in
                let device = try await inStep(0)
                try await device.items.insertOne(Sample.wide(n))
                try await device.sync()
                try await device.items.replaceOne(["_id": 1], Sample.wide(n) { .int(-$0) })
                return Trip(end: { try await device.end() }) { try await device.sync() }
            },
            Road(once: "sync: upload of an element of a long array", .elements, upTo: 32_000) { n in
                let device = try await inStep(0)
                try await device.items.insertOne(["_id": 1, "a": Sample.array(n)])
                try await device.sync()
                try await device.items.updateOne(["_id": 1], ["$set": ["a.5": -1]])
                return Trip(end: { try await device.end() }) { try await device.sync() }
            },
        ]
    }

    private static var local: [Road] {
        [
            Road(once: "sync: local insertMany", .documents, upTo: 8_000) { n in
                let device = try await inStep(0)
                let documents = Sample.documents(n)
                return Trip(end: { try await device.end(count: n) }) {
                    try await device.items.insertMany(documents)
                }
            },
            Road(once: "sync: local insertOne", .documents, upTo: 4_000) { n in
                let device = try await inStep(0)
                return Trip(end: { try await device.end(count: n) }) {
                    for number in 0..<n {
                        try await device.items.insertOne(Sample.document(number))
                    }
                }
            },
            stepping("local updateOne of each") { device, n in
                for number in 0..<n {
                    try await device.items.updateOne(["_id": .int(number)], ["$inc": ["n": 1]])
                }
            },
            stepping("local updateMany", upTo: 8_000) { device, _ in
                try await device.items.updateMany([:], ["$set": ["x": 1]])
            },
            stepping("local deleteMany", upTo: 8_000, count: { _ in 0 }) { device, _ in
                try await device.items.deleteMany([:])
            },
            stepping("local bulkWrite", .writes) { device, n in
                try await device.items.bulkWrite(
                    (0..<n).map { .updateOne(["_id": .int($0)], ["$set": ["x": 1]]) })
            },
            stepping("local modify of each") { device, n in
                for number in 0..<n {
                    try await device.items.modify(id: .int(number)) { $0["x"] = 1 }
                }
            },
            stepping("local find", upTo: 8_000) { device, _ in
                _ = try device.items.find(["half": 1]).fetch()
            },
            stepping("observe, first snapshot and a change") { device, _ in
                var snapshots = try device.items.find().observe().makeAsyncIterator()
                _ = try await snapshots.next()
                try await device.items.updateOne(["_id": 1], ["$set": ["x": 1]])
                _ = try await snapshots.next()
            },
            Road(once: "sync: events of local writes to a listener", .events, upTo: 4_000) { n in
                let device = try await inStep(0)
                let count = Locked(0)
                await device.items.configure(
                    conflictHandler: .remoteWins,
                    changeEventListener: { _ in count.withLock { $0 += 1 } })
                return Trip(end: { try await device.end() }) {
                    try await device.items.insertMany(Sample.documents(n))
                    await device.engine.flushEvents()
                    let found = count.withLock { $0 }
                    guard found == n else { throw SweptFailure("\(found) events, not \(n)") }
                }
            },
            Road(once: "sync: events that no listener takes", .events, upTo: 4_000) { n in
                let device = try await inStep(0)
                await device.items.configure(
                    conflictHandler: .remoteWins, changeEventListener: { _ in })
                await device.items.configure(conflictHandler: .remoteWins)
                return Trip(end: { try await device.end() }) {
                    for number in 0..<n {
                        try await device.items.insertOne(Sample.document(number))
                    }
                }
            },
        ]
    }

    private static var asked: [Road] {
        [
            stepping("status", upTo: 8_000) { device, _ in _ = try await device.items.status() },
            stepping("syncedIDs", upTo: 8_000) { device, _ in
                _ = try await device.items.syncedIDs
            },
            stepping("pendingIDs", .changes, upTo: 8_000) { device, _ in
                try await device.items.updateMany([:], ["$set": ["x": 1]])
            } _: { device, n in
                let found = try await device.items.pendingIDs.count
                guard found == n else { throw SweptFailure("\(found) pending, not \(n)") }
            },
            stepping("status of each document", upTo: 2_000) { device, n in
                for number in 0..<n { _ = try await device.items.status(of: .int(number)) }
            },
            stepping("verify") { device, _ in
                let findings = try await device.engine.verify()
                guard findings.isEmpty else { throw SweptFailure("\(findings[0])") }
            },
            stepping("desync") { device, n in
                try await device.items.desync(ids: (0..<n).map { .int($0) })
            },
            stepping("discardPendingChange of each", .changes, upTo: 2_000) { device, _ in
                try await device.items.updateMany([:], ["$set": ["x": 1]])
            } _: { device, n in
                for number in 0..<n {
                    try await device.items.discardPendingChange(of: .int(number))
                }
            },
            stepping("an engine on a store with pending changes", .changes) { device, _ in
                try await device.items.updateMany([:], ["$set": ["x": 1]])
                await device.engine.close()
            } _: { device, _ in
                let engine = try SyncEngine(
                    store: device.store, remote: InProcessRemote(store: device.remote))
                _ = try await engine.collection(Sample.namespace).status()
                await engine.close()
            },
        ]
    }

    private static var many: [Road] {
        [
            Road(once: "sync: collections with one document", .collections, from: 10, upTo: 320) {
                n in
                let device = try await SweptDevice()
                let names = Sample.names(n)
                for name in names { try device.fillRemote(0..<1, in: .init("app", name)) }
                for name in names {
                    try await device.engine.collection(.init("app", name))
                        .subscribe(waitForSync: .never)
                }
                return Trip(end: { try await device.end() }) {
                    let report = try await device.sync()
                    guard report.taken == n else { throw SweptFailure("\(report)") }
                }
            },
            Road(once: "sync: an idle pass of collections", .collections, from: 10, upTo: 320) {
                n in
                let device = try await SweptDevice()
                for name in Sample.names(n) {
                    try device.fillRemote(0..<1, in: .init("app", name))
                    try await device.engine.collection(.init("app", name)).sync(ids: [0])
                }
                try await device.sync()
                return Trip(end: { try await device.end() }) { try await device.sync() }
            },
            Road(once: "sync: devices of one remote take a change", .devices, from: 5, upTo: 160) {
                n in
                let first = try await SweptDevice()
                try first.fillRemote(20)
                var devices: [SweptDevice] = []
                for _ in 0..<n {
                    let device = try await SweptDevice(sharing: first)
                    try await device.items.subscribe(waitForSync: .never)
                    try await device.sync()
                    devices.append(device)
                }
                try await first.changeRemote(
                    ["_id": 1], ["$set": ["x": 1], "$inc": ["__stitch_sync_version.v": 1]])
                let all = devices
                return Trip(
                    end: {
                        for device in all { try await device.end(count: 20) }
                        try await first.end()
                    }
                ) { for device in all { try await device.sync() } }
            },
            Road(once: "sync: users of UserStores sign in", .users, from: 5, upTo: 160) { n in
                let (path, remove) = try Sample.file("users")
                let remote = try Sample.store(history: 1_000)
                let stores = UserStores(directory: path) { _ in InProcessRemote(store: remote) }
                let names = Sample.names(n)
                return Trip(
                    end: {
                        for name in names { try await stores.close(name) }
                        remove()
                    }
                ) { for name in names { _ = try stores.signIn(name) } }
            },
        ]
    }
}
