public import Observation

/// The documents of a live query, observable by SwiftUI views.
///
/// A view shows ``documents`` and runs ``run()`` as its task. The query reads and decodes off the
/// main thread.
///
/// ```swift
/// let open = ObservedQuery(try todos.find { !$0.done }.observe())
/// // In a view: List(open.documents) { … }.task { await open.run() }
/// ```
@MainActor @Observable
public final class ObservedQuery<Document: Sendable> {
    /// The matching documents that decoded, in their order; empty until ``isLoaded``.
    public private(set) var documents: [Document] = []
    /// The matching documents that did not decode, in their order.
    public private(set) var failures: [DocumentDecodingFailure] = []
    /// The differences of ``documents`` from what they were before.
    public private(set) var changes = ListChanges()
    /// Whether the query has run, so that no documents means that none match.
    public private(set) var isLoaded = false
    /// The error that ended ``run()`` before its task was cancelled.
    public private(set) var error: (any Error)?
    @ObservationIgnored private var snapshots: LiveQuery<Document>.Iterator

    /// Observes a query, from ``Query/observe()``.
    public init(_ query: LiveQuery<Document>) { snapshots = query.makeAsyncIterator() }

    /// Follows the query until the task is cancelled or the store is closed; in one task at a time.
    ///
    /// A later call continues with ``changes`` from the documents that the last one left.
    public func run() async {
        error = nil
        var snapshots = snapshots
        do {
            while let snapshot = try await snapshots.next() {
                // The task that came after a cancelled one may show something else by now.
                guard !Task.isCancelled else { return }
                self.snapshots = snapshots
                show(snapshot)
            }
        } catch {
            self.error = error
        }
    }

    /// Follows another query instead, for example after the user changed a filter.
    ///
    /// The documents stay until the new ones are read; ``changes`` then leads from one to the other.
    public func run(_ query: LiveQuery<Document>) async {
        snapshots.query = query
        await run()
    }

    private func show(_ snapshot: LiveQuery<Document>.Snapshot) {
        documents = snapshot.documents
        failures = snapshot.failures
        changes = snapshot.changes
        isLoaded = true
    }
}
