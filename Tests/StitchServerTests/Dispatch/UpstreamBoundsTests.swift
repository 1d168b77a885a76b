import BSONStore
import Testing

@testable import StitchServer

/// What an upstream sends, rightly or wrongly, must not take more memory or time than is foreseen.
@Suite struct UpstreamBoundsTests {
    /// An upstream whose answers are those of a closure.
    private final class Scripted: Upstream, UpstreamPlace {
        let server: UInt32 = 1
        private let sent = Locked<[BSONDocument]>([])
        private let answer: @Sendable (BSONDocument, _ count: Int) -> BSONDocument

        init(_ answer: @escaping @Sendable (BSONDocument, _ count: Int) -> BSONDocument) {
            self.answer = answer
        }

        /// The commands so far.
        var commands: [BSONDocument] { sent.withLock { $0 } }

        func run(
            _ command: BSONDocument, on database: String, _ kind: UpstreamCommandKind,
            for caller: UpstreamCaller
        ) throws(UpstreamFailure) -> BSONDocument {
            try run(command, on: database, for: caller)
        }

        func run(
            _ command: BSONDocument, on database: String, for caller: UpstreamCaller
        ) throws(UpstreamFailure) -> BSONDocument {
            let count = sent.withLock { sent in
                sent.append(command)
                return sent.count
            }
            return answer(command, count)
        }

        func place(for caller: UpstreamCaller) throws(UpstreamFailure) -> any UpstreamPlace { self }

        func openSession(
            for caller: UpstreamCaller
        ) throws(UpstreamFailure) -> any UpstreamSession {
            throw UpstreamFailure(.unreachable, code: 6, "there are no sessions")
        }
    }

    private static let items = Namespace("shop", "items")

    private static func link(_ upstream: Scripted) -> UpstreamLink {
        UpstreamLink(
            upstream: upstream, server: ServerContext(settings: ServerSettings()),
            metrics: UpstreamMetrics())
    }

    private static func batch(_ documents: [BSONDocument], token: String? = nil) -> BSONDocument {
        var cursor: BSONDocument = [
            "id": 0, "ns": "shop.items",
            "firstBatch": .array(BSONArray(documents.map(BSONValue.document))),
        ]
        if let token { cursor.append("postBatchResumeToken", ["_data": .string(token)]) }
        return ["cursor": .document(cursor), "ok": 1.0]
    }

    private static func event(_ kind: String, _ number: Int, token: String) -> BSONDocument {
        [
            "_id": ["_data": .string(token)], "operationType": .string(kind),
            "ns": ["db": "shop", "coll": "items"],
            "documentKey": ["_id": .int32(Int32(number))],
        ]
    }

    @Test(
        "The documents of updates are read in parts of a bounded size",
        arguments: [1, 10, 100, 900])
    func documentsOfUpdates(kilobytes: Int) throws {
        let text = BSONValue.string(String(repeating: "x", count: kilobytes << 10))
        let upstream = Scripted { command, _ in
            let ids = command["filter"]?.documentValue?["_id"]?.documentValue?["$in"]?.arrayValue
            return Self.batch((ids ?? []).map { ["_id": $0, "text": text] })
        }
        let feed = UpstreamFeed(.collection(Self.items), Self.link(upstream))
        let events = try (0..<40).map { number in
            try FeedEvent(
                Self.event("update", number, token: Self.token(number)))
        }
        let bytesMax = 1 << 19
        var rest = events[...]
        var seen: [BSONValue] = []
        while !rest.isEmpty {
            let some = try feed.completed(
                rest, Self.link(upstream), remembers: true, bytesMax: bytesMax)
            try #require(!some.isEmpty)
            let bytes = some.reduce(0) { $0 + $1.document.byteCount }
            #expect(bytes <= 2 * bytesMax + (kilobytes << 10))
            #expect(some.allSatisfy { $0.change?.after?["text"] == text })
            seen += some.map(\.id)
            rest = rest.dropFirst(some.count)
        }
        #expect(seen == (0..<40).map { .int32(Int32($0)) })
    }

    /// The token of a number; tokens are ordered like their numbers.
    private static func token(_ number: Int) -> String {
        let digits = String(number, radix: 16, uppercase: true)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }

    @Test(
        "The record of deletions ends where the upstream's tokens do not lead on",
        arguments: [0, -1, -7])
    func tokensThatDoNotLeadOn(step: Int) throws {
        let upstream = Scripted { command, count in
            switch command.keys.first {
            case "find":
                return Self.batch([
                    ["_id": 1, "token": ["_data": .string(Self.token(5_000))]]
                ])
            case "aggregate" where count < 100:
                let number = 5_001 + max(-5_000, step * count)
                let events = (0..<1_000).map { index in
                    Self.event("delete", index, token: Self.token(number))
                }
                return Self.batch(events, token: Self.token(number))
            default: return ["ok": 1.0, "n": 1]
            }
        }
        let log = TombstoneLog(Self.link(upstream))
        try log.watch([Self.items])
        try log.recordAll()
        let reads = upstream.commands.count { $0.keys.first == "aggregate" }
        #expect(reads <= 2, "\(reads)")
    }

    @Test("Cursors that are forgotten within a lock are closed later, many in one command")
    func forgottenCursors() throws {
        let isHeld = ThreadCondition(true)
        let upstream = Scripted { command, _ in
            if command.keys.first == "killCursors" {
                isHeld.wait { $0 ? .forSignalOr(milliseconds: 10) : ThreadWait.done(()) }
            }
            return ["ok": 1.0]
        }
        let link = try Self.link(upstream).atNewPlace(for: nil)
        let table = CursorTable(timeoutSeconds: 600)
        let owner = CursorOwner(nil, share: [])
        let ids = try (Int64(1)...200).map { number in
            try table.addForwarded(
                ForwardedSource(UpstreamCursor(id: number, namespace: Self.items, link: link)),
                Self.items, nil, of: owner, CursorOptions())
        }
        // The upstream does not answer; neither this thread nor the table waits for it.
        for id in ids { #expect(table.kill(id)) }
        #expect(table.counts.total == 0)
        isHeld.withLock(waking: .all) { $0 = false }
        link.closer.finish(within: .seconds(60))
        let kills = upstream.commands.filter { $0.keys.first == "killCursors" }
        #expect(kills.reduce(0) { $0 + ($1["cursors"]?.arrayValue?.count ?? 0) } == 200)
        #expect(kills.count < 100, "\(kills.count)")
    }

    @Test("A user's forwarded cursors are limited, and those that end make room")
    func forwardedCursors() throws {
        let link = try Self.link(Scripted { _, _ in ["ok": 1.0] }).atNewPlace(for: nil)
        let table = CursorTable(timeoutSeconds: 600)
        func open(_ user: String, _ share: String) throws(CommandFailure) -> Int64 {
            try table.addForwarded(
                ForwardedSource(UpstreamCursor(id: 1, namespace: Self.items, link: link)),
                Self.items, nil,
                of: CursorOwner(
                    SignedInUser(name: Name(user), database: "admin", roles: []),
                    share: Array(share.utf8)),
                CursorOptions())
        }
        var ids: [Int64] = []
        for _ in 0..<CursorTable.forwardedMax { ids.append(try open("one", "a")) }
        let refusal = #expect(throws: CommandFailure.self) { _ = try open("one", "a") }
        #expect(refusal?.code == 365)
        // Another name does not help an anonymous user.
        #expect(throws: CommandFailure.self) { _ = try open("another", "a") }
        _ = try open("two", "b")
        #expect(table.kill(ids[0]))
        _ = try open("one", "a")
        #expect(throws: CommandFailure.self) { _ = try open("one", "a") }
        table.killAll()
        _ = try open("one", "a")
    }

    /// A name is enough for a feed, and feeds are for all users.
    @Test("One user opens only some feeds, and all open fewer of what does not exist")
    func feedsOfOne() throws {
        let answer = Self.batch([], token: Self.token(1))
        let feeds = UpstreamFeeds(Self.link(Scripted { _, _ in answer }))
        defer { feeds.close() }
        func code(_ name: String, _ owner: UInt8, exists: Bool) -> Int32? {
            do {
                _ = try feeds.feed(.collection(Namespace("shop", name)), of: [owner]) { exists }
                return nil
            } catch {
                return CommandFailure(error).code
            }
        }
        for number in 0..<UpstreamFeeds.missingOfOneMax {
            #expect(code("made\(number)", 1, exists: false) == nil)
        }
        #expect(code("made", 1, exists: false) == 290)
        // What is followed already, and what exists; and others are not concerned.
        #expect(code("made0", 1, exists: false) == nil)
        #expect(code("made", 2, exists: false) == nil)
        for number in 0..<(UpstreamFeeds.ofOneMax - UpstreamFeeds.missingOfOneMax) {
            #expect(code("items\(number)", 1, exists: true) == nil)
        }
        #expect(code("items", 1, exists: true) == 290)
        #expect(code("items", 2, exists: true) == nil)
        // Many users together.
        var made = UpstreamFeeds.missingOfOneMax + 1
        for owner in 3...20 as ClosedRange<UInt8> {
            for number in 0..<UpstreamFeeds.missingOfOneMax
            where code("\(owner)-\(number)", owner, exists: false) == nil {
                made += 1
            }
        }
        #expect(made == UpstreamFeeds.missingMax)
        #expect(code("others", 21, exists: true) == nil)
    }
}
