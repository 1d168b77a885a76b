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
        GroupCommitJob.run([
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
        let second = try #require(told.withLock { $0 })
        #expect(second.code == .documentValidationFailure)
        #expect(second.hint == nil && second.comment == nil)
        #expect(try store.read { try $0.count(Self.todos) } == 0)
    }
}
