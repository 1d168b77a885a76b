import BSONStore
import StitchRules
import Testing

@testable import StitchSync

/// A file that only one device has may not go with its document, which left the device without a delete.
@Suite("files of documents that left the device")
struct AttachmentsThatLeftTests {
    private static let namespace = Namespace("app", "rooms")
    private static let content = [UInt8](repeating: 5, count: 300_000)

    /// A way on which a document leaves the device.
    enum Way: CaseIterable {
        case subscription, desync, desyncWhileClosed, restart
    }

    private let scratch: ScratchDirectory
    private let remote: InProcessRemote

    init() throws {
        scratch = try ScratchDirectory()
        remote = try InProcessRemote(at: .inMemory)
    }

    @Test("a file is sent after its document left the device", arguments: Way.allCases)
    func sent(way: Way) async throws {
        var a = try await device(subscribes: way == .subscription)
        let reference = try await attached(a)
        switch way {
        case .subscription:
            _ = try await a.rooms.subscribe(to: ["n": 2], named: "room", waitForSync: .never)
            try await a.engine.syncUntilQuiet()
        case .desync, .restart: try await a.rooms.desync(ids: [1])
        case .desyncWhileClosed:
            // The app does not use files before the document leaves.
            a = try await restarted(a)
            try await a.rooms.desync(ids: [1])
        }
        if way == .restart { a = try await restarted(a) }
        #expect(try a.rooms.findOne(id: 1) == nil)
        #expect(try a.engine.attachments.hasUnsent())
        #expect(try a.rooms.file(reference, of: 1).state() == .sending(0))
        let report = try await a.engine.attachments.transfer()
        #expect(report.sent == 1 && report.isDone)
        #expect(try await state(of: reference) == .complete)
        // The content is at the remote now, and no document here refers to it.
        #expect(try a.engine.attachments.usage() == (0, 0))
        #expect(try leftRows(a) == 0)
    }

    @Test("a content that waits for a document which then leaves is sent, too")
    func stored() async throws {
        let a = try await device(subscribes: false)
        let reference = try await a.rooms.store(Self.content)
        try await a.rooms.insertOne(["_id": 1, "photo": reference.bsonValue])
        try await a.engine.syncUntilQuiet()
        try await a.rooms.desync(ids: [1])
        #expect(try await a.engine.attachments.transfer().sent == 1)
        #expect(try await state(of: reference) == .complete)
    }

    @Test("a document that comes back keeps its file")
    func returns() async throws {
        let a = try await device(subscribes: false)
        let reference = try await attached(a)
        try await a.rooms.desync(ids: [1])
        try await a.rooms.sync(ids: [1])
        try await a.engine.syncUntilQuiet()
        #expect(try await a.engine.attachments.transfer().sent == 1)
        #expect(try leftRows(a) == 0)
        #expect(try a.rooms.file(reference, of: 1).state() == .here)
        // A delete takes the file with it.
        try await a.rooms.desync(ids: [1])
        try await a.rooms.sync(ids: [1])
        try await a.engine.syncUntilQuiet()
        try await a.rooms.deleteOne(["_id": 1])
        try await a.engine.syncUntilQuiet()
        try await a.engine.attachments.transfer()
        #expect(try a.engine.attachments.usage() == (0, 0))
    }

    @Test("a change that is given up takes its file with it")
    func givenUp() async throws {
        let a = try await device(subscribes: false)
        try await a.rooms.insertOne(["_id": 1])
        try await a.engine.syncUntilQuiet()
        try await a.rooms.attach(Self.content, to: 1, at: "photo")
        try await a.rooms.desync(ids: [1])
        try await a.engine.attachments.transfer()
        #expect(try a.engine.attachments.usage() == (0, 0))
        #expect(try !a.engine.attachments.hasUnsent())
    }

    @Test("a file whose reference moved to another document is sent with that one")
    func moved() async throws {
        var a = try await device(subscribes: false)
        try await a.rooms.insertOne(["_id": 1])
        let reference = try await a.rooms.attach(Self.content, to: 1, at: "photo")
        try await a.engine.attachments.transfer()
        try await a.rooms.insertOne(["_id": 2, "photo": reference.bsonValue])
        try await a.rooms.deleteOne(["_id": 1])
        a = try await restarted(a)
        try await a.engine.attachments.transfer()
        #expect(try a.rooms.file(reference, of: 2).state() == .sending(0))
        try await a.engine.syncUntilQuiet()
        #expect(try await a.engine.attachments.transfer().sent == 1)
        let files = try #require(remote.attachments)
        let place = AttachmentPlace(Self.namespace, documentID: 2, reference)
        #expect(try await files.state(of: place) == .complete)
        // Without any reference it goes.
        try await a.rooms.insertOne(["_id": 3])
        try await a.rooms.attach(Self.content, to: 3, at: "photo")
        try await a.rooms.deleteMany([:])
        try await a.engine.syncUntilQuiet()
        try await a.engine.attachments.transfer()
        #expect(try a.engine.attachments.usage() == (0, 0))
    }

    @Test("a file whose reference moved to a document that then left is sent, too")
    func movedAndLeft() async throws {
        let a = try await device(subscribes: false)
        try await a.rooms.insertOne(["_id": 1])
        let reference = try await a.rooms.attach(Self.content, to: 1, at: "photo")
        try await a.engine.attachments.transfer()
        try await a.rooms.insertOne(["_id": 2, "photo": reference.bsonValue])
        try await a.rooms.deleteOne(["_id": 1])
        try await a.engine.syncUntilQuiet()
        try await a.rooms.desync(ids: [2])
        #expect(try await a.engine.attachments.transfer().sent == 1)
        let files = try #require(remote.attachments)
        let place = AttachmentPlace(Self.namespace, documentID: 2, reference)
        #expect(try await files.state(of: place) == .complete)
    }

    @Test("of two documents that left, the file is sent with the one it was attached to")
    func bothLeft() async throws {
        let a = try await device(subscribes: false)
        try await a.rooms.insertOne(["_id": 1])
        let reference = try await a.rooms.attach(Self.content, to: 1, at: "photo")
        try await a.engine.attachments.transfer()
        try await a.rooms.insertOne(["_id": 2, "photo": reference.bsonValue])
        try await a.engine.syncUntilQuiet()
        try await a.rooms.desync(ids: [1, 2])
        #expect(try await a.engine.attachments.transfer().sent >= 1)
        #expect(try await state(of: reference) == .complete)
    }

    @Test(
        "a file of a rejected write stays until the write is retried or discarded",
        arguments: [true, false])
    func rejected(isRetried: Bool) async throws {
        let open = #"[{"name": "all", "apply_when": {}, "read": true, "write": true}]"#
        let closed = #"[{"name": "all", "apply_when": {}, "read": true, "write": false}]"#
        func rules(_ roles: String) throws -> RuleSet {
            let text = #"{"database": "app", "collection": "rooms", "roles": \#(roles)}"#
            return try RuleSet(files: [
                "data_sources/mongodb-atlas/app/rooms/rules.json": Array(text.utf8)
            ])
        }
        let user = RuleUser(id: "ann")
        let remote = InProcessRemote(
            store: try DocumentStore(
                at: .inMemory, options: .init(changeHistory: .keep(changesMax: 1_000))),
            rules: try rules(open), user: user)
        let store = try DocumentStore(at: .file(scratch.path("r.stitch")))
        let a = Device(store: store, engine: try SyncEngine(store: store, remote: remote))
        try await a.rooms.insertOne(["_id": 1])
        try await a.engine.syncUntilQuiet()
        remote.use(try rules(closed), for: user)
        let reference = try await a.rooms.attach(Self.content, to: 1, at: "photo")
        try await a.engine.attachments.transfer()
        try await a.engine.syncUntilQuiet()
        let rejected = try #require(try await a.rooms.rejectedWrites.all().first)
        #expect(try a.rooms.findOne(id: 1) == ["_id": 1])
        try await a.engine.attachments.transfer()
        #expect(try a.engine.attachments.usage().bytes > 0)
        // Nobody waits for it.
        #expect(a.engine.files.isKept(reference.id))
        try await a.engine.waitForUploadWithFiles(timeout: .seconds(60))
        #expect(try a.engine.files.cache().record(reference.id)?.stage == .toSend)
        remote.use(try rules(open), for: user)
        if isRetried {
            #expect(try await a.rooms.rejectedWrites.retry(rejected.id))
            try await a.engine.syncUntilQuiet()
            #expect(try await a.engine.attachments.transfer().sent == 1)
            let files = try #require(remote.attachments)
            let place = AttachmentPlace(Self.namespace, documentID: 1, reference)
            #expect(try await files.state(of: place) == .complete)
        } else {
            #expect(try await a.rooms.rejectedWrites.discard(rejected.id))
            try await a.engine.attachments.transfer()
            #expect(try a.engine.attachments.usage() == (0, 0))
        }
    }

    @Test("a file that the remote does not know any more goes after a day")
    func unknown() async throws {
        let a = try await device(subscribes: false)
        let reference = try await attached(a)
        try await a.rooms.desync(ids: [1])
        try await remote.store.write { _ = try $0.remove(Self.namespace, id: 1) }
        for _ in 1...2 {
            #expect(try await a.engine.attachments.transfer().waiting == 1)
            #expect(try a.engine.attachments.hasUnsent())
        }
        try await a.engine.files.cache().change(reference.id) { record in
            #expect(record.unknownSince != nil)
            record.unknownSince = BSONDatetime(milliseconds: 0)
        }
        #expect(try await a.engine.attachments.transfer().isDone)
        #expect(try a.engine.attachments.usage() == (0, 0))
        #expect(try leftRows(a) == 0)
    }

    // MARK: - Devices

    private struct Device {
        let store: DocumentStore
        let engine: SyncEngine
        var rooms: SyncCollection<BSONDocument> {
            engine.collection(AttachmentsThatLeftTests.namespace)
        }
    }

    private func device(subscribes: Bool) async throws -> Device {
        if subscribes {
            try await remote.store.write { transaction in
                try transaction.insert(Self.namespace, ["_id": 1, "n": 1])
            }
        }
        let device = try open()
        if subscribes {
            _ = try await device.rooms.subscribe(
                to: ["n": 1], named: "room", waitForSync: .never)
            try await device.engine.syncUntilQuiet()
        }
        return device
    }

    /// Attaches a file, and sends the document without it.
    private func attached(_ device: Device) async throws -> BSONStore.Attachment {
        if try device.rooms.findOne(id: 1) == nil {
            try await device.rooms.insertOne(["_id": 1, "n": 1])
        }
        let reference = try await device.rooms.attach(Self.content, to: 1, at: "photo")
        try await device.engine.syncUntilQuiet()
        return reference
    }

    private func open() throws -> Device {
        let store = try DocumentStore(at: .file(scratch.path("a.stitch")))
        return Device(store: store, engine: try SyncEngine(store: store, remote: remote))
    }

    private func restarted(_ device: Device) async throws -> Device {
        await device.engine.close()
        device.store.close()
        return try open()
    }

    private func state(
        of reference: BSONStore.Attachment
    ) async throws -> RemoteAttachmentState {
        let files = try #require(remote.attachments)
        return try await files.state(
            of: AttachmentPlace(Self.namespace, documentID: 1, reference))
    }

    private func leftRows(_ device: Device) throws -> Int64? {
        try device.store.read { try $0.connection.int64("SELECT count(*) FROM sync_left") }
    }
}
