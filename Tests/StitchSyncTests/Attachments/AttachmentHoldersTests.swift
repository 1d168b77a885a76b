import BSONStore
import StitchRules
import Testing

@testable import StitchSync

/// A file that only one device has would be lost if one of those that may refer to it were forgotten.
@Suite("what holds a file that is here only", .timeLimit(.minutes(5)))
struct AttachmentHoldersTests {
    private static let namespace = Namespace("app", "rooms")
    private static let content = [UInt8](repeating: 5, count: 300_000)
    private static let user = RuleUser(id: "ann")

    private let scratch: ScratchDirectory
    private let remote: InProcessRemote

    init() throws {
        scratch = try ScratchDirectory()
        remote = InProcessRemote(
            store: try DocumentStore(
                at: .inMemory, options: .init(changeHistory: .keep(changesMax: 1_000))),
            rules: try Self.rules(writes: true), user: Self.user)
    }

    // MARK: - Rejected writes

    @Test("a file of a rejected write goes with a document that got the reference and left")
    func rejectedAndLeft() async throws {
        let a = try device()
        let reference = try await rejected(a)
        try await a.engine.attachments.transfer()
        #expect(a.engine.files.isKept(reference.id))
        try allowWrites(true)
        try await a.rooms.insertOne(["_id": 2, "photo": reference.bsonValue])
        try await a.engine.syncUntilQuiet()
        try await a.rooms.desync(ids: [2])
        #expect(try await a.engine.attachments.transfer().sent == 1)
        #expect(try await state(of: reference, 2) == .complete)
        #expect(try leftRows(a) == 0)
    }

    @Test("the file of a refused insert stays for its rejected write, although the id is requested")
    func requestedID() async throws {
        let a = try device()
        let reference = try await refusedInsert(a)
        try await a.engine.attachments.transfer()
        #expect(a.engine.files.isKept(reference.id))
        try await a.engine.waitForUploadWithFiles(timeout: .seconds(30))
        try await a.rooms.rejectedWrites.discardAll()
        try await a.engine.attachments.transfer()
        #expect(try a.engine.attachments.usage() == (0, 0))
        #expect(try !a.engine.attachments.hasUnsent())
    }

    @Test("a file waits for a document that is fetched again, until its id is not synced any more")
    func fetchedAgain() async throws {
        let a = try device()
        let reference = try await refusedInsert(a)
        try await a.engine.write(Self.namespace) { sync in
            try sync.markStale(try #require(try sync.record(1)))
        }
        try await a.rooms.rejectedWrites.discardAll()
        try await a.engine.attachments.transfer()
        #expect(try a.engine.files.cache().record(reference.id)?.stage == .toSend)
        try await a.rooms.desync(ids: [1])
        try await a.engine.attachments.transfer()
        #expect(try a.engine.attachments.usage() == (0, 0))
    }

    @Test("a file stays for its rejected write after the fetch that follows the app's answer")
    func askedAndReverted() async throws {
        let a = try device()
        await a.rooms.configure(
            conflictHandler: .remoteWins, rejectionPolicy: .ask { _ in .revert })
        _ = try await a.rooms.subscribe(to: ["n": 1], named: "room", waitForSync: .never)
        try await a.engine.syncUntilQuiet()
        try allowWrites(false)
        try await a.rooms.insertOne(["_id": 1, "n": 1])
        let reference = try await a.rooms.attach(Self.content, to: 1, at: "photo")
        var passes = 0
        while try a.rooms.findOne(id: 1) != nil, passes < 20 {
            try await a.engine.syncNow()
            try await a.engine.attachments.transfer()
            passes += 1
        }
        try await a.engine.syncUntilQuiet()
        try await a.engine.attachments.transfer()
        #expect(try await a.rooms.rejectedWrites.all().count == 1)
        #expect(a.engine.files.isKept(reference.id))
        try await a.engine.waitForUploadWithFiles(timeout: .seconds(30))
    }

    // MARK: - Documents that left

    @Test("a file goes with a document that left, once its own one does not refer to it any more")
    func leftWithCopy() async throws {
        let a = try device()
        let reference = try await shared(a)
        try await a.rooms.desync(ids: [2])
        #expect(try await a.engine.files.runRound(carrying: { _ in false }).heldBack == 1)
        #expect(try leftRows(a) == 1)
        try await a.rooms.updateOne(["_id": 1], ["$unset": ["photo": ""]])
        try await a.engine.syncUntilQuiet()
        #expect(try await a.engine.attachments.transfer().sent == 1)
        #expect(try await state(of: reference, 2) == .complete)
        #expect(try leftRows(a) == 0)
        #expect(try a.engine.attachments.usage() == (0, 0))
    }

    @Test("a file that goes with its own document leaves no other one to wait for it")
    func sentWithOwn() async throws {
        let a = try device()
        let reference = try await shared(a)
        try await a.rooms.desync(ids: [2])
        #expect(try await a.engine.attachments.transfer().sent == 1)
        #expect(try await state(of: reference, 1) == .complete)
        #expect(try leftRows(a) == 0)
    }

    @Test("a file that the remote does not take with a document that left goes with another one")
    func givenUp() async throws {
        let a = try device()
        let reference = try await shared(a)
        try await a.rooms.desync(ids: [1])
        try await remote.store.write { _ = try $0.remove(Self.namespace, id: 1) }
        #expect(try await a.engine.attachments.transfer().waiting == 1)
        try await a.engine.files.cache().change(reference.id) { record in
            #expect(record.unknownSince != nil)
            record.unknownSince = BSONDatetime(milliseconds: 0)
        }
        try await a.engine.attachments.transfer()
        #expect(try await a.engine.attachments.transfer().sent == 1)
        #expect(try await state(of: reference, 2) == .complete)
        #expect(try a.rooms.file(reference, of: 2).state() == .here)
        #expect(try leftRows(a) == 0)
    }

    @Test("a file that a round left for the next one goes with a document that came and left since")
    func betweenRounds() async throws {
        let a = try device()
        let reference = try await attached(a)
        let other = BSONStore.Attachment(
            id: BSONObjectID(), sha256: repeatElement(0, count: 32), length: 1)
        try await a.rooms.insertOne(["_id": 8, "photo": other.bsonValue])
        try await a.rooms.updateOne(["_id": 1], ["$unset": ["photo": ""]])
        try await a.engine.syncUntilQuiet()
        // The app writes in the middle of the round.
        let isFirst = Locked(true)
        await a.rooms.configure(
            conflictHandler: .remoteWins,
            attachments: .when { _ in
                let writes = isFirst.withLock { isFirst in
                    defer { isFirst = false }
                    return isFirst
                }
                guard writes else { return false }
                do {
                    try await a.rooms.insertOne(["_id": 9])
                } catch {
                    Issue.record(error)
                }
                return false
            })
        try await a.engine.attachments.transfer()
        #expect(isFirst.withLock { !$0 })
        #expect(try a.engine.files.cache().record(reference.id)?.stage == .toSend)
        try await a.rooms.insertOne(["_id": 2, "photo": reference.bsonValue])
        try await a.engine.syncUntilQuiet()
        try await a.rooms.desync(ids: [2])
        #expect(try await a.engine.attachments.transfer().sent == 1)
        #expect(try await state(of: reference, 2) == .complete)
    }

    @Test("a change that is given up keeps its file while the remote may still apply it")
    func unresolved() async throws {
        let a = try device()
        try await a.rooms.insertOne(["_id": 1])
        let reference = try await a.rooms.attach(Self.content, to: 1, at: "photo")
        // As after an upload without an answer, of which no evidence was found.
        try await a.engine.write(Self.namespace) { sync in
            var record = try #require(try sync.record(1))
            let attempt = Attempt(
                operation: OperationID(instance: 1, sequence: 1),
                intended: .sameAsLocal, version: .absent, token: nil)
            let local = try sync.local(1)
            record.addUnresolved([UnresolvedAttempt(attempt, base: nil, local: local)])
            try sync.save(record)
        }
        let document = try #require(try a.rooms.findOne(id: 1))
        try await a.rooms.desync(ids: [1])
        #expect(try await a.engine.attachments.transfer().waiting == 1)
        // The upload arrives.
        _ = try await remote.store.write { try $0.put(Self.namespace, document) }
        #expect(try await a.engine.attachments.transfer().sent == 1)
        #expect(try await state(of: reference, 1) == .complete)
    }

    // MARK: - Pending changes

    /// A change that takes a reference out.
    enum Removal: CaseIterable {
        case unset, delete

        fileprivate func run(_ rooms: SyncCollection<BSONDocument>) async throws {
            switch self {
            case .unset: try await rooms.updateOne(["_id": 1], ["$unset": ["photo": ""]])
            case .delete: try await rooms.deleteOne(["_id": 1])
            }
        }
    }

    @Test(
        "a file stays until the remote has the change that takes it out",
        arguments: Removal.allCases)
    func pendingRemoval(removal: Removal) async throws {
        let a = try device()
        let reference = try await attached(a)
        try await removal.run(a.rooms)
        try await a.engine.attachments.transfer()
        #expect(a.engine.files.isKept(reference.id))
        try await a.engine.syncUntilQuiet()
        try await a.engine.attachments.transfer()
        #expect(try a.engine.attachments.usage() == (0, 0))
        #expect(!a.engine.files.isKept(reference.id))
    }

    @Test("a document whose change is refused has its file again", arguments: Removal.allCases)
    func refusedRemoval(removal: Removal) async throws {
        let a = try device()
        let reference = try await attached(a)
        try allowWrites(false)
        try await removal.run(a.rooms)
        try await a.engine.attachments.transfer()
        try await a.engine.syncUntilQuiet()
        #expect(try a.rooms.findOne(id: 1)?["photo"] == reference.bsonValue)
        try allowWrites(true)
        #expect(try await a.engine.attachments.transfer().sent == 1)
        #expect(try await state(of: reference, 1) == .complete)
    }

    // MARK: - Devices

    private struct Device {
        let store: DocumentStore
        let engine: SyncEngine
        var rooms: SyncCollection<BSONDocument> {
            engine.collection(AttachmentHoldersTests.namespace)
        }
    }

    private func device() throws -> Device {
        let store = try DocumentStore(at: .file(scratch.path("a.stitch")))
        return Device(store: store, engine: try SyncEngine(store: store, remote: remote))
    }

    private static func rules(writes: Bool) throws -> RuleSet {
        let role = #"{"name": "all", "apply_when": {}, "read": true, "write": \#(writes)}"#
        let text = #"{"database": "app", "collection": "rooms", "roles": [\#(role)]}"#
        return try RuleSet(files: [
            "data_sources/mongodb-atlas/app/rooms/rules.json": Array(text.utf8)
        ])
    }

    private func allowWrites(_ writes: Bool) throws {
        remote.use(try Self.rules(writes: writes), for: Self.user)
    }

    /// Attaches a file, and sends the document without it.
    private func attached(_ device: Device) async throws -> BSONStore.Attachment {
        try await device.rooms.insertOne(["_id": 1])
        let reference = try await device.rooms.attach(Self.content, to: 1, at: "photo")
        try await device.engine.syncUntilQuiet()
        return reference
    }

    /// Makes two documents with the same reference, and sends them without the file.
    private func shared(_ device: Device) async throws -> BSONStore.Attachment {
        let reference = try await attached(device)
        _ = try await device.engine.files.runRound(carrying: { _ in false })
        try await device.rooms.insertOne(["_id": 2, "photo": reference.bsonValue])
        try await device.engine.syncUntilQuiet()
        return reference
    }

    /// Attaches a file to a document that the remote has, which the remote refuses.
    private func rejected(_ device: Device) async throws -> BSONStore.Attachment {
        try await device.rooms.insertOne(["_id": 1])
        try await device.engine.syncUntilQuiet()
        try allowWrites(false)
        let reference = try await device.rooms.attach(Self.content, to: 1, at: "photo")
        try await device.engine.attachments.transfer()
        try await device.engine.syncUntilQuiet()
        #expect(try await device.rooms.rejectedWrites.all().count == 1)
        return reference
    }

    /// Inserts a document with a file under an id that the app requests, which the remote refuses.
    private func refusedInsert(_ device: Device) async throws -> BSONStore.Attachment {
        try allowWrites(false)
        try await device.rooms.insertOne(["_id": 1])
        try await device.rooms.sync(ids: [1])
        let reference = try await device.rooms.attach(Self.content, to: 1, at: "photo")
        try await device.engine.syncUntilQuiet()
        #expect(try await device.rooms.rejectedWrites.all().count == 1)
        #expect(try device.rooms.findOne(id: 1) == nil)
        return reference
    }

    private func state(
        of reference: BSONStore.Attachment, _ id: BSONValue
    ) async throws -> RemoteAttachmentState {
        let files = try #require(remote.attachments)
        return try await files.state(
            of: AttachmentPlace(Self.namespace, documentID: id, reference))
    }

    private func leftRows(_ device: Device) throws -> Int64? {
        try device.store.read { try $0.connection.int64("SELECT count(*) FROM sync_left") }
    }
}
