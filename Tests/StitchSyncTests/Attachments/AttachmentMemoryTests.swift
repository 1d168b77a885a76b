import BSONStore
import Testing

@testable import StitchSync

/// A film of any length must not need more memory than a few pieces, on the device and at the server.
@Suite("memory of files beside documents")
struct AttachmentMemoryTests {
    private static let namespace = Namespace("app", "films")
    private let scratch: ScratchDirectory

    init() throws { scratch = try ScratchDirectory() }

    @Test("a message carries at most four chunks, and at most four pieces are under way")
    func messages() async throws {
        let chunk = AttachmentPieces.unit
        let length = 41 * chunk + 1
        let remote = CountingRemote(try InProcessRemote(at: .inMemory))
        let (a, b) = (try engine("a", remote), try engine("b", remote))
        let films = a.collection(Self.namespace)
        try await films.insertOne(["_id": 1])
        let content = (0..<length).map { UInt8(truncatingIfNeeded: $0 / 3) }
        let film = try await films.attach(content, to: 1, at: "film")
        try await a.syncUntilQuiet()
        #expect(try await a.attachments.transfer().sent == 1)
        let pieces = Array(repeating: 4 * chunk, count: 10) + [chunk + 1]
        #expect(remote.counts.withLock { $0.put } == pieces)
        // This remote does not take them ahead.
        #expect(remote.counts.withLock { $0.underWayMax } == 1)
        let copies = b.collection(Self.namespace)
        try await copies.sync(ids: [1])
        try await b.syncUntilQuiet()
        #expect(try await copies.file(film, of: 1).bytes() == content)
        // They may be answered in any order.
        #expect(remote.counts.withLock { $0.read.sorted(by: >) } == pieces)
        #expect((1...4).contains(remote.counts.withLock { $0.underWayMax }))
    }

    @Test("the contents have a small page cache, whatever that of the documents")
    func pageCache() {
        #expect(AttachmentCache.options(beside: StoreOptions()).cacheKiB == 2_048)
        #expect(AttachmentCache.options(beside: StoreOptions(cacheKiB: 512)).cacheKiB == 512)
    }

    private func engine(_ name: String, _ remote: any Remote) throws -> SyncEngine {
        try SyncEngine(
            store: try DocumentStore(at: .file(scratch.path("\(name).stitch"))), remote: remote)
    }
}

/// A remote that counts the bytes of each piece, and the pieces that are under way at once.
private final class CountingRemote: Remote {
    struct Counts {
        var put: [Int] = []
        var read: [Int] = []
        var underWay = 0
        var underWayMax = 0
    }

    let counts = Locked(Counts())
    private let inner: InProcessRemote

    init(_ inner: InProcessRemote) { self.inner = inner }

    func collection(_ namespace: Namespace) -> any RemoteCollection { inner.collection(namespace) }

    var attachments: (any RemoteAttachments)? {
        inner.attachments.map { Files(remote: self, inner: $0) }
    }

    private func counting<R>(
        _ body: () async throws(RemoteError) -> R
    ) async throws(RemoteError) -> R {
        counts.withLock {
            $0.underWay += 1
            $0.underWayMax = max($0.underWayMax, $0.underWay)
        }
        defer { counts.withLock { $0.underWay -= 1 } }
        return try await body()
    }

    private struct Files: RemoteAttachments {
        let remote: CountingRemote
        let inner: any RemoteAttachments

        func state(of place: AttachmentPlace) async throws(RemoteError) -> RemoteAttachmentState {
            try await inner.state(of: place)
        }

        func put(
            _ bytes: [UInt8], at offset: Int64, of place: AttachmentPlace
        ) async throws(RemoteError) -> RemoteAttachmentState {
            remote.counts.withLock { $0.put.append(bytes.count) }
            return try await remote.counting { () async throws(RemoteError) in
                try await inner.put(bytes, at: offset, of: place)
            }
        }

        func read(
            _ place: AttachmentPlace, from offset: Int64, count: Int
        ) async throws(RemoteError) -> [UInt8]? {
            let bytes = try await remote.counting { () async throws(RemoteError) in
                try await inner.read(place, from: offset, count: count)
            }
            remote.counts.withLock { $0.read.append(bytes?.count ?? 0) }
            return bytes
        }
    }
}
