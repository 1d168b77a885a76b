import BSONStore
import Foundation
import StitchRules
import Testing

@testable import StitchSync

/// Files beside documents: a content is never lost where it was attached, arrives once and whole, and
/// nobody gets it who may not read the document that refers to it.
@Suite("files beside documents")
struct AttachmentTests {
    private let scratch: ScratchDirectory
    private static let namespace = Namespace("app", "todos")

    init() throws { scratch = try ScratchDirectory() }

    @Test("a file that was attached offline reaches another device with its document")
    func roundTrip() async throws {
        let remote = try InProcessRemote(at: .inMemory)
        let (a, b) = (try device("a", remote), try device("b", remote))
        let photo = Self.content(700_001)
        try await a.todos.insertOne(["_id": 1, "task": "milk"])
        let reference = try await a.todos.attach(
            photo, to: 1, at: "photo", contentType: "image/jpeg", name: "milk.jpg")
        #expect(reference.length == 700_001 && reference.sha256 == SHA256.hash(photo))
        #expect(try await a.todos.file(reference, of: 1).bytes() == photo)
        // Without its document at the remote, the file waits.
        #expect(try await a.engine.attachments.transfer().waiting == 1)
        try await a.engine.syncUntilQuiet()
        try await b.fetch([1])
        let held = try #require(try b.reference(1))
        #expect(held == reference)
        let file = b.todos.file(held, of: 1)
        #expect(try file.state() == .atRemote)
        // The device that has it has not sent it.
        #expect(await code { _ = try await file.download() } == .fileMissing)
        #expect(try file.state() == .onItsWay)
        #expect(try await a.engine.attachments.transfer().sent == 1)
        #expect(try a.todos.file(reference, of: 1).state() == .here)
        #expect(try await file.bytes() == photo)
        #expect(try await file.read(from: 261_119, count: 3) == Array(photo[261_119..<261_122]))
        #expect(try file.state() == .here)
        let copy = URL(filePath: scratch.path("copy.jpg"))
        try await file.copy(to: copy)
        #expect(try Data(contentsOf: copy) == Data(photo))
        // In GridFS's format, each byte once.
        let files = try remote.store.collection(Namespace("app", "attachments.files")).find()
            .fetch()
        #expect(files.map { $0["filename"] } == ["milk.jpg"])
        let chunks = try remote.store.collection(Namespace("app", "attachments.chunks")).find([
            "files_id": .objectID(reference.id)
        ]).fetch()
        #expect(chunks.map { $0["n"] } == [0, 1, 2])
    }

    @Test(
        "lengths around the size of a chunk, and an empty file",
        arguments: [
            0, 1, 261_119, 261_120, 261_121, 522_240, 4_177_920, 4_177_921,
        ])
    func lengths(length: Int) async throws {
        let remote = try InProcessRemote(at: .inMemory)
        let (a, b) = (try device("a", remote), try device("b", remote))
        let content = Self.content(length)
        try await a.todos.insertOne(["_id": 1])
        let reference = try await a.todos.attach(content, to: 1, at: "file")
        try await a.engine.syncUntilQuiet()
        #expect(try await a.engine.attachments.transfer().sent == 1)
        try await b.fetch([1])
        #expect(try await b.todos.file(reference, of: 1).bytes() == content)
    }

    @Test("who signs out waits for files as well, and keeps them if they are not sent in time")
    func signOut() async throws {
        let remote = try InProcessRemote(at: .inMemory)
        let users = UserStores(directory: scratch.path("users")) { _ in remote }
        let engine = try users.signIn("ann")
        let todos = engine.collection(Self.namespace)
        let content = Self.content(700_001)
        try await todos.insertOne(["_id": 1])
        let reference = try await todos.attach(content, to: 1, at: "photo")
        // No document will refer to it, so it is not waited for.
        let note = URL(filePath: scratch.path("note.txt"))
        try Data("hello".utf8).write(to: note)
        _ = try await todos.store(contentsOf: note)
        engine.setOnline(false)
        let error = await #expect(throws: SyncError.self) {
            try await users.signOut("ann", waitingForUpload: .milliseconds(50))
        }
        #expect(error?.code == .timedOut)
        #expect(try users.signIn("ann") === engine)
        #expect(try engine.attachments.hasUnsent())
        engine.setOnline(true)
        try await users.signOut("ann", waitingForUpload: .seconds(120))
        #expect(try users.userIDs().isEmpty)
        let place = AttachmentPlace(Self.namespace, documentID: 1, reference)
        let files = try #require(remote.attachments)
        #expect(try await files.state(of: place) == .complete)
        #expect(try await files.read(place, from: 0, count: content.count) == content)
    }

    @Test("a file of the app is copied, and may change or go afterwards")
    func fromFile() async throws {
        let remote = try InProcessRemote(at: .inMemory)
        let a = try device("a", remote)
        let file = URL(filePath: scratch.path("note.txt"))
        try Data("hello".utf8).write(to: file)
        let reference = try await a.todos.store(contentsOf: file, contentType: "text/plain")
        #expect(reference.name == "note.txt")
        try FileManager.default.removeItem(at: file)
        try await a.todos.insertOne(["_id": 1, "list": [["note": reference.bsonValue]]])
        try await a.engine.syncUntilQuiet()
        #expect(try await a.engine.attachments.transfer().sent == 1)
        #expect(try await a.todos.file(reference, of: 1).bytes() == Array("hello".utf8))
        #expect(await code { _ = try await a.todos.store(contentsOf: file) } == .fileUnreadable)
        #expect(
            await code { _ = try await a.todos.store(contentsOf: URL(filePath: scratch.path(""))) }
                == .fileUnreadable)
    }

    @Test("a document that is missing gets no file, and nothing is left")
    func missingDocument() async throws {
        let a = try device("a", try InProcessRemote(at: .inMemory))
        #expect(
            await code { _ = try await a.todos.attach([1], to: 9, at: "file") }
                == .localDocumentMissing)
        #expect(try a.engine.attachments.usage() == (0, 0))
    }

    @Test("a file that nothing refers to is removed, on every way on which a reference goes")
    func removal() async throws {
        let remote = try InProcessRemote(at: .inMemory)
        let (a, b) = (try device("a", remote), try device("b", remote))
        for id in 1...4 as ClosedRange<Int32> {
            try await a.todos.insertOne(["_id": .int32(id)])
            try await a.todos.attach([UInt8(id)], to: .int32(id), at: "file")
        }
        #expect(try a.engine.attachments.usage() == (4, 4))
        try await a.engine.syncUntilQuiet()
        #expect(try await a.engine.attachments.transfer().sent == 4)
        try await b.fetch([1, 2, 3, 4])
        // Replaced, taken out, deleted here, deleted by another device.
        try await a.todos.attach([9, 9], to: 1, at: "file")
        try await a.todos.updateOne(["_id": 2], ["$unset": ["file": ""]])
        try await a.todos.deleteOne(["_id": 3])
        try await b.todos.deleteOne(["_id": 4])
        try await b.engine.syncUntilQuiet()
        try await a.engine.syncUntilQuiet()
        #expect(try await a.engine.attachments.transfer().sent == 1)
        #expect(try a.engine.attachments.usage() == (1, 2))
    }

    @Test("a policy loads files with their documents, and none that is too large")
    func policy() async throws {
        let remote = try InProcessRemote(at: .inMemory)
        let (a, b) = (try device("a", remote), try device("b", remote))
        for (id, length) in [(1, 10), (2, 5_000)] as [(Int32, Int)] {
            try await a.todos.insertOne(["_id": .int32(id)])
            try await a.todos.attach(Self.content(length), to: .int32(id), at: "file")
        }
        try await a.engine.syncUntilQuiet()
        try await a.engine.attachments.transfer()
        await b.todos.configure(conflictHandler: .remoteWins, attachments: .upTo(bytes: 100))
        try await b.fetch([1, 2])
        #expect(try await b.engine.attachments.transfer().loaded == 1)
        #expect(try b.engine.attachments.usage() == (1, 10))
        await b.todos.configure(conflictHandler: .remoteWins, attachments: .withDocument)
        #expect(try await b.engine.attachments.transfer().loaded == 1)
        #expect(try b.engine.attachments.usage() == (2, 5_010))
        // What the remote has may be evicted, and comes back when it is asked for.
        b.engine.attachments.limitCache(to: 4_000)
        await b.todos.configure(conflictHandler: .remoteWins)
        try await b.engine.attachments.transfer()
        let two = try #require(try b.reference(2))
        #expect(try b.engine.attachments.usage() == (1, 5_000))
        #expect(try await b.todos.file(two, of: 2).evict())
        #expect(try b.engine.attachments.usage() == (0, 0))
        #expect(try await b.todos.file(two, of: 2).bytes() == Self.content(5_000))
    }

    @Test("a transfer that is cut goes on after the last piece, and sends each byte once")
    func cuts() async throws {
        let inner = try InProcessRemote(at: .inMemory)
        let remote = CutRemote(inner)
        let (a, b) = (try device("a", remote), try device("b", remote))
        let content = Self.content(9_000_000)
        try await a.todos.insertOne(["_id": 1])
        let reference = try await a.todos.attach(content, to: 1, at: "film")
        try await a.engine.syncUntilQuiet()
        remote.cutsEverySecondRequest.withLock { $0 = true }
        var cuts = 0
        while try await a.engine.attachments.transfer().error != nil { cuts += 1 }
        try await b.fetch([1])
        let file = b.todos.file(reference, of: 1)
        while true {
            do {
                try await file.download()
                break
            } catch let error as SyncError where error.code == .remoteUnavailable {
                cuts += 1
            }
        }
        #expect(cuts >= 4)
        #expect(try await file.bytes() == content)
        let stored = remote.stored.withLock { $0 }
        #expect(stored == 9_000_000, "\(stored) bytes were stored")
    }

    @Test("a device that ended at any point sends what it has after its next start")
    func restarts() async throws {
        let remote = try InProcessRemote(at: .inMemory)
        var a = try device("a", remote)
        try await a.todos.insertOne(["_id": 1])
        let kept = try await a.todos.attach([1, 2, 3], to: 1, at: "file")
        // One content whose document was never written, one that was being stored.
        let cache = try a.engine.files.cache()
        _ = try await cache.store(AttachmentSource([4]), contentType: nil, name: nil, of: nil)
        var abandoned = AttachmentRecord(
            attachment: BSONStore.Attachment(
                id: BSONObjectID(), sha256: Array(repeating: 0, count: 32), length: 5),
            stage: .arriving, owner: nil, bytes: 0)
        abandoned.used = BSONDatetime(milliseconds: 0)
        try await cache.save(abandoned)
        try await cache.save(
            AttachmentRecord(
                attachment: BSONStore.Attachment(
                    id: BSONObjectID(), sha256: Array(repeating: 0, count: 32), length: 5),
                stage: .removing, owner: nil, bytes: 0))
        // One whose process ended between the document and the next round, more than a day ago.
        let old = try await a.todos.store([5])
        try await a.todos.insertOne(["_id": 2, "file": old.bsonValue])
        for id in [kept.id, old.id] {
            try await cache.change(id) { $0.used = BSONDatetime(milliseconds: 0) }
        }
        await a.engine.close()
        a.store.close()
        a = try device("a", remote)
        try await a.engine.syncUntilQuiet()
        // The first round, while a content is being stored.
        let arriving = BSONStore.Attachment(
            id: BSONObjectID(), sha256: repeatElement(0, count: 32), length: 5)
        let reopened = try a.engine.files.cache()
        try await reopened.save(
            AttachmentRecord(attachment: arriving, stage: .arriving, owner: nil, bytes: 0))
        #expect(try await a.engine.attachments.transfer().sent == 2)
        #expect(try reopened.record(arriving.id) != nil)
        try await reopened.remove(arriving.id)
        #expect(try await a.todos.file(kept, of: 1).bytes() == [1, 2, 3])
        #expect(try await a.todos.file(old, of: 2).bytes() == [5])
        #expect(
            try a.engine.files.cache().all().map(\.stage).sorted { $0.rawValue < $1.rawValue }
                == [.here, .here, .staged])
    }

    @Test("a reference that comes back brings its file, which the remote has removed meanwhile")
    func returnedReference() async throws {
        let remote = try InProcessRemote(at: .inMemory)
        let (a, b, c) = (
            try device("a", remote), try device("b", remote), try device("c", remote)
        )
        await b.todos.configure(conflictHandler: .localWins)
        let content = Self.content(300_000)
        try await a.todos.insertOne(["_id": 1])
        let photo = try await a.todos.attach(content, to: 1, at: "photo")
        try await a.engine.syncUntilQuiet()
        try await a.engine.attachments.transfer()
        try await b.fetch([1])
        try await b.todos.file(photo, of: 1).download()
        // The user takes the photo out, and the remote removes it.
        try await a.todos.updateOne(["_id": 1], ["$unset": ["photo": ""]])
        try await a.engine.syncUntilQuiet()
        try Self.removeOrphans(of: remote)
        // A device that was offline keeps its own version, with the photo.
        try await b.todos.updateOne(["_id": 1], ["$set": ["task": "milk"]])
        try await b.engine.syncUntilQuiet()
        #expect(try await b.engine.attachments.transfer().sent == 1)
        try await c.fetch([1])
        #expect(try await c.todos.file(photo, of: 1).bytes() == content)
        // The user of that device takes it out, and then undoes it before the content is removed.
        try await b.todos.updateOne(["_id": 1], ["$unset": ["photo": ""]])
        try await b.engine.syncUntilQuiet()
        try Self.removeOrphans(of: remote)
        try await b.todos.updateOne(["_id": 1], ["$set": ["photo": photo.bsonValue]])
        try await b.engine.syncUntilQuiet()
        #expect(try await b.engine.attachments.transfer().sent == 1)
        #expect(try b.todos.file(photo, of: 1).state() == .here)
        let place = AttachmentPlace(Self.namespace, documentID: 1, photo)
        let files = try #require(remote.attachments)
        #expect(try await files.state(of: place) == .complete)
    }

    private static func removeOrphans(of remote: InProcessRemote) throws {
        let now = BSONDatetime.now
        let files = StoredAttachments(remote.store)
        #expect(try files.sweep(now: now, graceMS: 0).marked == 1)
        #expect(try files.sweep(now: now, graceMS: 0).removedFiles == 1)
    }

    @Test("a file that was not sent stays when its document is missing without a delete")
    func missingRow() async throws {
        let a = try device("a", try InProcessRemote(at: .inMemory))
        try await a.todos.insertOne(["_id": 1])
        let unsent = try await a.todos.attach([1, 2, 3], to: 1, at: "file")
        // The row is damaged: gone, and no call of the app's removed it.
        try await a.store.write { transaction in
            transaction.isEngineWrite = true
            _ = try transaction.remove(Self.namespace, id: 1)
        }
        a.engine.files.note([1], in: Self.namespace)
        try await a.engine.attachments.transfer()
        #expect(try await a.todos.file(unsent, of: 1).bytes() == [1, 2, 3])
    }

    @Test("a file that the app asks for is loaded while another one is being sent")
    func lanes() async throws {
        let inner = try InProcessRemote(at: .inMemory)
        let remote = CutRemote(inner)
        let (a, b) = (try device("a", remote), try device("b", inner))
        try await b.todos.insertOne(["_id": 2])
        let wanted = try await b.todos.attach([2], to: 2, at: "file")
        try await b.engine.syncUntilQuiet()
        try await b.engine.attachments.transfer()
        try await a.todos.insertOne(["_id": 1])
        try await a.todos.attach(Self.content(300_000), to: 1, at: "file")
        try await a.engine.syncUntilQuiet()
        try await a.fetch([2])
        let read = Locked<[UInt8]?>(nil)
        remote.beforePut.withLock { act in
            act = {
                let bytes = try await a.todos.file(wanted, of: 2).bytes()
                read.withLock { $0 = bytes }
            }
        }
        #expect(try await a.engine.attachments.transfer().sent == 1)
        #expect(read.withLock { $0 } == [2])
    }

    @Test("a content that is not the one of the reference is refused, here and there")
    func wrongContent() async throws {
        let remote = try InProcessRemote(at: .inMemory)
        let (a, b) = (try device("a", remote), try device("b", remote))
        try await a.todos.insertOne(["_id": 1])
        let reference = try await a.todos.attach(Self.content(300_000), to: 1, at: "file")
        try await a.engine.syncUntilQuiet()
        let files = try #require(remote.attachments)
        let place = AttachmentPlace(Self.namespace, documentID: 1, reference)
        #expect(try await files.put(Self.content(300_000, 7), at: 0, of: place) == .partial(0))
        try await a.engine.attachments.transfer()
        // Another program damages what is stored.
        try await remote.store.write { transaction in
            _ = try transaction.updateOne(
                Namespace("app", "attachments.chunks"), filter: Filter(["n": 1]),
                update: Update([
                    "$set": ["data": .binary(BSONBinary([UInt8](repeating: 7, count: 38_880)))]
                ]))
        }
        try await b.fetch([1])
        let file = b.todos.file(reference, of: 1)
        #expect(await code { _ = try await file.bytes() } == .fileMissing)
        guard case .failed = try file.state() else {
            Issue.record("\(try file.state())")
            return
        }
    }

    @Test("who does not read the reference gets no byte, and a forged reference gets none either")
    func rules() async throws {
        let store = try DocumentStore(
            at: .inMemory, options: .init(changeHistory: .keep(changesMax: 1_000)))
        let owner = InProcessRemote(store: store)
        let a = try device("a", owner)
        try await a.todos.insertOne(["_id": 1, "owner": "ann"])
        let reference = try await a.todos.attach([1, 2, 3], to: 1, at: "photo")
        try await a.engine.syncUntilQuiet()
        try await a.engine.attachments.transfer()
        func files(_ user: String, _ role: String) throws -> any RemoteAttachments {
            let rules = try RuleSet(
                files: ["app/todos/rules.json": Array(#"{"roles": [\#(role)]}"#.utf8)])
            let remote = InProcessRemote(store: store, rules: rules, user: RuleUser(id: user))
            return try #require(remote.attachments)
        }
        let place = AttachmentPlace(Self.namespace, documentID: 1, reference)
        let all =
            #"{"name": "all", "apply_when": {}, "document_filters": {"read": true, "write": true}, "read": true, "write": true}"#
        let own =
            #"{"name": "own", "apply_when": {}, "document_filters": {"read": {"owner": "%%user.id"}, "write": false}, "read": true, "write": false}"#
        let masked =
            #"{"name": "masked", "apply_when": {}, "document_filters": {"read": true, "write": true}, "fields": {"owner": {"read": true}, "photo": {"read": false}}}"#
        #expect(try await files("ann", own).read(place, from: 0, count: 9) == [1, 2, 3])
        #expect(try await files("eve", own).read(place, from: 0, count: 9) == nil)
        #expect(try await files("eve", own).state(of: place) == .unknown)
        #expect(try await files("ann", masked).read(place, from: 0, count: 9) == nil)
        // Who may not write the field cannot store a file for it.
        #expect(try await files("ann", own).put([1], at: 0, of: place) == .unknown)
        // A reference in a document of one's own, with the id and the hash of another's file.
        _ = try await store.write {
            try $0.insert(Self.namespace, ["_id": 2, "owner": "eve", "photo": reference.bsonValue])
        }
        let forged = AttachmentPlace(Self.namespace, documentID: 2, reference)
        #expect(try await files("eve", own).read(forged, from: 0, count: 9) == nil)
        #expect(try await files("eve", all).state(of: forged) == .unknown)
        #expect(try await files("eve", all).put([1, 2, 3], at: 0, of: forged) == .unknown)
        // The reference of a hidden field, in a field of the same document that the user writes.
        let writesNotes =
            #"{"name": "notes", "apply_when": {}, "document_filters": {"read": true, "write": true}, "fields": {"photo": {"read": false}}, "additional_fields": {"read": true, "write": true}}"#
        _ = try await store.write {
            try $0.updateOne(
                Self.namespace, filter: Filter(["_id": 1]),
                update: Update(["$set": ["note": reference.bsonValue]]))
        }
        #expect(try await files("eve", writesNotes).read(place, from: 0, count: 9) == nil)
        #expect(try await files("eve", writesNotes).state(of: place) == .unknown)
        #expect(try await files("eve", writesNotes).put([1, 2, 3], at: 0, of: place) == .unknown)
        #expect(try await files("ann", own).read(place, from: 0, count: 9) == [1, 2, 3])
    }

    @Test(
        "neither documents nor files can be read on the disk, and both get another key",
        .enabled(if: AttachmentTests.key != nil))
    func encryption() async throws {
        let marker = "a word that nobody may read"
        let remote = try InProcessRemote(at: .inMemory)
        let a = try device("a", remote)
        try await a.todos.insertOne(["_id": 1, "text": .string(marker)])
        let file = try await a.todos.attach(Array(marker.utf8), to: 1, at: "file")
        try await a.engine.syncUntilQuiet()
        try await a.engine.attachments.transfer()
        func expectNothingReadable() throws {
            let names = try FileManager.default.contentsOfDirectory(atPath: scratch.path(""))
            #expect(names.contains("a.stitch-attachments"))
            for name in names {
                let bytes = try Data(contentsOf: URL(filePath: scratch.path(name)))
                #expect(bytes.range(of: Data(marker.utf8)) == nil, "\(name)")
            }
        }
        try expectNothingReadable()
        await a.engine.close()
        a.store.close()
        let new = [UInt8](repeating: 9, count: 32)
        let path = scratch.path("a.stitch")
        let old = try #require(Self.key)
        // As if the process had ended after the first of the two.
        try DocumentStore.changeKey(ofFileAt: path + "-attachments", from: old, to: new)
        try SyncEngine.changeKey(ofStoreAt: path, from: old, to: new)
        try expectNothingReadable()
        let store = try DocumentStore(at: .file(path), options: .init(encryptionKey: new))
        let engine = try SyncEngine(store: store, remote: remote)
        let todos = engine.collection(Self.namespace)
        #expect(try todos.findOne(id: 1)?["text"] == .string(marker))
        #expect(try await todos.file(file, of: 1).bytes() == Array(marker.utf8))
        await engine.close()
        store.close()
    }

    // MARK: - Devices

    /// The devices' key; `nil` where the tests are not linked with SQLCipher.
    private static let key: [UInt8]? = {
        let key = [UInt8](repeating: 7, count: 32)
        do {
            try DocumentStore(at: .inMemory, options: .init(encryptionKey: key)).close()
            return key
        } catch {
            return nil
        }
    }()

    private func code(_ body: () async throws -> Void) async -> SyncError.Code? {
        do {
            try await body()
            return nil
        } catch {
            return (error as? SyncError)?.code
        }
    }

    private struct Device {
        let store: DocumentStore
        let engine: SyncEngine
        var todos: SyncCollection<BSONDocument> { engine.collection(AttachmentTests.namespace) }

        func fetch(_ ids: [BSONValue]) async throws {
            try await todos.sync(ids: ids)
            try await engine.syncUntilQuiet()
        }

        func reference(_ id: BSONValue) throws -> BSONStore.Attachment? {
            try todos.findOne(id: id).flatMap { BSONStore.Attachment.all(in: $0).first }
        }
    }

    @Test("on a metered network large files wait, both ways, until it is not metered")
    func metered() async throws {
        let remote = try InProcessRemote(at: .inMemory)
        let (a, b) = (try device("a", remote), try device("b", remote))
        var files: [BSONStore.Attachment] = []
        for (id, length) in [(1, 5_000), (2, 10)] as [(Int32, Int)] {
            try await a.todos.insertOne(["_id": .int32(id)])
            files.append(
                try await a.todos.attach(Self.content(length), to: .int32(id), at: "file"))
        }
        try await a.engine.syncUntilQuiet()
        await b.todos.configure(conflictHandler: .remoteWins, attachments: .withDocument)
        try await b.fetch([1, 2])
        for (device, id) in [(a, Int32(1)), (b, 1)] {
            let engine = device.engine
            engine.setNetworkPolicy(.filesUpTo(bytes: 100))
            engine.noteMetered(true)
            let report = try await engine.files.runRound { engine.carriesByItself($0) }
            #expect(report.heldBack == 1 && report.sent + report.loaded == 1 && report.isDone)
            let large = device.todos.file(files[0], of: .int32(id))
            #expect(try large.state() != .here)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await engine.run() }
                defer { group.cancelAll() }
                engine.noteMetered(false)
                for try await state in large.updates where state == .here { break }
            }
        }
        // A file that the app reads does not wait.
        b.engine.noteMetered(true)
        b.engine.setNetworkPolicy(.documentsOnly)
        #expect(try await b.todos.file(files[0], of: 1).evict())
        #expect(try await b.todos.file(files[0], of: 1).bytes() == Self.content(5_000))
    }

    private func device(_ name: String, _ remote: any Remote) throws -> Device {
        let store = try DocumentStore(
            at: .file(scratch.path("\(name).stitch")), options: .init(encryptionKey: Self.key))
        return Device(store: store, engine: try SyncEngine(store: store, remote: remote))
    }

    private static func content(_ length: Int, _ seed: UInt64 = 1) -> [UInt8] {
        var state = seed
        return (0..<length).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: state >> 33)
        }
    }
}

/// A remote whose connection breaks at every second request about files, after the request or before.
private final class CutRemote: Remote {
    private let inner: InProcessRemote
    let cutsEverySecondRequest = Locked(false)
    let stored = Locked<Int64>(0)
    /// What happens while a piece is under way.
    let beforePut = Locked<(@Sendable () async throws -> Void)?>(nil)
    private let requests = Locked(0)

    init(_ inner: InProcessRemote) { self.inner = inner }

    func collection(_ namespace: Namespace) -> any RemoteCollection { inner.collection(namespace) }

    var attachments: (any RemoteAttachments)? {
        inner.attachments.map { Files(remote: self, inner: $0) }
    }

    private func cut<R>(
        _ body: () async throws(RemoteError) -> R
    ) async throws(RemoteError) -> R {
        let number = requests.withLock { count in
            count += 1
            return count
        }
        let cuts = cutsEverySecondRequest.withLock { $0 }
        let error = RemoteError(.retryable, "cut")
        if cuts, number % 4 == 0 { throw error }
        let result = try await body()
        if cuts, number % 4 == 2 { throw error }
        return result
    }

    private struct Files: RemoteAttachments {
        let remote: CutRemote
        let inner: any RemoteAttachments

        func state(of place: AttachmentPlace) async throws(RemoteError) -> RemoteAttachmentState {
            try await remote.cut { () async throws(RemoteError) in try await inner.state(of: place)
            }
        }

        func put(
            _ bytes: [UInt8], at offset: Int64, of place: AttachmentPlace
        ) async throws(RemoteError) -> RemoteAttachmentState {
            do {
                try await remote.beforePut.withLock { $0 }?()
            } catch {
                throw RemoteError(.rejected, "\(error)")
            }
            return try await remote.cut { () async throws(RemoteError) in
                let before = try await inner.state(of: place)
                let after = try await inner.put(bytes, at: offset, of: place)
                if before != after { remote.stored.withLock { $0 += Int64(bytes.count) } }
                return after
            }
        }

        func read(
            _ place: AttachmentPlace, from offset: Int64, count: Int
        ) async throws(RemoteError) -> [UInt8]? {
            try await remote.cut { () async throws(RemoteError) in
                try await inner.read(place, from: offset, count: count)
            }
        }
    }
}
