@testable import BSONCore
@testable import BSONStore
import Foundation
import StitchRules
import Testing

@testable import StitchServer

/// Nobody keeps others from writing for long, nor takes all the transactions that there may be.
@Suite(.timeLimit(.minutes(30))) struct TransactionBoundsTests {
    fileprivate static let things = Namespace("db", "things")

    private static func store() throws -> DocumentStore {
        let store = try DocumentStore(at: .inMemory)
        try SessionLog.prepare(store)
        return store
    }

    private static func begin(_ number: Int64 = 1) throws -> TransactionRequest {
        let body: BSONDocument = [
            "insert": "things", "txnNumber": .int64(number), "autocommit": false,
            "startTransaction": true,
        ]
        let definition = try #require(CommandTable.find("insert"))
        return try #require(try TransactionRequest(body, definition.signature, hasSession: true))
    }

    private static func open(
        _ table: TransactionTable<SessionTransaction>, _ store: DocumentStore, session: UInt8,
        of owner: UInt8
    ) throws -> SessionTransaction {
        try table.enter(try begin(), [session], of: [owner]) { number in
            SessionTransaction(store, session: [session], number: number, owner: [owner]) { .null }
        }
    }

    /// Writes as somebody outside of the transactions.
    private static func insert(_ store: DocumentStore) throws {
        try store.write { _ = try $0.insert(things, ["_id": 1]) }
    }

    private static func fault(_ body: () throws -> Void) -> (any Error)? {
        do { try body() } catch { return error }
        return nil
    }

    /// Runs what blocks on a thread of its own.
    private static func onThread<R: Sendable>(_ body: @escaping @Sendable () -> R) async -> R {
        await withCheckedContinuation { continuation in
            Thread { continuation.resume(returning: body()) }.start()
        }
    }

    @Test("who has as many transactions as one may is refused, and others are not")
    func ofOne() throws {
        let store = try Self.store()
        var bounds = TransactionBounds()
        bounds.ofOneMax = 2
        let table = TransactionTable<SessionTransaction>(bounds: bounds)
        for session in 1...2 as ClosedRange<UInt8> {
            _ = try Self.open(table, store, session: session, of: 7)
        }
        let refused = Self.fault { _ = try Self.open(table, store, session: 3, of: 7) }
        let fault = try #require(refused as? CommandFailure)
        #expect(fault.code == 365 && fault.labels == ["TransientTransactionError"])
        _ = try Self.open(table, store, session: 4, of: 8)
        // One that has ended makes room; beginning the next in a session does, too.
        try table.abort(1, [1])
        _ = try Self.open(table, store, session: 3, of: 7)
        _ = try table.enter(try Self.begin(2), [3], of: [7]) { number in
            SessionTransaction(store, session: [3], number: number) { .null }
        }
    }

    @Test("when there are too many in all, who has most gives the oldest up")
    func inAll() throws {
        let store = try Self.store()
        var bounds = TransactionBounds()
        bounds.countMax = 4
        let table = TransactionTable<SessionTransaction>(bounds: bounds)
        let greedy = try (1...4 as ClosedRange<UInt8>).map {
            try Self.open(table, store, session: $0, of: 1)
        }
        _ = try Self.open(table, store, session: 5, of: 2)
        _ = try Self.open(table, store, session: 6, of: 3)
        #expect(greedy.map(\.isAborted) == [true, true, false, false])
        #expect(table.current([1], 1) == nil && table.current([3], 1) != nil)
        // Nobody has two more than who asks.
        let refused = Self.fault { _ = try Self.open(table, store, session: 7, of: 2) }
        #expect((refused as? CommandFailure)?.code == 365)
    }

    @Test("a transaction that is kept warm gives way to a writer that waits")
    func keptWarm() async throws {
        let store = try Self.store()
        let table = TransactionTable<SessionTransaction>()
        let transaction = try Self.open(table, store, session: 1, of: 1)
        try transaction.beginWriting()
        async let warming = Self.onThread {
            var last: (any Error)?
            while last == nil { last = Self.fault { try transaction.read { _ in } } }
            return last
        }
        let start = ContinuousClock.now
        let waiting = await Self.onThread {
            Self.fault {
                try table.makeWay()
                try Self.insert(store)
            }
        }
        #expect(waiting == nil)
        #expect(ContinuousClock.now - start < .seconds(30))
        #expect((await warming as? StoreError)?.code == .closed)
        #expect(transaction.isAborted)
    }

    /// A write of the server itself.
    enum OwnWrite: CaseIterable {
        case denials, conflicts, sessions, expiry, files

        fileprivate func run(_ backend: StoreBackend) throws {
            let (store, turn) = (backend.store, backend.runner.turn)
            switch self {
            case .denials:
                backend.server.deniedWrites.note(
                    RuleDenial(
                        cause: .insertDenied, role: nil,
                        namespace: TransactionBoundsTests.things, documentID: 1),
                    of: "eve", .silent)
                try backend.tidy()
            case .conflicts: try StoredConflicts(store: store).add([["_id": 1]], in: turn)
            case .sessions:
                try SessionLog.forget(before: BSONDatetime(milliseconds: .max), in: store, turn)
            case .expiry: try store.expire(now: .now, in: turn)
            case .files:
                _ = try StoredAttachments(store, in: turn).insert(
                    TransactionBoundsTests.things, ["_id": 5])
            }
        }
    }

    /// Stores what each of the server's own writes finds to do.
    private static func fill(_ store: DocumentStore) throws {
        try store.write { transaction in
            let entry = SessionLog.Entry(number: 1, isTransaction: true, reply: nil)
            try SessionLog(transaction).note(entry, of: [9])
            let index: BSONDocument = ["name": "at", "key": ["at": 1], "expireAfterSeconds": 0]
            try transaction.createIndex(Self.things, IndexDefinition(index))
            _ = try transaction.insert(
                Self.things, ["_id": 7, "at": .datetime(BSONDatetime(milliseconds: 0))])
        }
    }

    /// Without its turn such a write, and all that the server tidies after it, waits for as long as a
    /// client keeps the transaction warm.
    @Test(
        "a transaction that is kept warm gives way to what the server itself writes",
        arguments: OwnWrite.allCases)
    func ownWrites(write: OwnWrite) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "own-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let store = try DocumentStore(at: .file(folder.appending(path: "\(write)").path))
        let backend = try StoreBackend(
            store: store, server: ServerContext(settings: ServerSettings()))
        try Self.fill(store)
        let transaction = try Self.open(backend.runner.transactions, store, session: 1, of: 1)
        try transaction.beginWriting()
        let limit = ContinuousClock.now + .seconds(60)
        async let warming = Self.onThread {
            var last: (any Error)?
            while last == nil, ContinuousClock.now < limit {
                last = Self.fault { try transaction.read { _ in } }
            }
            // Else a write that waits for ever would keep the test.
            transaction.abort()
            return last
        }
        let fault = await Self.onThread { Self.fault { try write.run(backend) } }
        #expect(fault == nil)
        #expect((await warming as? StoreError)?.code == .closed, "\(write)")
        backend.close()
        try FileManager.default.removeItem(at: folder)
    }

    @Test("a command that runs in a transaction whose time is over ends")
    func running() async throws {
        let store = try Self.store()
        let table = TransactionTable<SessionTransaction>()
        let transaction = try Self.open(table, store, session: 1, of: 1)
        let (running, begun) = AsyncStream<Void>.makeStream()
        async let working = Self.onThread {
            Self.fault {
                try WorkBudget().running {
                    try transaction.write { _ in
                        begun.finish()
                        while true { try WorkBudget.check() }
                    }
                }
            }
        }
        for await _ in running {}
        table.tidy(olderThan: .zero, whileOthersWait: false)
        #expect((await working as? StoreError)?.code.rawValue == 11601)
        try Self.insert(store)
    }

    @Test("who waits to write stops waiting when its time is over")
    func waiting() async throws {
        let store = try Self.store()
        let table = TransactionTable<SessionTransaction>()
        let transaction = try Self.open(table, store, session: 1, of: 1)
        try transaction.beginWriting()
        // Not makeWay(): on a busy machine the transaction is idle for long enough to give way.
        for waits in [
            { try store.write { _ in } }, { try store.writeInGroup { _ in } },
        ] as [@Sendable () throws -> Void] {
            let budget = WorkBudget(deadline: .now + .milliseconds(50))
            let fault = await Self.onThread { Self.fault { try budget.running(waits) } }
            #expect((fault as? StoreError)?.code == .maxTimeMSExpired)
        }
        #expect(transaction.abort())
        try Self.insert(store)
        #expect(try store.collection(Self.things).find().count() == 1)
    }

    @Test("a transaction begins to write behind those who came before it")
    func inOrder() async throws {
        let store = try Self.store()
        let table = TransactionTable<SessionTransaction>()
        let place = table.turns.enter([1], .single)
        let late = try Self.open(table, store, session: 1, of: 1)
        let fault = Self.fault { try table.makeWay(for: late) }
        #expect((fault as? CommandFailure)?.code == 112)
        table.turns.leave(place)
        try table.makeWay(for: late)
        #expect(late.keepsOthersOut && !table.turns.hasWaiting)
        #expect(late.abort())
        #expect(table.turns.isEmpty)
    }

    /// Never for its owner, and at once for others.
    private static var patience: WriterPatience {
        var patience = WriterPatience()
        (patience.idleMax, patience.graceMax) = (.seconds(3_600), .seconds(3_600))
        patience.graceForOthersMax = .zero
        return patience
    }

    @Test("a transaction gives way to another owner's writer before it does to one of its own")
    func toOthers() async throws {
        let store = try Self.store()
        let table = TransactionTable<SessionTransaction>(patience: Self.patience)
        let transaction = try Self.open(table, store, session: 1, of: 1)
        try table.makeWay(for: transaction)
        // The server itself is as patient as the owner.
        for owner in [[1], []] as [[UInt8]] {
            let place = table.turns.enter(owner, .single)
            let budget = WorkBudget(deadline: .now + .milliseconds(50))
            let fault = await Self.onThread {
                Self.fault { try budget.running { try table.makeWay(for: place) } }
            }
            #expect((fault as? StoreError)?.code == .maxTimeMSExpired)
            table.turns.leave(place)
        }
        #expect(!transaction.isAborted)
        let other = table.turns.enter([2], .single)
        try table.makeWay(for: other)
        try Self.insert(store)
        #expect(transaction.isAborted && table.current([1], 1) == nil)
        table.turns.leave(other)
        #expect(table.turns.isEmpty)
    }

    @Test("a transaction begins to write after one of another owner, which gives way to it")
    func transactionsOfOthers() throws {
        let store = try Self.store()
        let table = TransactionTable<SessionTransaction>(patience: Self.patience)
        var last: SessionTransaction?
        for session in 1...4 as ClosedRange<UInt8> {
            let next = try Self.open(table, store, session: session, of: session)
            try table.makeWay(for: next)
            #expect(next.keepsOthersOut && last?.isAborted ?? true)
            last = next
        }
        #expect(last?.abort() == true)
        #expect(table.turns.isEmpty)
    }

    @Test("a gateway's transaction for one write gives way to no other writer before its time")
    func brief() throws {
        let store = try Self.store()
        let table = TransactionTable<SessionTransaction>(patience: Self.patience)
        let brief = try table.enter(try Self.begin(), [1], of: [1]) { number in
            SessionTransaction(store, session: [1], number: number, owner: [1], isBrief: true) {
                .null
            }
        }
        try table.makeWay(for: brief)
        let other = try Self.open(table, store, session: 2, of: 2)
        let fault = Self.fault { try table.makeWay(for: other) }
        #expect((fault as? CommandFailure)?.code == 112)
        #expect(!brief.isAborted && brief.abort())
    }

    @Test("a gateway ends the transactions of others that wrote where a write meets a lock")
    func atGateway() throws {
        let table = TransactionTable<GatewayTransaction>()
        var link = UpstreamLink(
            upstream: RecordingUpstream(), server: ServerContext(settings: ServerSettings()),
            metrics: UpstreamMetrics())
        link.user = [1]
        let transaction = try table.enter(try Self.begin(), [1], of: [1]) { [link] number in
            GatewayTransaction(link, session: [1], number: number)
        }
        table.endHolders(of: [Self.things], for: [2])
        transaction.noteWrite(of: [Self.things])
        table.endHolders(of: [Namespace("db", "others")], for: [2])
        table.endHolders(of: [Self.things], for: [1])
        #expect(table.current([1], 1) === transaction && !transaction.isAborted)
        table.endHolders(of: [Self.things], for: [2])
        #expect(transaction.isAborted && table.current([1], 1) == nil)
    }
}
