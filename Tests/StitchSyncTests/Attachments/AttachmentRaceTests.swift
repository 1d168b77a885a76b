import BSONStore
import Foundation
import StitchRules
import Testing

@testable import StitchSync

/// What the app or another device does in the middle of a round costs no content that is here only.
@Suite("files and changes at the same time", .timeLimit(.minutes(5)))
struct AttachmentRaceTests {
    private static let namespace = Namespace("app", "rooms")
    private static let content = [UInt8](repeating: 5, count: 300_000)

    private let scratch: ScratchDirectory
    private let inner: InProcessRemote
    private let remote: HookedRemote

    init() throws {
        scratch = try ScratchDirectory()
        inner = try InProcessRemote(at: .inMemory)
        remote = HookedRemote(inner)
    }

    // MARK: - References

    @Test("a file that is attached while all documents are read stays")
    func attachedMeanwhile() async throws {
        let (a, b) = (try device("a"), try device("b"))
        let first = try await attached(a)
        try await a.engine.attachments.transfer()
        try await b.rooms.sync(ids: [1])
        try await b.rooms.insertOne(["_id": 2])
        try await b.rooms.attach([1], to: 2, at: "old")
        try await b.engine.syncUntilQuiet()
        try await b.engine.attachments.transfer()
        let late = Locked<BSONStore.Attachment?>(nil)
        await b.rooms.configure(
            conflictHandler: .remoteWins,
            attachments: .when { attachment in
                guard attachment.id == first.id, late.withLock({ $0 == nil }) else { return false }
                do {
                    let reference = try await b.rooms.attach([1, 2], to: 2, at: "late")
                    late.withLock { $0 = reference }
                } catch {
                    Issue.record(error)
                }
                return false
            })
        try await b.engine.attachments.transfer()
        let reference = try #require(late.withLock { $0 })
        #expect(try b.engine.files.cache().record(reference.id)?.stage == .toSend)
        try await b.engine.syncUntilQuiet()
        try await b.engine.attachments.transfer()
        #expect(try await state(of: reference, 2) == .complete)
    }

    /// When the name in a reference is changed.
    enum Renaming: CaseIterable {
        case here, hereAndThere, there, afterItLeft
    }

    @Test("a reference with another name keeps its unsent file", arguments: Renaming.allCases)
    func renamed(renaming: Renaming) async throws {
        let a = try device("a")
        let reference = try await attached(a, name: "a.jpg")
        let rename: BSONDocument = ["$set": ["photo.name": "b.jpg", "photo.contentType": "b/c"]]
        switch renaming {
        case .here: try await a.rooms.updateOne(["_id": 1], rename)
        case .hereAndThere:
            try await a.rooms.updateOne(["_id": 1], rename)
            try await a.engine.syncUntilQuiet()
        case .afterItLeft, .there:
            if renaming == .afterItLeft { try await a.rooms.desync(ids: [1]) }
            _ = try await inner.store.write {
                try $0.updateOne(
                    Self.namespace, filter: Filter(["_id": 1]), update: Update(rename))
            }
        }
        #expect(try await a.engine.attachments.transfer().sent == 1)
        #expect(try await state(of: reference, 1) == .complete)
        guard renaming != .afterItLeft else { return }
        #expect(try await a.rooms.file(reference, of: 1).bytes() == Self.content)
        try await a.engine.syncUntilQuiet()
        try await a.engine.attachments.transfer()
        let record = try #require(try a.engine.files.cache().record(reference.id))
        #expect(record.stage == .here && record.attachment.name == "b.jpg")
        // The rules judge the reference as it is in the document.
        let all =
            #"{"name": "all", "apply_when": {}, "document_filters": {"read": true, "write": true}, "read": true, "write": true}"#
        let rules = try RuleSet(
            files: ["app/rooms/rules.json": Array(#"{"roles": [\#(all)]}"#.utf8)])
        let other = InProcessRemote(store: inner.store, rules: rules, user: RuleUser(id: "ann"))
        let files = try #require(other.attachments)
        let place = AttachmentPlace(Self.namespace, documentID: 1, reference)
        #expect(try await files.state(of: place) == .complete)
        #expect(try await files.put([1], at: 0, of: place) == .complete)
    }

    // MARK: - Documents that left

    @Test("a remote that shows a file and does not take it lets the day end")
    func readOnly() async throws {
        let a = try device("a")
        let reference = try await attached(a)
        try await a.rooms.desync(ids: [1])
        remote.onPut.withLock { $0 = { _ in .unknown } }
        let cache = try a.engine.files.cache()
        #expect(try await a.engine.attachments.transfer().waiting == 1)
        let since = try #require(try cache.record(reference.id)?.unknownSince)
        for _ in 1...2 {
            #expect(try await a.engine.attachments.transfer().waiting == 1)
            #expect(try cache.record(reference.id)?.unknownSince == since)
        }
        try await endDay(of: reference, a)
        #expect(try await a.engine.attachments.transfer().isDone)
        #expect(try a.engine.attachments.usage() == (0, 0))
        #expect(try leftRows(a) == 0)
    }

    @Test("a piece that the remote takes begins the day again")
    func acceptedPiece() async throws {
        let a = try device("a")
        let size = AttachmentPieces.sizeMax
        let reference = try await attached(a, [UInt8](repeating: 6, count: 2 * size + 9))
        try await a.rooms.desync(ids: [1])
        remote.onPut.withLock { $0 = { offset in offset == 0 ? nil : .unknown } }
        try await endDay(of: reference, a)
        #expect(try await a.engine.attachments.transfer().waiting == 1)
        let record = try #require(try a.engine.files.cache().record(reference.id))
        #expect(record.stage == .toSend && (record.unknownSince?.milliseconds ?? 0) > 0)
        remote.onPut.withLock { $0 = nil }
        #expect(try await a.engine.attachments.transfer().sent == 1)
    }

    /// What is wrong with a file for good.
    enum Fault: CaseIterable {
        case refused, missingChunk, otherContent
    }

    @Test(
        "a file that cannot be sent goes a day after its document left", arguments: Fault.allCases)
    func failing(fault: Fault) async throws {
        let a = try device("a")
        let reference = try await attached(a)
        try await a.rooms.desync(ids: [1])
        switch fault {
        case .refused:
            remote.onPut.withLock {
                $0 = { _ in throw RemoteError(.rejected, "no") }
            }
        case .missingChunk: try await changeChunks { _ in nil }
        case .otherContent:
            try await changeChunks { [UInt8](repeating: 8, count: $0.count) }
        }
        let cache = try a.engine.files.cache()
        #expect(try await a.engine.attachments.transfer().failed == 1)
        let since = try #require(try cache.record(reference.id)?.unknownSince)
        #expect(try await a.engine.attachments.transfer().failed == 1)
        #expect(try cache.record(reference.id)?.unknownSince == since)
        try await endDay(of: reference, a)
        #expect(try await a.engine.attachments.transfer().isDone)
        #expect(try a.engine.attachments.usage() == (0, 0))
        #expect(try leftRows(a) == 0)
    }

    @Test("a file stays whose document comes back while the remote is asked")
    func returnsMeanwhile() async throws {
        let a = try device("a")
        let reference = try await attached(a)
        try await a.rooms.desync(ids: [1])
        try await endDay(of: reference, a)
        remote.onState.withLock {
            $0 = {
                try await a.rooms.sync(ids: [1])
                try await a.engine.syncUntilQuiet()
                return .unknown
            }
        }
        try await a.engine.attachments.transfer()
        remote.onState.withLock { $0 = nil }
        #expect(try a.engine.files.cache().record(reference.id)?.stage == .toSend)
        #expect(try await a.engine.attachments.transfer().sent == 1)
        #expect(try await a.rooms.file(reference, of: 1).bytes() == Self.content)
    }

    @Test("a delete by the app takes the files of a document that had left and come back")
    func deletedAfterReturn() async throws {
        let a = try device("a")
        try await attached(a)
        try await a.rooms.desync(ids: [1])
        try await a.rooms.sync(ids: [1])
        try await a.engine.syncUntilQuiet()
        try await a.rooms.deleteOne(["_id": 1])
        #expect(try leftRows(a) == 0)
        try await a.engine.syncUntilQuiet()
        let report = try await a.engine.attachments.transfer()
        #expect(report.sent == 0 && report.waiting == 0)
        #expect(try a.engine.attachments.usage() == (0, 0))
    }

    @Test("a round writes nothing for files that wait")
    func quietRounds() async throws {
        let a = try device("a")
        try await attached(a)
        try await a.rooms.desync(ids: [1])
        remote.onState.withLock { $0 = { .unknown } }
        for _ in 1...2 { try await a.engine.attachments.transfer() }
        let log = URL(filePath: scratch.path("a.stitch-attachments-wal"))
        let before = try Data(contentsOf: log)
        #expect(!before.isEmpty)
        #expect(try await a.engine.attachments.transfer().waiting == 1)
        #expect(try Data(contentsOf: log) == before)
    }

    // MARK: - Removal and loading

    @Test("a file is not evicted that changed since its record was read")
    func evictionsOfOthers() async throws {
        let cache = try device("a").engine.files.cache()
        let reference = BSONStore.Attachment(
            id: BSONObjectID(), sha256: repeatElement(0, count: 32), length: 500_000)
        let part = AttachmentRecord(
            attachment: reference, stage: .loading,
            owner: .init(namespace: Self.namespace, documentID: 1), bytes: 0)
        try await cache.save(part)
        let longer = try #require(
            try await cache.append([UInt8](repeating: 1, count: 261_120), to: part))
        #expect(try await !cache.evict(part))
        try await cache.change(reference.id) { $0.isWanted = true }
        #expect(try await !cache.evict(longer))
        #expect(try cache.record(reference.id)?.bytes == 261_120)
    }

    @Test("a file that is being removed is loaded when the app asks for it")
    func loadsWhatIsRemoved() async throws {
        let a = try device("a")
        let reference = try await attached(a)
        try await a.engine.attachments.transfer()
        let isRead = Locked(false)
        remote.onRead.withLock {
            $0 = {
                // No limit evicts it meanwhile.
                isRead.withLock { $0 = a.engine.files.isBeingRead(reference.id) }
            }
        }
        // As if another process evicted it now.
        try await a.engine.files.cache().change(reference.id) { $0.stage = .removing }
        let file = a.rooms.file(reference, of: 1)
        try await file.download()
        #expect(isRead.withLock { $0 })
        #expect(try await file.bytes() == Self.content)
        #expect(try file.state() == .here)
    }

    @Test("a file that is removed while it is sent does not count as one that is here")
    func removedWhileSent() async throws {
        let a = try device("a")
        let reference = try await attached(a)
        let cache = try a.engine.files.cache()
        remote.onPut.withLock {
            $0 = { (_: Int64) async throws in
                try await cache.change(reference.id) { $0.stage = .removing }
                return nil
            }
        }
        try await a.engine.attachments.transfer()
        #expect(try cache.record(reference.id)?.stage == .removing)
    }

    @Test("a document that leaves has the others looked at that refer to the same file")
    func sharedFiles() async throws {
        let a = try device("a")
        let reference = try await attached(a)
        try await a.rooms.insertOne(["_id": 2, "copy": reference.bsonValue])
        try await a.rooms.insertOne(["_id": 3, "copy": reference.bsonValue])
        try await a.engine.syncUntilQuiet()
        let b = try device("b")
        await b.rooms.configure(conflictHandler: .remoteWins, attachments: .withDocument)
        try await b.rooms.sync(ids: [1, 2, 3])
        try await b.engine.syncUntilQuiet()
        try await b.engine.attachments.transfer()
        #expect(b.engine.files.owners(of: reference).count == 3)
        try await b.rooms.desync(ids: [3])
        var wakes = b.engine.files.wakes.count
        try await b.engine.attachments.transfer()
        #expect(b.engine.files.wakes.count > wakes)
        #expect(b.engine.files.owners(of: reference).count == 2)
        try await b.rooms.desync(ids: [2])
        try await b.engine.attachments.transfer()
        #expect(b.engine.files.owners(of: reference).isEmpty)
        // The last one is not shared any more.
        wakes = b.engine.files.wakes.count
        try await b.engine.attachments.transfer()
        #expect(b.engine.files.wakes.count == wakes)
        try await a.engine.attachments.transfer()
        #expect(try await b.engine.attachments.transfer().loaded == 1)
    }

    @Test("run() reports the last failure of a file that was tried without it")
    func lastFailure() async throws {
        let a = try device("a")
        try await attached(a)
        for number in 1...5 {
            remote.onPut.withLock {
                $0 = { _ in throw RemoteError(.rejected, "no \(number)") }
            }
            #expect(try await a.engine.attachments.transfer().failed == 1)
        }
        var errors = a.engine.errors.makeAsyncIterator()
        await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await a.engine.run() }
            defer { group.cancelAll() }
            #expect(await errors.next()?.message.hasSuffix(": no 5") == true)
        }
    }

    // MARK: - Devices

    private struct Device {
        let store: DocumentStore
        let engine: SyncEngine
        var rooms: SyncCollection<BSONDocument> {
            engine.collection(AttachmentRaceTests.namespace)
        }
    }

    private func device(_ name: String) throws -> Device {
        let store = try DocumentStore(at: .file(scratch.path("\(name).stitch")))
        return Device(store: store, engine: try SyncEngine(store: store, remote: remote))
    }

    /// Attaches a file to document 1, and sends the document without it.
    @discardableResult
    private func attached(
        _ device: Device, _ content: [UInt8] = Self.content, name: String? = nil
    ) async throws -> BSONStore.Attachment {
        try await device.rooms.insertOne(["_id": 1])
        let reference = try await device.rooms.attach(content, to: 1, at: "photo", name: name)
        try await device.engine.syncUntilQuiet()
        return reference
    }

    /// As if a day had passed since the remote first did not take a file.
    private func endDay(of reference: BSONStore.Attachment, _ device: Device) async throws {
        try await device.engine.files.cache().change(reference.id) {
            $0.unknownSince = BSONDatetime(milliseconds: 0)
        }
    }

    /// Changes the bytes of the chunks on device a; removes those without.
    private func changeChunks(_ change: @escaping @Sendable ([UInt8]) -> [UInt8]?) async throws {
        let store = try DocumentStore(at: .file(scratch.path("a.stitch-attachments")))
        try await store.write { transaction in
            for chunk in try transaction.find(AttachmentCache.chunks) {
                guard case .binary(let data)? = chunk["data"] else { continue }
                if let bytes = change(data.bytes) {
                    _ = try transaction.put(
                        AttachmentCache.chunks,
                        ["_id": chunk.documentID, "data": .binary(BSONBinary(bytes))])
                } else {
                    _ = try transaction.remove(AttachmentCache.chunks, id: chunk.documentID)
                }
            }
        }
        store.close()
    }

    private func state(
        of reference: BSONStore.Attachment, _ id: BSONValue
    ) async throws -> RemoteAttachmentState {
        let files = try #require(inner.attachments)
        return try await files.state(
            of: AttachmentPlace(Self.namespace, documentID: id, reference))
    }

    private func leftRows(_ device: Device) throws -> Int64? {
        try device.store.read { try $0.connection.int64("SELECT count(*) FROM sync_left") }
    }
}
