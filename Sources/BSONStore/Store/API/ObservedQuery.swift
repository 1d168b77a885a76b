public import Observation

/// The documents of a live query, observable by SwiftUI views.
///
/// A view shows ``documents`` and runs ``run()`` as its task.
@MainActor @Observable
public final class ObservedQuery {
    /// The matching documents in their order; empty until ``run()`` has begun.
    public private(set) var documents: [BSONDocument] = []
    /// The error that ended ``run()`` before its task was cancelled.
    public private(set) var error: (any Error)?
    private let query: LiveQuery

    /// Observes a query from ``DocumentCollection/observe(_:sort:limit:)``.
    public init(_ query: LiveQuery) { self.query = query }

    /// Follows the query until the task is cancelled or the store is closed.
    public func run() async {
        error = nil
        do {
            for try await snapshot in query { documents = snapshot.documents }
        } catch {
            self.error = error
        }
    }
}
