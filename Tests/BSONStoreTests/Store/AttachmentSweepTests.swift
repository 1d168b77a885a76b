import BSONStore
import Testing

/// A file that nobody can reach fills the disk, and one that is removed too early is lost.
@Suite struct AttachmentSweepTests {
    private static let todos = Namespace("app", "todos")
    private static let bucket = AttachmentBucket(database: "app")
    private static let start = BSONDatetime(milliseconds: 1_000_000_000_000)

    private static func later(_ milliseconds: Int64) -> BSONDatetime {
        BSONDatetime(milliseconds: start.milliseconds + milliseconds)
    }

    private static func counts(
        marked: Int = 0, unmarked: Int = 0, files: Int = 0, chunks: Int = 0
    ) -> AttachmentSweep<StoredAttachments>.Counts {
        var counts = AttachmentSweep<StoredAttachments>.Counts()
        (counts.marked, counts.unmarked) = (marked, unmarked)
        (counts.removedFiles, counts.removedChunks) = (files, chunks)
        return counts
    }

    @Test func `a file is removed an hour after the last reference`() throws {
        let store = try DocumentStore(at: .inMemory)
        let bytes = [UInt8](repeating: 1, count: AttachmentBucket.chunkSize + 1)
        let photo = BSONStore.Attachment(
            id: BSONObjectID(), sha256: SHA256.hash(bytes), length: Int64(bytes.count))
        let place = AttachmentPlace(Self.todos, documentID: 1, photo)
        let document: BSONDocument = ["_id": 1, "photo": photo.bsonValue]
        try store.write { transaction in
            try transaction.insert(Self.todos, document)
            _ = try Self.bucket.put(bytes, at: 0, of: place, in: transaction)
            try transaction.insert(Self.bucket.files, ["_id": "of another program"])
        }
        let files = StoredAttachments(store)
        #expect(try files.sweep(now: Self.start) == Self.counts())
        try store.write { try $0.remove(Self.todos, id: 1) }
        #expect(try files.sweep(now: Self.start) == Self.counts(marked: 1))
        #expect(try files.sweep(now: Self.later(3_599_999)) == Self.counts())
        try store.write { try $0.insert(Self.todos, document) }
        #expect(try files.sweep(now: Self.later(3_600_000)) == Self.counts(unmarked: 1))
        try store.write { try $0.put(Self.todos, ["_id": 1]) }
        #expect(try files.sweep(now: Self.start) == Self.counts(marked: 1))
        #expect(
            try files.sweep(now: Self.later(3_600_000)) == Self.counts(files: 1, chunks: 2))
        #expect(try files.sweep(now: Self.later(3_600_000)) == Self.counts())
        #expect(try store.read { try $0.find(Self.bucket.files).count } == 1)
    }

    @Test func `the chunks of an upload are removed a day after the last one`() throws {
        let store = try DocumentStore(at: .inMemory)
        let bytes = [UInt8](repeating: 1, count: AttachmentBucket.chunkSize)
        let photo = BSONStore.Attachment(
            id: BSONObjectID(), sha256: SHA256.hash(bytes), length: Int64(bytes.count + 1))
        let place = AttachmentPlace(Self.todos, documentID: 1, photo)
        try store.write { transaction in
            _ = try Self.bucket.put(bytes, at: 0, of: place, in: transaction)
        }
        let files = StoredAttachments(store)
        let now = BSONDatetime.now.milliseconds
        #expect(try files.sweep(now: BSONDatetime(milliseconds: now)) == Self.counts())
        #expect(
            try files.sweep(now: BSONDatetime(milliseconds: now + 86_460_000))
                == Self.counts(chunks: 1))
    }

    /// Where an upload completes while the sweep runs: the number of steps that the sweep makes before
    /// the upload reads the chunks, and before it stores the file's document.
    private struct Turn: CustomTestStringConvertible {
        let check: Int
        let insertion: Int
        /// Whether nothing happens between the two halves of the end of an upload, as in a store.
        var isAtomic: Bool { check == insertion }
        var testDescription: String { "checks at \(check), completes at \(insertion)" }
    }

    private static let turns = (0..<16).flatMap { check in
        (check..<16).map { Turn(check: check, insertion: $0) }
    }

    @Test(arguments: turns)
    private func `an upload that completes during the sweep loses no chunk`(turn: Turn) throws {
        for quarantineMS in [Int64(0), 3_600_000] where quarantineMS > 0 || turn.isAtomic {
            let world = try SweptWorld(uploaded: 2)
            // The last piece is sent once more, as after a lost answer: no chunk is young.
            try world.sweep(quarantineMS: quarantineMS, days: 2) { step in
                if step == turn.check { try world.checkUpload() }
                if step == turn.insertion { try world.completeUpload() }
            }
            try world.expectWholeOrNothing()
            try world.expectUploadable()
        }
    }

    @Test(arguments: 0..<16)
    func `a piece that is added during the sweep ends it, or is sent again`(turn: Int) throws {
        let world = try SweptWorld(uploaded: 1)
        try world.sweep(quarantineMS: 3_600_000, days: 2) { step in
            if step == turn {
                try world.checkUpload()
                try world.put()
            }
            if step == turn + 1 { try world.completeUpload() }
        }
        try world.expectWholeOrNothing()
        try world.expectUploadable()
    }

    @Test(arguments: 0..<16)
    func `a reference that comes back during the sweep keeps the file or sends it`(
        turn: Int
    ) throws {
        for quarantineMS in [Int64(0), 3_600_000] {
            let world = try SweptWorld(uploaded: 2)
            try world.checkUpload()
            try world.completeUpload()
            try world.refer(false)
            try world.sweep(quarantineMS: quarantineMS, days: 0) { _ in }
            var isTrusted = false
            try world.sweep(quarantineMS: quarantineMS, days: 1) { step in
                guard step == turn else { return }
                try world.refer(true)
                // The device that has the content asks whether it has to send it.
                isTrusted = try world.state() == .complete
            }
            if isTrusted { #expect(try world.state() == .complete) }
            try world.expectWholeOrNothing()
            try world.expectUploadable()
        }
    }
}

/// A file of two chunks that is swept step by step, as by a gateway.
private final class SweptWorld {
    private static let todos = Namespace("app", "todos")
    private static let bucket = AttachmentBucket(database: "app")
    private let store: DocumentStore
    private let place: AttachmentPlace
    private let bytes = [UInt8](repeating: 1, count: AttachmentBucket.chunkSize + 1)
    private var isProven = false
    private let now = BSONDatetime.now.milliseconds

    init(uploaded: Int) throws {
        store = try DocumentStore(at: .inMemory)
        let photo = BSONStore.Attachment(
            id: BSONObjectID(), sha256: SHA256.hash(bytes), length: Int64(bytes.count))
        place = AttachmentPlace(Self.todos, documentID: 1, photo)
        try refer(true)
        try store.write { transaction in
            for chunk in (AttachmentChunks(bytes, at: 0, of: place, in: fileID)?.documents ?? [])
                .prefix(uploaded)
            {
                try transaction.insert(Self.bucket.chunks, chunk)
            }
        }
    }

    private var fileID: BSONValue { AttachmentSpot.usualID(of: place) }

    func refer(_ isReferred: Bool) throws {
        try store.write {
            try $0.put(
                Self.todos,
                isReferred ? ["_id": 1, "photo": place.attachment.bsonValue] : ["_id": 1])
        }
    }

    func state() throws -> AttachmentBucket.State {
        try store.read { try Self.bucket.state(of: place, in: $0) }
    }

    /// Runs a sweep, with a body before each of its steps.
    func sweep(
        quarantineMS: Int64, days: Int64, _ body: @escaping (Int) throws -> Void
    ) throws {
        let time = BSONDatetime(milliseconds: now + days * 86_460_000)
        let steps = Steps(body)
        var counts = 0
        if quarantineMS == 0 {
            var found = AttachmentSweep<SteppedStore>.Counts()
            try AttachmentSweep(
                Self.bucket, at: SteppedStore(store: .init(store), steps: steps), now: time
            ).run(&found)
            counts = found.removedChunks
        } else {
            var found = AttachmentSweep<SteppedUpstream>.Counts()
            try AttachmentSweep(
                Self.bucket,
                at: SteppedUpstream(place: SteppedStore(store: .init(store), steps: steps)),
                now: time
            ).run(&found)
            counts = found.removedChunks
        }
        #expect(counts <= 2)
    }

    /// Reads the chunks, as an upload does before its end.
    func checkUpload() throws {
        guard case .partial = try state() else { return }
        isProven = try chunkNumbers() == [0, 1] || chunkNumbers() == [0]
    }

    /// Stores the second chunk, if the first one was seen.
    func put() throws {
        let chunks = AttachmentChunks(bytes, at: 0, of: place, in: fileID)
        guard isProven, let chunk = chunks?.documents.last else { return }
        isProven = false
        guard try chunkNumbers() == [0] else { return }
        try store.write { try $0.insert(Self.bucket.chunks, chunk) }
        isProven = try chunkNumbers() == [0, 1]
    }

    /// Stores the file's document, as an upload does at its end.
    func completeUpload() throws {
        guard isProven else { return }
        try store.write { transaction in
            guard try transaction.get(Self.bucket.files, id: fileID) == nil else { return }
            try transaction.insert(Self.bucket.files, AttachmentBucket.file(place, id: fileID))
        }
    }

    func expectWholeOrNothing() throws {
        guard try state() == .complete else { return }
        #expect(try chunkNumbers() == [0, 1])
    }

    /// Expects that the file can be sent after later sweeps.
    func expectUploadable() throws {
        for day in [3, 4] as [Int64] { try sweep(quarantineMS: 3_600_000, days: day) { _ in } }
        for _ in 0..<3 where try state() != .complete {
            guard case .partial(let offset) = try state() else { break }
            try store.write {
                _ = try Self.bucket.put(
                    Array(bytes[Int(offset)...]), at: offset, of: place, in: $0)
            }
        }
        #expect(try state() == .complete)
        #expect(try chunkNumbers() == [0, 1])
    }

    private func chunkNumbers() throws -> [Int64] {
        try store.read { try $0.find(Self.bucket.chunks) }.compactMap { $0["n"]?.int64Value }
            .sorted()
    }
}

/// The number of steps of a sweep, each with a body before it.
private final class Steps {
    private var count = 0
    private let body: (Int) throws -> Void

    init(_ body: @escaping (Int) throws -> Void) { self.body = body }

    func step() throws {
        count += 1
        try body(count - 1)
    }
}

/// A store whose steps others interrupt.
private struct SteppedStore: AttachmentSweepPlace {
    static let quarantineMS = StoredAttachments.quarantineMS
    let store: StoredAttachments
    let steps: Steps

    func find(
        _ namespace: Namespace, _ filter: BSONDocument, sort: BSONDocument, limit: Int
    ) throws -> [BSONDocument] {
        try steps.step()
        return try store.find(namespace, filter, sort: sort, limit: limit)
    }

    func insert(_ namespace: Namespace, _ document: BSONDocument) throws -> Bool {
        try steps.step()
        return try store.insert(namespace, document)
    }

    func update(
        _ namespace: Namespace, _ filter: BSONDocument, _ update: BSONDocument
    ) throws -> Bool {
        try steps.step()
        return try store.update(namespace, filter, update)
    }

    func remove(_ namespace: Namespace, _ filter: BSONDocument) throws {
        try steps.step()
        try store.remove(namespace, filter)
    }

    func removeChunks(
        of file: BSONValue, in bucket: AttachmentBucket, during removal: BSONDocument
    ) throws -> Int {
        try steps.step()
        return try store.removeChunks(of: file, in: bucket, during: removal)
    }
}

/// A place without transactions, as a gateway's upstream is.
private struct SteppedUpstream: AttachmentSweepPlace {
    static let quarantineMS = AttachmentSweepLimits.quarantineMS
    let place: SteppedStore

    func find(
        _ namespace: Namespace, _ filter: BSONDocument, sort: BSONDocument, limit: Int
    ) throws -> [BSONDocument] {
        try place.find(namespace, filter, sort: sort, limit: limit)
    }

    func insert(_ namespace: Namespace, _ document: BSONDocument) throws -> Bool {
        try place.insert(namespace, document)
    }

    func update(
        _ namespace: Namespace, _ filter: BSONDocument, _ update: BSONDocument
    ) throws -> Bool {
        try place.update(namespace, filter, update)
    }

    func remove(_ namespace: Namespace, _ filter: BSONDocument) throws {
        try place.remove(namespace, filter)
    }

    func removeChunks(
        of file: BSONValue, in bucket: AttachmentBucket, during removal: BSONDocument
    ) throws -> Int {
        let chunks = try find(bucket.chunks, ["files_id": file], sort: ["n": 1], limit: 1)
        for chunk in chunks { try remove(bucket.chunks, ["_id": chunk["_id"] ?? .null]) }
        return chunks.count
    }
}
