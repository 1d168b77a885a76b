import BSONStore
import StitchSync
import Testing

/// Without these a log of the app would have dumps of memory instead of texts.
@Suite struct SyncDescriptionTests {
    private static let todos = Namespace("app", "todos")

    @Test func `conflicts and answers show their editions`() {
        let conflict = Conflict<BSONDocument>(
            namespace: Self.todos, documentID: 1, base: ["_id": 1], local: nil,
            remote: ["_id": 1, "a": 2], mayHaveLanded: true)
        #expect(
            "\(conflict)"
                == "conflict of 1 in app.todos: base {\"_id\":1}, local deleted, "
                + "remote {\"_id\":1,\"a\":2}, may have landed")
        #expect("\(ConflictResolution<BSONDocument>.use(["_id": 1]))" == "use {\"_id\":1}")
        #expect("\(ConflictResolution<Int>.useLocal)" == "use local")
    }

    @Test func `events show what changed`() {
        let insert = ChangeEvent<BSONDocument>(
            operationType: .insert, reason: .local, namespace: Self.todos, documentID: "a",
            fullDocument: ["_id": "a"], hasUncommittedWrites: true)
        #expect("\(insert)" == "insert of \"a\" in app.todos, local, pending: {\"_id\":\"a\"}")
        let changes = UpdateDescription(
            updatedFields: ["done": true], removedFields: ["due"],
            truncatedArrays: [UpdateDescription.TruncatedArray(field: "tags", newSize: 2)])
        let update = ChangeEvent<BSONDocument>(
            operationType: .update, reason: .remote, namespace: Self.todos, documentID: 1,
            fullDocument: ["_id": 1, "done": true], updateDescription: changes)
        #expect(
            "\(update)"
                == "update of 1 in app.todos, remote: "
                + "set {\"done\":true}, removed due, cut tags to 2")
        #expect("\(UpdateDescription())" == "no changes")
    }

    @Test func `counts that are 0 are left out`() {
        #expect("\(SyncStatus())" == "0 synced")
        #expect(
            "\(SyncStatus(synced: 3, pending: 2, toLook: 1))" == "3 synced, 2 pending, 1 to fetch")
        var report = SyncPassReport()
        #expect("\(report)" == "nothing to do")
        (report.taken, report.errors) = (2, [.rejected])
        #expect("\(report)" == "2 taken, errors: rejected")
        #expect(
            "\(SyncProgress())" == "0 of 0 uploaded (0 bytes), 0 of 0 downloaded (0 bytes)")
        #expect("\(UpdateResult(matchedCount: 2, modifiedCount: 1))" == "2 matched, 1 modified")
        #expect(
            "\(UpdateResult(upsertedID: "k"))" == "0 matched, 0 modified, upserted \"k\"")
    }

    @Test func `states show their reasons`() {
        let reason = PauseReason(.rejected, "not allowed")
        #expect("\(DocumentSyncStatus.paused(reason))" == "paused (rejected: not allowed)")
        #expect("\(DocumentSyncStatus.pending)" == "pending")
    }

    @Test func `subscriptions show their names and queries`() async throws {
        let engine = try SyncEngine(
            store: DocumentStore(at: .inMemory), remote: InProcessRemote(at: .inMemory))
        let todos = engine.collection(Self.todos)
        try await todos.subscribe(to: ["done": false], named: "open")
        let open = try #require(try engine.subscriptions.latest.first(named: "open"))
        #expect("\(open)" == "\"open\" on app.todos {\"done\":false}")
        #expect("\(open.query)" == "app.todos {\"done\":false}")
        #expect(
            "\(try engine.subscriptions.latest)"
                == "set 1, complete: [\"open\" on app.todos {\"done\":false}]")
    }

    @Test func `changes of a store and results of bulk writes are short`() async throws {
        let store = try DocumentStore(
            at: .inMemory, options: StoreOptions(changeHistory: .keep(changesMax: 10)))
        let todos = store.collection(Self.todos)
        let result = try await todos.bulkWrite(
            [
                .insertOne(["_id": 1]), .insertOne(["_id": 1]), .insertOne(["_id": 2]),
            ], ordered: false)
        #expect("\(result)".hasPrefix("2 inserted; write 1: "))
        #expect("\(BulkWriteResult())" == "no changes")
        let changes = try store.changes(after: 0).changes.map { "\($0)" }
        #expect(
            changes == [
                "insert of 1 in app.todos at 1: {\"_id\":1}",
                "insert of 2 in app.todos at 2: {\"_id\":2}",
            ])
    }

    @Test func `refused writes, attempts and versions are short`() {
        let write = CompensatingWrite(
            objectName: "todos", primaryKey: 1, reason: "no", cause: .writeDenied)
        #expect("\(write)" == "todos 1: no")
        let rejected = RejectedWrite<BSONDocument>(
            id: 7, namespace: Self.todos, change: .delete, document: nil, compensatingWrite: write)
        #expect("\(rejected)" == "7: delete of 1 in app.todos refused: no")
        let attempt = OperationID(instance: 255, sequence: 3)
        #expect("\(attempt)" == "ff.3")
        #expect("\(DocumentVersion.first(operation: attempt))".hasPrefix("{\"spv\":1,\"id\":"))
    }
}
