@testable import BSONCore
@testable import BSONStore
import Foundation
import Testing

@testable import StitchServer

/// A transaction that has ended stays ended, whoever is still at work for it.
struct TransactionEndTests {
    private static let things = Namespace("db", "things")

    private static func transaction(_ store: DocumentStore) -> SessionTransaction {
        SessionTransaction(store, session: [1], number: 1) { .null }
    }

    private static func insert(_ id: BSONValue, _ transaction: SessionTransaction) throws {
        try transaction.write { _ = try $0.insert(things, ["_id": id]) }
    }

    /// Another writer gets in at once.
    private static func checkIsFree(_ store: DocumentStore) throws {
        try OpenTransaction.writing(store, waitingAtMost: 1_000).abort()
    }

    private static func isClosed(_ error: (any Error)?) -> Bool {
        (error as? StoreError)?.code == .closed
    }

    private static func fault(_ body: () throws -> Void) -> (any Error)? {
        do { try body() } catch { return error }
        return nil
    }

    @Test("a transaction that was aborted before its first command takes nothing up")
    func abortedFirst() throws {
        let store = try DocumentStore(at: .inMemory)
        try SessionLog.prepare(store)
        let transaction = Self.transaction(store)
        #expect(transaction.abort())
        #expect(Self.isClosed(Self.fault { try Self.insert(1, transaction) }))
        #expect(Self.isClosed(Self.fault { try transaction.read { _ in } }))
        #expect(Self.isClosed(Self.fault { try transaction.commit() }))
        #expect(!transaction.keepsOthersOut)
        #expect(try transaction.waitForEnd(forOther: false, WriterPatience()))
        try Self.checkIsFree(store)
    }

    @Test(
        "an abort while the transaction waits for other writers is not forgotten",
        .timeLimit(.minutes(30)))
    func abortedMeanwhile() async throws {
        let store = try DocumentStore(at: .inMemory)
        try SessionLog.prepare(store)
        for round in 0..<50 {
            let transaction = Self.transaction(store)
            let other = try OpenTransaction.writing(store, waitingAtMost: 1_000)
            async let writing = Self.fault { try Self.insert(1, transaction) }
            // Somewhere here it begins to wait.
            for _ in 0..<(round * 20) { await Task.yield() }
            #expect(transaction.abort())
            other.abort()
            // Too slow a machine may have it give up waiting before.
            let fault = await writing
            #expect(Self.isClosed(fault) || (fault as? CommandFailure)?.code == 112)
            #expect(Self.isClosed(Self.fault { try transaction.commit() }))
            try Self.checkIsFree(store)
        }
        #expect(try store.collection(Self.things).find().count() == 0)
    }

    @Test("a commit after an abort is refused, an abort after a commit too; both may be repeated")
    func endedTwice() throws {
        let store = try DocumentStore(at: .inMemory)
        try SessionLog.prepare(store)
        let aborted = Self.transaction(store)
        try Self.insert(1, aborted)
        #expect(aborted.abort() && aborted.abort())
        #expect(Self.isClosed(Self.fault { try aborted.commit() }))
        let committed = Self.transaction(store)
        try Self.insert(2, committed)
        try committed.commit()
        try committed.commit()
        #expect(!committed.abort())
        #expect(try store.collection(Self.things).find().fetch() == [["_id": 2]])
        let read = Self.transaction(store)
        try read.read { _ in }
        try read.commit()
        #expect(!read.abort())
        try Self.checkIsFree(store)
    }

    @Test(
        "tidying up waits neither for a command that runs nor for another that tidies up",
        .timeLimit(.minutes(30)))
    func tidying() async throws {
        let store = try DocumentStore(at: .inMemory)
        try SessionLog.prepare(store)
        let table = TransactionTable<SessionTransaction>()
        let request = try Self.begin()
        let transaction = try table.enter(request, [1]) { _ in Self.transaction(store) }
        let isOpen = ThreadCondition(false)
        let (running, begun) = AsyncStream<Void>.makeStream()
        async let writing: (any Error)? = Self.onThread {
            Self.fault {
                try transaction.write {
                    _ = try $0.insert(Self.things, ["_id": 1])
                    begun.finish()
                    isOpen.wait { $0 ? .done(()) : .forSignal }
                }
            }
        }
        for await _ in running {}
        table.tidy(olderThan: .zero, whileOthersWait: false)
        table.tidy(olderThan: .zero, whileOthersWait: true)
        #expect(table.current([1], 1) == nil)
        #expect(Self.isClosed(Self.fault { try Self.insert(2, transaction) }))
        isOpen.withLock(waking: .all) { $0 = true }
        #expect(await writing == nil)
        try Self.checkIsFree(store)
        #expect(try store.collection(Self.things).find().count() == 0)
    }

    @Test("what sessions did last is forgotten when they are long over")
    func forgotten() throws {
        let store = try DocumentStore(at: .inMemory)
        var settings = ServerSettings()
        // Over before they begin.
        settings.sessionTimeoutMinutes = -1
        let backend = try StoreBackend(store: store, server: ServerContext(settings: settings))
        defer { backend.close() }
        try store.write {
            let entry = SessionLog.Entry(number: 1, isTransaction: true, reply: nil)
            try SessionLog($0).note(entry, of: [1])
        }
        #expect(try backend.runner.logEntry([1]) != nil)
        try backend.tidy()
        #expect(try backend.runner.logEntry([1]) == nil)
    }

    /// Runs what blocks on a thread of its own.
    private static func onThread<R: Sendable>(_ body: @escaping @Sendable () -> R) async -> R {
        await withCheckedContinuation { continuation in
            Thread { continuation.resume(returning: body()) }.start()
        }
    }

    private static func body(_ number: Int64) -> BSONDocument {
        [
            "insert": "things", "txnNumber": .int64(number), "autocommit": false,
            "startTransaction": true,
        ]
    }

    private static func begin(_ number: Int64 = 1) throws -> TransactionRequest {
        let definition = try #require(CommandTable.find("insert"))
        return try #require(
            try TransactionRequest(body(number), definition.signature, hasSession: true))
    }

    /// The command that begins the first transaction of a session.
    private static func call(_ server: ServerContext) throws -> CommandCall {
        CommandCall(
            signature: InsertCommand.definition.signature, givenName: "insert", body: body(1),
            sequences: [:], database: "db",
            connection: ClientConnection(
                id: 1, peer: "127.0.0.1:1", local: "localhost:27017", isLoopback: true),
            server: server, budget: WorkBudget(), session: ["id": "session"],
            transaction: try begin(), snapshot: nil, allowsExhaust: false)
    }

    @Test("a command that fails late does not end the next transaction of its session")
    func nextTransaction() throws {
        let store = try DocumentStore(at: .inMemory)
        let server = ServerContext(settings: ServerSettings())
        let backend = try StoreBackend(store: store, server: server)
        defer { backend.close() }
        let call = try Self.call(server)
        let transactions = backend.runner.transactions
        let fault = Self.fault {
            _ = try backend.runner.run(call) {
                // The client gave the command up, and goes on.
                let next = try Self.begin(2)
                _ = try transactions.enter(next, call.sessionKey) { number in
                    SessionTransaction(store, session: call.sessionKey, number: number) { .null }
                }
                throw CommandFailure(.badValue, "late")
            }
        }
        #expect((fault as? CommandFailure)?.code == 2)
        #expect(transactions.current(call.sessionKey, 2)?.isAborted == false)
    }

    @Test("a command whose transaction is given up under it does not write outside of it")
    func givenUpUnderCommand() throws {
        let store = try DocumentStore(
            at: .inMemory, options: .init(changeHistory: .keep(changesMax: 100)))
        let server = ServerContext(settings: ServerSettings())
        let backend = try StoreBackend(store: store, server: server)
        defer { backend.close() }
        let call = try Self.call(server)
        let fault = Self.fault {
            _ = try backend.runner.run(call) {
                // As the one does that another writer has waited for.
                backend.runner.transactions.giveUp(call.sessionKey)
                try backend.write(call) { _ = try $0.insert(Self.things, ["_id": 1]) }
                return .ok
            }
        }
        #expect((fault as? CommandFailure)?.code == 251)
        #expect((fault as? CommandFailure)?.labels == ["TransientTransactionError"])
        #expect(try store.collection(Self.things).find().count() == 0)
    }
}
