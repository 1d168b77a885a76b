import BSONStore
import Foundation
import Testing

/// Without these a view would show old documents, block the main thread, or animate changes that do
/// not lead from what it shows to what it will show.
@MainActor @Suite(.timeLimit(.minutes(30))) struct LiveObservedQueryTests {
    /// A document whose decoding waits for the main actor, which it must not block.
    private struct Patient: Codable, Sendable {
        enum Step { case waiting, decoding, released }

        static let step = Locked(Step.waiting)
        var wasReleased: Bool

        init(from decoder: any Decoder) throws {
            Self.step.withLock { $0 = .decoding }
            let deadline = ContinuousClock.now + .seconds(60)
            while Self.step.withLock({ $0 }) != .released, ContinuousClock.now < deadline {
                sched_yield()
            }
            wasReleased = Self.step.withLock { $0 } == .released
        }
    }

    /// Runs a query while a body works, then ends it as SwiftUI ends a view's task.
    private func run<Document>(
        _ observed: ObservedQuery<Document>, _ other: LiveQuery<Document>? = nil,
        while body: () async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                if let other { await observed.run(other) } else { await observed.run() }
            }
            defer { group.cancelAll() }
            try await body()
        }
    }

    @Test func `a view sees documents, failures and changes, and when they are loaded`()
        async throws
    {
        let tasks = try LiveTask.collection()
        try await tasks.documents.insertOne(["_id": 7, "done": false])
        let observed = ObservedQuery(
            try tasks.find {
                !$0.done
            }.sort(\.complexity).observe())
        #expect(!observed.isLoaded && observed.documents.isEmpty)
        try await run(observed) {
            while !observed.isLoaded { await Task.yield() }
            #expect(observed.documents.isEmpty && observed.failures.map(\.documentID) == [7])
            try await tasks.insertMany([
                LiveTask(id: 1, complexity: 3), LiveTask(id: 2, complexity: 1),
            ])
            while observed.documents.count < 2 { await Task.yield() }
            #expect(observed.documents.map(\.id) == [2, 1])
            #expect(observed.changes == ListChanges(inserted: [0, 1]))
        }
        #expect(observed.error == nil)

        // A view that appears again animates from what it showed.
        try await tasks.updateOne({ $0.id == 2 }) { $0.complexity.set(9) }
        try await run(observed) {
            while observed.documents.first?.id == 2 { await Task.yield() }
            #expect(
                observed.changes == ListChanges(moved: [.init(from: 1, to: 0)], changed: [1]))
        }
    }

    @Test func `another query takes over with the changes from what is shown`() async throws {
        let tasks = try LiveTask.collection()
        try await tasks.insertMany((1...4).map { LiveTask(id: $0, complexity: $0) })
        let observed = ObservedQuery(try tasks.find { $0.complexity <= 3 }.observe())
        try await run(observed) { while !observed.isLoaded { await Task.yield() } }
        try await run(observed, try tasks.find { $0.complexity >= 2 }.observe()) {
            while observed.documents.first?.id == 1 { await Task.yield() }
            #expect(observed.documents.map(\.id) == [2, 3, 4])
            #expect(observed.changes == ListChanges(removed: [0], inserted: [2]))
        }
    }

    @Test func `a closed store ends the run with an error`() async throws {
        let tasks = try LiveTask.collection()
        let observed = ObservedQuery(try tasks.find().observe())
        tasks.documents.store.close()
        await observed.run()
        #expect((observed.error as? StoreError)?.code == .closed && !observed.isLoaded)
    }

    @Test func `documents are decoded while the main actor goes on`() async throws {
        let store = try DocumentStore(at: .inMemory)
        let things = store.collection(Namespace("app", "things"), of: Patient.self)
        try await things.documents.insertOne(["_id": 1])
        let observed = ObservedQuery(try things.find().observe())
        try await run(observed) {
            while Patient.step.withLock({ $0 }) != .decoding { await Task.yield() }
            Patient.step.withLock { $0 = .released }
            while !observed.isLoaded { await Task.yield() }
        }
        #expect(observed.documents.map(\.wasReleased) == [true])
    }
}
