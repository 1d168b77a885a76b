import Testing

@testable import BSONQuery
@testable import BSONStore

/// Without these one caller's settings could decide about another caller's write.
@Suite struct GroupCommitTests {
    private static let todos = Namespace("app", "todos")

    @Test func `what one of several writes sets for itself does not hold for the next`() throws {
        let store = try DocumentStore(at: .inMemory)
        try store.createCollection(Self.todos, ["validator": ["task": ["$exists": true]]])
        let told = Locked<(code: StoreError.Code?, hint: IndexHint?, comment: BSONValue?)?>(nil)
        func job(_ body: @escaping @Sendable (WriteTransaction) -> Void) -> GroupCommitJob {
            GroupCommitJob(
                store: store,
                perform: { transaction in
                    body(transaction)
                    return { _ in }
                }, refused: { _ in }, runAlone: {})
        }
        let jobs = ListedJobs([
            job { transaction in
                transaction.bypassesValidation = true
                transaction.hint = .natural
                transaction.comment = "first"
            },
            job { transaction in
                var code: StoreError.Code?
                do throws(StoreError) {
                    try transaction.insert(Self.todos, ["_id": 1])
                } catch {
                    code = error.code
                }
                told.withLock { $0 = (code, transaction.hint, transaction.comment) }
            },
        ])
        jobs.runAll()
        let second = try #require(told.withLock { $0 })
        #expect(second.code == .documentValidationFailure)
        #expect(second.hint == nil && second.comment == nil)
        #expect(try store.read { try $0.count(Self.todos) } == 0)
    }

    @Test func `a commit takes waiting writes until it has lasted long`() throws {
        let store = try DocumentStore(at: .inMemory)
        // Short writes, writes that add up, a long one, and a long one behind a short one.
        let cases: [([Int], Int)] = [
            ([0, 0, 0], 0), ([1, 9, 10], 1), ([2, 3, 4], 2), ([1, 3, 4], 1), ([1, 2, 3], 0),
        ]
        for (milliseconds, left) in cases {
            var times = milliseconds[...].map { Duration.milliseconds($0) }
            let settled = Locked<[Int]>([])
            let jobs = ListedJobs(
                (0..<3).map { number in
                    GroupCommitJob(
                        store: store,
                        perform: { _ in { _ in settled.withLock { $0.append(number) } } },
                        refused: { _ in }, runAlone: {})
                })
            let first = try #require(jobs.popFirst())
            GroupCommitJob.run(first, jobs) { _ in times.removeFirst() }
            #expect(jobs.jobs.count == left)
            #expect(settled.withLock { $0 } == Array(0..<(3 - left)))
        }
    }

    @Test func `a user's many waiting writes delay another user's by one of them`() async throws {
        let store = try DocumentStore(at: .inMemory)
        let (order, isOpen) = (Locked<[String]>([]), ThreadCondition(false))
        @Sendable func add(_ name: String, _ owner: String) {
            let job = GroupCommitJob(
                store: store,
                perform: { _ in
                    isOpen.wait { $0 ? .done(()) : .forSignal }
                    order.withLock { $0.append(name) }
                    return { _ in }
                }, refused: { _ in },
                runAlone: {
                    isOpen.wait { $0 ? .done(()) : .forSignal }
                    order.withLock { $0.append(name) }
                })
            #expect(store.writerThread.add(job, of: Array(owner.utf8)))
        }
        for number in 0..<20 { add("a\(number)", "a") }
        add("b", "b")
        isOpen.withLock(waking: .all) { $0 = true }
        while order.withLock({ $0.count }) < 21 { await Task.yield() }
        // The thread may have taken one before the others came, and one more turn of its owner.
        #expect(order.withLock { $0.firstIndex(of: "b") ?? 21 } <= 2)
        #expect(order.withLock { $0.filter { $0 != "b" } } == (0..<20).map { "a\($0)" })
    }
}
