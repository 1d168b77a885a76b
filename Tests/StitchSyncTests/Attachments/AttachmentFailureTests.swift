import BSONStore
import Foundation
import Testing

@testable import StitchSync

/// One file that cannot be sent or loaded may not keep the others back, and the app learns of it.
@Suite("files that fail alone", .timeLimit(.minutes(5)))
struct AttachmentFailureTests {
    private static let namespace = Namespace("app", "todos")

    private let scratch: ScratchDirectory
    private let inner: InProcessRemote
    private let remote: HookedRemote

    init() throws {
        scratch = try ScratchDirectory()
        inner = try InProcessRemote(at: .inMemory)
        remote = HookedRemote(inner)
    }

    @Test(
        "a file that the remote refuses does not keep others back",
        arguments: [
            RemoteError.Class.rejected, .unknown,
        ])
    func refused(errorClass: RemoteError.Class) async throws {
        let a = try device("a")
        let references = try await attached(3, a)
        remote.refuse(references[0], RemoteError(errorClass, "no"))
        for _ in 1...2 {
            let report = try await a.attachments.transfer()
            #expect(report.failed == 1 && (report.error == nil) == (errorClass == .rejected))
        }
        #expect(try a.file(references[0], 0).state() == .failed("no"))
        #expect(try a.file(references[1], 1).state() == .here)
        #expect(try a.file(references[2], 2).state() == .here)
        // Another device loads the others; then the remote takes and gives all.
        let b = try device("b")
        await b.todos.configure(conflictHandler: .remoteWins, attachments: .withDocument)
        try await b.todos.sync(ids: [0, 1, 2])
        try await b.syncUntilQuiet()
        #expect(try await b.attachments.transfer().loaded == 2)
        remote.refuse(references[0], nil)
        #expect(try await a.attachments.transfer().sent == 1)
        #expect(try a.file(references[0], 0).state() == .here)
        #expect(try await b.file(references[0], 0).bytes() == Self.content(0))
    }

    @Test("a reference with an impossible length is removed like any other")
    func impossibleLength() async throws {
        let forged = BSONStore.Attachment(
            id: BSONObjectID(), sha256: [UInt8](repeating: 1, count: 32), length: .max)
        try await inner.store.write { transaction in
            try transaction.insert(Self.namespace, ["_id": 7, "photo": forged.bsonValue])
        }
        let b = try device("b")
        try await b.todos.sync(ids: [7])
        try await b.syncUntilQuiet()
        await #expect(throws: SyncError.self) { try await b.file(forged, 7).bytes() }
        #expect(try b.engine.files.cache().record(forged.id) != nil)
        try await b.todos.deleteOne(["_id": 7])
        try await b.syncUntilQuiet()
        try await b.attachments.transfer()
        #expect(try b.engine.files.cache().record(forged.id) == nil)
    }

    @Test("the rest of a file is read by any large count")
    func rest() async throws {
        let a = try device("a")
        let reference = try await attached(1, a)[0]
        let file = a.file(reference, 0)
        #expect(try await file.read(from: 1, count: .max) == Array(Self.content(0).dropFirst()))
        #expect(try await file.read(from: .max, count: .max) == [])
        #expect(try await file.read(from: 0, count: -1) == [])
    }

    @Test("documents are synced although the store of the files is damaged")
    func damagedFileStore() async throws {
        var a = try device("a")
        _ = try await attached(1, a)
        await a.engine.close()
        a.engine.store.close()
        let path = scratch.path("a.stitch") + "-attachments"
        try Data(repeating: 7, count: 8_192).write(to: URL(fileURLWithPath: path))
        a = try device("a")
        let todos = a.todos
        var errors = a.engine.errors.makeAsyncIterator()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { [engine = a.engine] in try await engine.run() }
            defer { group.cancelAll() }
            #expect(await errors.next()?.code == .storeFailed)
            try await todos.insertOne(["_id": "new"])
            try await todos.waitForUpload(timeout: .seconds(60))
        }
        #expect(try inner.store.read { try $0.get(Self.namespace, id: "new") } != nil)
    }

    @Test("run() reports a file that fails once")
    func reported() async throws {
        let a = try device("a")
        let references = try await attached(2, a)
        remote.refuse(references[0], RemoteError(.rejected, "no"))
        var errors = a.engine.errors.makeAsyncIterator()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await a.engine.run() }
            defer { group.cancelAll() }
            let first = await errors.next()
            #expect(first?.code == .fileFailed && first?.isFatal == false)
            #expect(first?.documentID == .int32(0) && first?.namespace == Self.namespace)
            #expect(first?.message.hasSuffix(": no") == true)
            // Another round tries it again, and another reason is reported.
            for (id, reason) in [(Int32(8), "no"), (9, "still no")] {
                remote.refuse(references[0], RemoteError(.rejected, reason))
                try await a.todos.insertOne(["_id": .int32(id)])
                let later = try await a.todos.attach([9], to: .int32(id), at: "file")
                for try await state in a.file(later, id).updates where state == .here { break }
            }
            #expect(await errors.next()?.message.hasSuffix(": still no") == true)
            #expect(try a.file(references[1], 1).state() == .here)
        }
    }

    @Test("a content that is damaged on the device does not keep others back")
    func damagedHere() async throws {
        let a = try device("a")
        let references = try await attached(2, a)
        try await removeChunks(of: references[0], on: "a")
        let report = try await a.attachments.transfer()
        #expect(report.failed == 1 && report.sent == 1 && report.error == nil)
        guard case .failed = try a.file(references[0], 0).state() else {
            Issue.record("\(try a.file(references[0], 0).state())")
            return
        }
        // The remote has the other one, so it is loaded again.
        try await removeChunks(of: references[1], on: "a")
        #expect(try await a.file(references[1], 1).bytes() == Self.content(1))
    }

    @Test("a content that is damaged at the remote does not keep others back")
    func damagedThere() async throws {
        let a = try device("a")
        let references = try await attached(2, a)
        #expect(try await a.attachments.transfer().sent == 2)
        try await inner.store.write { transaction in
            _ = try transaction.deleteMany(
                Namespace("app", "attachments.chunks"),
                filter: Filter(["files_id": .objectID(references[0].id), "n": 1]))
        }
        let b = try device("b")
        await b.todos.configure(conflictHandler: .remoteWins, attachments: .withDocument)
        try await b.todos.sync(ids: [0, 1])
        try await b.syncUntilQuiet()
        let report = try await b.attachments.transfer()
        #expect(report.loaded == 1 && report.failed == 1)
        #expect(try b.file(references[1], 1).state() == .here)
    }

    @Test("a content that one process stores stays when another one opens the store meanwhile")
    func otherProcess() async throws {
        let a = try device("a")
        try await a.todos.insertOne(["_id": 1])
        let bytes = [UInt8](repeating: 3, count: 3 * AttachmentCache.batchBytes)
        let opened = Locked<(DocumentStore, SyncEngine)?>(nil)
        let path = scratch.path("a.stitch")
        let remote = inner
        let source = AttachmentSource(length: Int64(bytes.count)) { offset, count in
            if offset > 0, opened.withLock({ $0 == nil }) {
                let store = try DocumentStore(at: .file(path))
                let other = try SyncEngine(store: store, remote: remote)
                _ = try other.files.cache()
                opened.withLock { $0 = (store, other) }
            }
            return Array(bytes[Int(offset)..<min(Int(offset) + count, bytes.count)])
        }
        let cache = try a.engine.files.cache()
        let reference = try await cache.store(
            source, contentType: nil, name: nil,
            of: .init(namespace: Self.namespace, documentID: 1))
        let (store, other) = try #require(opened.withLock { $0 })
        try await other.attachments.transfer()
        try await a.todos.updateOne(["_id": 1], ["$set": ["file": reference.bsonValue]])
        try await a.engine.attachments.transfer()
        #expect(try await a.file(reference, 1).bytes() == bytes)
        await other.close()
        store.close()
    }

    @Test("a content that another process removed while it was stored is not attached")
    func removedMeanwhile() async throws {
        let a = try device("a")
        let cache = try a.engine.files.cache()
        let path = scratch.path("a.stitch-attachments")
        let source = AttachmentSource(length: Int64(2 * AttachmentCache.batchBytes)) {
            offset, count in
            if offset > 0 {
                let store = try DocumentStore(at: .file(path))
                try store.write { transaction in
                    _ = try transaction.deleteMany(AttachmentCache.records, filter: Filter([:]))
                    _ = try transaction.deleteMany(AttachmentCache.chunks, filter: Filter([:]))
                }
                store.close()
            }
            return [UInt8](repeating: 3, count: count)
        }
        let error = await #expect(throws: SyncError.self) {
            _ = try await cache.store(source, contentType: nil, name: nil, of: nil)
        }
        #expect(error?.code == .timedOut)
        #expect(try a.attachments.usage() == (0, 0))
    }

    @Test(
        "a content that has to be sent again is not evicted, and half a file counts for the limit")
    func evictions() async throws {
        let a = try device("a")
        let references = try await attached(1, a)
        try await a.attachments.transfer()
        let cache = try a.engine.files.cache()
        let record = try #require(try cache.record(references[0].id))
        try await cache.change(record.attachment.id) { $0.stage = .toSend }
        #expect(try await !cache.evict(record))
        #expect(try cache.read(record, from: 0, count: .max / 2) == Self.content(0))
        try await cache.change(record.attachment.id) { $0.stage = .here }
        let half = BSONStore.Attachment(
            id: BSONObjectID(), sha256: repeatElement(0, count: 32), length: 500_000)
        var part = AttachmentRecord(
            attachment: half, stage: .loading,
            owner: .init(namespace: Self.namespace, documentID: 0), bytes: 261_120)
        part.used = BSONDatetime(milliseconds: 0)
        try await cache.save(part)
        a.attachments.limitCache(to: references[0].length)
        try await a.attachments.transfer()
        #expect(try a.attachments.usage() == (1, references[0].length))
        // A file that is being read stays.
        let isEvicted = try await a.engine.files.reading(references[0].id) {
            try await a.file(references[0], 0).evict()
        }
        #expect(!isEvicted)
        #expect(try await a.file(references[0], 0).evict())
    }

    @Test("a copy of a reference does not keep the file from the document that it belongs to")
    func copies() async throws {
        let a = try device("a")
        let photo = try await attached(1, a)[0]
        try await a.todos.insertOne(["_id": 1, "copy": photo.bsonValue])
        let forged = BSONStore.Attachment(
            id: photo.id, sha256: repeatElement(7, count: 32), length: photo.length)
        try await a.todos.insertOne(["_id": 2, "file": forged.bsonValue])
        try await a.syncUntilQuiet()
        #expect(try await a.attachments.transfer().sent == 1)
        let b = try device("b")
        try await b.todos.sync(ids: [0, 1, 2])
        try await b.syncUntilQuiet()
        let missing = SyncError.Code.fileMissing
        #expect(await Self.code { _ = try await b.file(photo, 1).bytes() } == missing)
        #expect(try await b.file(photo, 0).bytes() == Self.content(0))
        #expect(await Self.code { _ = try await b.file(forged, 2).bytes() } == missing)
        #expect(try await b.file(photo, 0).bytes() == Self.content(0))
        // By a policy, whichever of the documents comes first.
        let c = try device("c")
        await c.todos.configure(conflictHandler: .remoteWins, attachments: .withDocument)
        try await c.todos.sync(ids: [1])
        try await c.syncUntilQuiet()
        #expect(try await c.attachments.transfer().waiting == 1)
        try await c.todos.sync(ids: [0])
        try await c.syncUntilQuiet()
        #expect(try await c.attachments.transfer().loaded == 1)
        #expect(try await c.file(photo, 0).bytes() == Self.content(0))
    }

    // MARK: - Devices

    private struct Device {
        let engine: SyncEngine
        var todos: SyncCollection<BSONDocument> {
            engine.collection(AttachmentFailureTests.namespace)
        }
        var attachments: SyncAttachments { engine.attachments }

        func file(_ reference: BSONStore.Attachment, _ id: Int32) -> AttachmentFile {
            todos.file(reference, of: .int32(id))
        }

        func syncUntilQuiet() async throws { try await engine.syncUntilQuiet() }
    }

    private func device(_ name: String) throws -> Device {
        let store = try DocumentStore(at: .file(scratch.path("\(name).stitch")))
        return Device(engine: try SyncEngine(store: store, remote: remote))
    }

    /// Attaches a file to each of some documents, and sends the documents.
    private func attached(
        _ count: Int, _ device: Device
    ) async throws -> [BSONStore.Attachment] {
        var references: [BSONStore.Attachment] = []
        for number in 0..<count {
            let id = BSONValue.int32(Int32(number))
            try await device.todos.insertOne(["_id": id])
            references.append(
                try await device.todos.attach(Self.content(number), to: id, at: "file"))
        }
        try await device.syncUntilQuiet()
        return references
    }

    private func removeChunks(of reference: BSONStore.Attachment, on name: String) async throws {
        let store = try DocumentStore(at: .file(scratch.path("\(name).stitch-attachments")))
        try await store.write { transaction in
            for chunk in try transaction.find(AttachmentCache.chunks) {
                guard case .binary(let id) = chunk.documentID,
                    id.bytes.starts(with: reference.id.bytes)
                else { continue }
                _ = try transaction.remove(AttachmentCache.chunks, id: chunk.documentID)
            }
        }
        store.close()
    }

    private static func content(_ number: Int) -> [UInt8] {
        [UInt8](repeating: UInt8(number + 1), count: 300_000 + number)
    }

    private static func code(_ body: () async throws -> Void) async -> SyncError.Code? {
        do {
            try await body()
            return nil
        } catch {
            return (error as? SyncError)?.code
        }
    }
}
