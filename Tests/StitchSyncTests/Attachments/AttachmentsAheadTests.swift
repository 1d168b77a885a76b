import BSONStore
import Testing

@testable import StitchSync

/// Pieces of a file are under way at once, and neither their order nor a cut may damage the file.
@Suite("pieces of files ahead", .timeLimit(.minutes(30)))
struct AttachmentsAheadTests {
    private static let namespace = Namespace("app", "films")
    private static let size = AttachmentPieces.sizeMax
    private static let content = (0..<(5 * size + 7)).map { UInt8(truncatingIfNeeded: $0 / 3) }

    private let scratch: ScratchDirectory
    private let inner: InProcessRemote
    private let remote: OrderedRemote

    init() throws {
        scratch = try ScratchDirectory()
        inner = try InProcessRemote(at: .inMemory)
        remote = OrderedRemote(inner)
    }

    @Test("pieces are asked for ahead, and stored in their order")
    func downloads() async throws {
        let film = try await sent()
        let file = try await copy(of: film)
        let gates = Gates()
        remote.afterRead.withLock { $0 = { await gates.pass($0) } }
        async let download: Void = file.download()
        await gates.waitForArrivals(2)
        #expect(remote.reads.withLock { $0.sorted() } == [0, 1])
        // The second is answered first, and waits for the first one.
        await gates.open(1)
        #expect(try file.state() == .loading(0))
        await gates.open(0)
        await gates.waitForArrivals(3)
        for piece in 2...5 { await gates.open(piece) }
        try await download
        #expect(try await file.bytes() == Self.content)
        #expect(remote.reads.withLock { $0.sorted() } == [0, 1, 2, 3, 4, 5])
    }

    @Test("a download that was cut goes on behind what is stored")
    func cutDownload() async throws {
        let file = try await copy(of: try await sent())
        remote.cutsRead.withLock { $0 = 2 }
        await #expect(throws: SyncError.self) { try await file.download() }
        #expect(try file.state() == .loading(Int64(2 * Self.size)))
        remote.reads.withLock { $0 = [] }
        #expect(try await file.bytes() == Self.content)
        #expect(remote.reads.withLock { $0.sorted() } == [2, 3, 4, 5])
    }

    @Test("pieces are sent before the answers to those before, where the remote keeps their order")
    func uploads() async throws {
        let film = try await attached()
        let (turns, answers) = (Gates(), Gates())
        await turns.open(0)
        remote.beforePut.withLock { $0 = { await turns.pass($0) } }
        remote.afterPut.withLock {
            $0 = {
                await turns.open($0 + 1)
                await answers.pass($0)
            }
        }
        async let report = film.engine.attachments.transfer()
        // Both are stored, and neither is answered.
        await answers.waitForArrivals(2)
        #expect(remote.puts.withLock { $0.sorted() } == [0, 1])
        for piece in 0...5 { await answers.open(piece) }
        #expect(try await report.sent == 1)
        #expect(remote.puts.withLock { $0.sorted() } == [0, 1, 2, 3, 4, 5])
        #expect(try storedChunks() == Array(0...20))
        #expect(try await copy(of: film.reference).bytes() == Self.content)
    }

    @Test("a piece that overtook another one is sent again, and each byte is stored once")
    func overtaking() async throws {
        let film = try await attached()
        let (turns, answers) = (Gates(), Gates())
        remote.beforePut.withLock { $0 = { await turns.pass($0) } }
        remote.afterPut.withLock { $0 = { await answers.pass($0) } }
        async let report = film.engine.attachments.transfer()
        await turns.waitForArrivals(2)
        await turns.open(1)
        await answers.waitForArrivals(1)
        for piece in 0...5 {
            await turns.open(piece)
            await answers.open(piece)
        }
        let result = try await report
        #expect(result.sent == 1 && result.failed == 0)
        #expect(remote.puts.withLock { $0.count { $0 == 1 } } == 2)
        #expect(try storedChunks() == Array(0...20))
        #expect(try await copy(of: film.reference).bytes() == Self.content)
    }

    /// A device with a file that is to be sent; the reference.
    private func attached() async throws -> (engine: SyncEngine, reference: BSONStore.Attachment) {
        let engine = try engine("a")
        let films = engine.collection(Self.namespace)
        try await films.insertOne(["_id": 1])
        let reference = try await films.attach(Self.content, to: 1, at: "film")
        try await engine.syncUntilQuiet()
        return (engine, reference)
    }

    /// The reference to a file that was sent.
    private func sent() async throws -> BSONStore.Attachment {
        let film = try await attached()
        #expect(try await film.engine.attachments.transfer().sent == 1)
        return film.reference
    }

    /// The file at another device, which has its document.
    private func copy(of reference: BSONStore.Attachment) async throws -> AttachmentFile {
        let engine = try engine("b")
        let films = engine.collection(Self.namespace)
        try await films.sync(ids: [1])
        try await engine.syncUntilQuiet()
        return films.file(reference, of: 1)
    }

    /// The numbers of the chunks at the remote: four of a piece, and one of the last one.
    private func storedChunks() throws -> [Int64] {
        try inner.store.collection(Namespace("app", "attachments.chunks")).find().fetch()
            .compactMap { $0["n"]?.int64Value }.sorted()
    }

    private func engine(_ name: String) throws -> SyncEngine {
        try SyncEngine(
            store: try DocumentStore(at: .file(scratch.path("\(name).stitch"))), remote: remote)
    }
}

/// A remote that takes pieces ahead, whose requests about pieces wait as a test says.
private final class OrderedRemote: Remote {
    typealias Hook = @Sendable (_ piece: Int) async -> Void

    let beforePut = Locked<Hook?>(nil)
    let afterPut = Locked<Hook?>(nil)
    let afterRead = Locked<Hook?>(nil)
    /// The piece whose next reading fails; `nil` for none.
    let cutsRead = Locked<Int?>(nil)
    /// The numbers of the pieces that were asked for and sent.
    let reads = Locked<[Int]>([])
    let puts = Locked<[Int]>([])
    private let inner: InProcessRemote

    init(_ inner: InProcessRemote) { self.inner = inner }

    func collection(_ namespace: Namespace) -> any RemoteCollection { inner.collection(namespace) }

    var attachments: (any RemoteAttachments)? {
        inner.attachments.map { Files(remote: self, inner: $0) }
    }

    private struct Files: RemoteAttachments {
        let remote: OrderedRemote
        let inner: any RemoteAttachments

        var putsAhead: Int { AttachmentPieces.aheadMax }

        func state(of place: AttachmentPlace) async throws(RemoteError) -> RemoteAttachmentState {
            try await inner.state(of: place)
        }

        func put(
            _ bytes: [UInt8], at offset: Int64, of place: AttachmentPlace
        ) async throws(RemoteError) -> RemoteAttachmentState {
            let piece = Int(offset) / AttachmentPieces.sizeMax
            remote.puts.withLock { $0.append(piece) }
            await remote.beforePut.withLock { $0 }?(piece)
            let state = try await inner.put(bytes, at: offset, of: place)
            await remote.afterPut.withLock { $0 }?(piece)
            return state
        }

        func read(
            _ place: AttachmentPlace, from offset: Int64, count: Int
        ) async throws(RemoteError) -> [UInt8]? {
            let piece = Int(offset) / AttachmentPieces.sizeMax
            remote.reads.withLock { $0.append(piece) }
            let isCut = remote.cutsRead.withLock { cut in
                guard cut == piece else { return false }
                cut = nil
                return true
            }
            if isCut { throw RemoteError(.retryable, "cut") }
            let bytes = try await inner.read(place, from: offset, count: count)
            await remote.afterRead.withLock { $0 }?(piece)
            return bytes
        }
    }
}
