import Foundation
import Testing

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

@testable import BSONCore
@testable import BSONStore
@testable import StitchSync

/// Without this a process that dies while it attaches, sends or loads a file could leave a document whose
/// file is lost, half a file that counts as whole, or contents that nothing refers to.
struct AttachmentCrashTests {
    private static let kills =
        ProcessInfo.processInfo.environment["KILLS"].flatMap { Int($0) } ?? 20

    @Test("a process that is killed while it attaches and transfers files loses none")
    func killed() async throws {
        let directory = try ScratchDirectory()
        let place = directory.path("")
        for round in 0..<Self.kills {
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [place = place as String, round = round as Int] in
                try await AttachingWriter(directory: place, round: round).runUntilKilled()
            }
            try await Self.checkDevice(place + "/local.store", attachesHere: true)
            try await Self.checkDevice(place + "/other.store", attachesHere: false)
            // The app was not started for a day or more.
            if round.isMultiple(of: 3) { try await Self.age(place + "/local.store") }
            if round.isMultiple(of: 2) { try await Self.checkAfterRound(place + "/local.store") }
            try Self.checkRemote(place)
        }
        try await Self.checkEnd(place)
    }

    /// Each document's file that was attached here is here, and no other content counts as whole.
    private static func checkDevice(_ path: String, attachesHere: Bool) async throws {
        try await withFiles(path) { store, _, cache in
            #expect(try store.verify().faults == [])
            let records = try cache.all()
            for record in records where record.isWhole {
                #expect(record.bytes == record.attachment.length)
                #expect(try cache.isSound(record), "\(record)")
            }
            guard attachesHere else { return }
            for (id, attachment) in try references(store) {
                let record = records.first { $0.attachment.id == attachment.id }
                #expect(record?.isWhole == true, "\(id): \(record.map { "\($0)" } ?? "no record")")
                #expect(record?.attachment == attachment)
                #expect(AttachingWriter.hash(of: attachment) == attachment.sha256)
            }
        }
    }

    /// Makes all files that wait for a document older than they may become.
    private static func age(_ path: String) async throws {
        try await withFiles(path) { _, _, cache in
            for record in try cache.records(.staged) {
                try await cache.change(record.attachment.id) {
                    $0.used = BSONDatetime(milliseconds: $0.used.milliseconds - 25 * 3_600 * 1_000)
                }
            }
        }
        try await checkAfterRound(path)
        let left = try await withFiles(path) { _, _, cache in try cache.records(.staged).count }
        #expect(left == 0)
    }

    /// After a round only files are left that a document refers to, or may soon or again.
    private static func checkAfterRound(_ path: String) async throws {
        try await withFiles(path) { store, engine, cache in
            try await ageArriving(cache)
            _ = try await engine.attachments.transfer()
            let references = try references(store)
            for record in try cache.all() {
                let id = record.attachment.id
                let isReferred = references.contains { $0.1.id == id }
                switch record.stage {
                case .arriving, .removing: Issue.record("\(record) is left")
                case .staged: #expect(!isReferred, "\(record) is never sent")
                case .toSend:
                    // The remote may refuse the pending change that took the reference out.
                    #expect(isReferred || engine.files.isKept(id), "\(record) is left")
                case .loading, .here: #expect(isReferred, "\(record) is left")
                }
            }
        }
        try await checkDevice(path, attachesHere: true)
    }

    /// Makes the contents old that the dead process was storing, so that they count as abandoned.
    private static func ageArriving(_ cache: AttachmentCache) async throws {
        for record in try cache.records(.arriving) {
            try await cache.change(record.attachment.id) { $0.used = BSONDatetime(milliseconds: 0) }
        }
    }

    /// Each file at the remote is whole, with each chunk once.
    private static func checkRemote(_ place: String) throws {
        let store = try DocumentStore(at: .file(place + "/remote.store"))
        defer { store.close() }
        let bucket = AttachmentBucket(database: AttachingWriter.namespace.database)
        let files = try store.read { try $0.find(bucket.files) }
        let chunks = try store.read { try $0.find(bucket.chunks) }
        for file in files {
            let own = chunks.filter { $0["files_id"] == file["_id"] }
                .sorted { ($0["n"]?.int64Value ?? -1) < ($1["n"]?.int64Value ?? -1) }
            #expect(own.compactMap { $0["n"]?.int64Value } == Array(0..<Int64(own.count)))
            var bytes: [UInt8] = []
            for chunk in own {
                guard case .binary(let data)? = chunk["data"] else { continue }
                bytes += data.bytes
            }
            #expect(Int64(bytes.count) == file["length"]?.int64Value)
            #expect(file[path: "metadata.sha256"] == .binary(BSONBinary(SHA256.hash(bytes))))
        }
    }

    /// Lets all be sent and loaded; then each file is whole everywhere, and each chunk there once.
    private static func checkEnd(_ place: String) async throws {
        let writer = AttachingWriter(directory: place, round: 0)
        let devices = try await writer.open()
        for device in devices.both {
            try await device.syncUntilQuiet(passesMax: 20)
            try await ageArriving(try device.files.cache())
            let report = try await device.attachments.transfer()
            #expect(report.waiting == 0 && report.failed == 0 && report.error == nil)
        }
        let referred = try references(devices.remote)
        #expect(!referred.isEmpty)
        for device in devices.both {
            let cache = try device.files.cache()
            #expect(try references(device.store).map(\.1.id) == referred.map(\.1.id))
            for (_, attachment) in referred {
                let record = try #require(try cache.record(attachment.id))
                #expect(record.stage == .here && record.bytes == attachment.length)
                #expect(try cache.isSound(record))
            }
            let waiting = try cache.records(.staged).count
            #expect(try cache.all().count == referred.count + waiting)
        }
        let files = try devices.remote.read {
            try $0.find(AttachmentBucket(database: AttachingWriter.namespace.database).files)
        }
        for (_, attachment) in referred {
            #expect(files.filter { $0["_id"] == .objectID(attachment.id) }.count == 1)
        }
        await devices.close()
        try checkRemote(place)
        for name in ["local", "other"] { try await checkChunks(place + "/\(name).store") }
    }

    /// The device has the chunks of its files, and no others.
    private static func checkChunks(_ path: String) async throws {
        let expected = try await withFiles(path) { _, _, cache in
            let size = Int64(AttachmentCache.chunkSize)
            return try cache.all().reduce(Int64(0)) { $0 + ($1.bytes + size - 1) / size }
        }
        let contents = try DocumentStore(at: .file(path + "-attachments"))
        defer { contents.close() }
        #expect(try contents.read { try $0.count(AttachmentCache.chunks) } == Int(expected))
    }

    /// Opens a device as the next process finds it, without its remote.
    private static func withFiles<R>(
        _ path: String,
        _ body: (DocumentStore, SyncEngine, AttachmentCache) async throws -> R
    ) async throws -> R {
        let store = try DocumentStore(at: .file(path))
        defer { store.close() }
        let engine = try SyncEngine(store: store, remote: AbsentRemote())
        let result = try await body(store, engine, try engine.files.cache())
        await engine.close()
        engine.files.close()
        return result
    }

    private static func references(
        _ store: DocumentStore
    ) throws -> [(BSONValue, BSONStore.Attachment)] {
        try store.read { try $0.find(AttachingWriter.namespace) }.flatMap { document in
            BSONStore.Attachment.all(in: document).map { (document.documentID, $0) }
        }.sorted { "\($0.0)" < "\($1.0)" }
    }
}

/// A remote that nobody asks.
private struct AbsentRemote: Remote {
    func collection(_ namespace: Namespace) -> any RemoteCollection {
        preconditionFailure("nothing is to be asked of the remote")
    }
}

/// Attaches, replaces and removes files, syncs and sends them, while another device loads them.
struct AttachingWriter {
    static let namespace = Namespace("app", "todos")
    private static let ids = (0..<8).map { BSONValue.string("k\($0)") }
    private static let sizes = [0, 1, 40_000, 261_120, 300_000, 700_000, 4_300_000]

    let directory: String
    let round: Int

    /// Two devices over one remote.
    struct Devices {
        let local: SyncEngine
        let other: SyncEngine
        let remote: DocumentStore
        var both: [SyncEngine] { [local, other] }

        func close() async {
            for engine in both {
                await engine.close()
                engine.files.close()
                engine.store.close()
            }
            remote.close()
        }
    }

    func open() async throws -> Devices {
        let durability = round.isMultiple(of: 2) ? StoreDurability.full : .normal
        let remote = try DocumentStore(
            at: .file(directory + "/remote.store"),
            options: .init(durability: durability, changeHistory: .keep(changesMax: 1_000_000)))
        func engine(_ name: String) throws -> SyncEngine {
            let store = try DocumentStore(
                at: .file(directory + "/\(name).store"), options: .init(durability: durability))
            return try SyncEngine(store: store, remote: InProcessRemote(store: remote))
        }
        let devices = Devices(
            local: try engine("local"), other: try engine("other"), remote: remote)
        await devices.other.collection(Self.namespace).configure(
            conflictHandler: .remoteWins, attachments: .withDocument)
        try await devices.other.collection(Self.namespace).sync(ids: Self.ids)
        return devices
    }

    func runUntilKilled() async throws {
        let devices = try await open()
        let delayMS = 1 + round * 137 % 900
        let isStarted = DetachedThread.start {
            let bell = ThreadCondition(())
            // By its own CPU time, so that it gets to work on a busy machine, too.
            let end = Self.processorMS() + delayMS
            while Self.processorMS() < end { bell.pause(milliseconds: 1) }
            // It may wait for the disk when it dies.
            bell.pause(milliseconds: delayMS % 7)
            kill(getpid(), SIGKILL)
        }
        precondition(isStarted)
        let todos = devices.local.collection(Self.namespace)
        var step = round * 3
        while true {
            step += 1
            try await write(todos, Self.ids[step * 5 % 8], step)
            if step % 2 == 0 { try await devices.local.syncNow() }
            if step % 3 == 0 { _ = try await devices.local.attachments.transfer() }
            if step % 4 == 0 {
                try await devices.other.syncNow()
                _ = try await devices.other.attachments.transfer()
                try await evict(devices.other, Self.ids[step % 8])
            }
        }
    }

    /// Evicts the files of a document, and loads one of them again.
    private func evict(_ device: SyncEngine, _ id: BSONValue) async throws {
        let todos = device.collection(Self.namespace)
        guard let document = try todos.findOne(id: id) else { return }
        for attachment in BSONStore.Attachment.all(in: document) {
            if try await todos.file(attachment, of: id).evict(), attachment.length < 500_000 {
                try await todos.file(attachment, of: id).download()
            }
        }
    }

    private func write(
        _ todos: SyncCollection<BSONDocument>, _ id: BSONValue, _ step: Int
    ) async throws {
        let size = Self.sizes[step % Self.sizes.count]
        let name = "\(step) \(size)"
        guard try todos.findOne(id: id) != nil else {
            let file = try await todos.store(Self.content(step, size), name: name)
            try await todos.insertOne(["_id": id, "list": [["file": file.bsonValue]]])
            return
        }
        switch step % 11 {
        case 3: try await todos.deleteOne(["_id": id])
        case 7: try await todos.updateOne(["_id": id], ["$unset": ["photo": "", "list": ""]])
        default: try await todos.attach(Self.content(step, size), to: id, at: "photo", name: name)
        }
    }

    /// The hash that a file must have by its name.
    static func hash(of attachment: BSONStore.Attachment) -> [UInt8]? {
        let numbers = attachment.name?.split(separator: " ").compactMap { Int($0) } ?? []
        return numbers.count == 2 ? SHA256.hash(content(numbers[0], numbers[1])) : nil
    }

    private static func content(_ seed: Int, _ length: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: seed), count: length)
        for start in stride(from: 0, to: length, by: 50_000) {
            bytes[start] = UInt8(truncatingIfNeeded: start / 50_000)
        }
        return bytes
    }

    /// The CPU time of this process in milliseconds.
    private static func processorMS() -> Int {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Int(time.tv_sec) * 1_000 + Int(time.tv_nsec) / 1_000_000
    }
}
