import BSONStore
import BenchmarkBaseline
import Foundation
import StitchRules
import StitchSync

/// The rows of rules: a remote in this process as rules let a user see it, against the same unbound.
///
/// No network hides here what the evaluation of rules costs.
final class RuleRows {
    private static let namespace = Namespace("shop", "items")
    /// Changes that are read at once, as by a stream that was away.
    private static let changeCount = 500
    private static let rules = """
        {"database": "shop", "collection": "items", "roles": [
          {"name": "clerk", "apply_when": {"%%user.custom_data.role": "clerk"},
           "document_filters": {"read": {"tenant": "%%user.custom_data.tenant"},
                                "write": {"tenant": "%%user.custom_data.tenant"}},
           "fields": {"owner": {"read": true}, "tenant": {"read": true},
                      "title": {"read": true, "write": true}, "n": {"read": true}}},
          {"name": "member", "apply_when": {},
           "document_filters": {"read": {"tenant": "%%user.custom_data.tenant"},
                                "write": {"owner": "%%user.id"}},
           "read": true, "write": true}]}
        """

    private let store: DocumentStore
    private let documentCount: Int32
    private let free: any RemoteCollection
    private let bound: any RemoteCollection
    private let clerk: any RemoteCollection
    /// For each of the collections the place before the changes.
    private let starts: [ResumeToken]

    init(documentCount: Int32) {
        self.documentCount = documentCount
        store = must {
            try DocumentStore(
                at: .inMemory, options: .init(changeHistory: .keep(changesMax: 100_000)))
        }
        let rules = must {
            try RuleSet(files: ["data_sources/a/shop/items/rules.json": Array(Self.rules.utf8)])
        }
        let (member, clerk) = (
            RuleUser(id: "ann", customData: ["tenant": "a"]),
            RuleUser(id: "cleo", customData: ["tenant": "a", "role": "clerk"])
        )
        free = InProcessRemote(store: store).collection(Self.namespace)
        bound = InProcessRemote(store: store, rules: rules, user: member)
            .collection(Self.namespace)
        self.clerk = InProcessRemote(store: store, rules: rules, user: clerk)
            .collection(Self.namespace)
        let items = store.collection(Self.namespace)
        must {
            _ = try items.insertMany(
                (0..<documentCount).map { number in
                    [
                        "_id": .int32(number), "owner": "zoe", "tenant": "a", "title": "a title",
                        "n": .int32(number), "salary": 10, "tags": ["x", "y"],
                        "pad": .string(String(repeating: ".", count: 200)),
                    ]
                })
        }
        starts = [free, bound, self.clerk].map { collection in
            Self.now { try await collection.currentToken() }
        }
        must {
            for number in 0..<Int32(Self.changeCount) {
                try items.updateOne(["_id": .int32(number)], ["$inc": ["n": 1]])
            }
        }
    }

    func rows() -> [Row] {
        [
            Row(
                name: "rules: find by _id", gate: 1.3, goal: 1.1,
                baseline: finds(free), ours: finds(bound), count: 20_000),
            Row(
                name: "rules: find by _id, hidden fields", gate: 1.3, goal: 1.3,
                baseline: finds(free), ours: finds(clerk), count: 20_000),
            Row(
                name: "rules: change event", gate: 2, goal: 1.3,
                baseline: follows(free, 0), ours: follows(bound, 1), count: 20_000),
            Row(
                name: "rules: change event, hidden fields", gate: 2, goal: 1.3,
                baseline: follows(free, 0), ours: follows(clerk, 2), count: 20_000),
        ]
    }

    private func finds(_ collection: any RemoteCollection) -> (Int) -> Void {
        { [documentCount] count in
            Self.now {
                for number in 0..<count {
                    let id = Int32(truncatingIfNeeded: number &* 7_919) % documentCount
                    let found = try await collection.find(ids: [.int32(abs(id))])
                    guard case .found = found.first else {
                        preconditionFailure("The document is seen")
                    }
                }
            }
        }
    }

    /// One piece of work is one event.
    private func follows(
        _ collection: any RemoteCollection, _ index: Int
    ) -> (Int) -> Void {
        let start = starts[index]
        return { count in
            Self.now {
                var rest = count
                while rest > 0 {
                    let limit = min(rest, Self.changeCount)
                    let batch = try await collection.changes(
                        after: start, limit: limit, waitingUpTo: .zero)
                    precondition(batch.changes.count == limit, "All are seen")
                    rest -= limit
                }
            }
        }
    }

    /// Runs on this thread, whose time is measured, what has to wait for nobody.
    private static func now<R: Sendable>(
        _ body: @escaping @Sendable () async throws -> R
    ) -> R {
        // Written and read on one thread.
        nonisolated(unsafe) var result: R?
        Task.immediate {
            do { result = try await body() } catch { preconditionFailure("\(error)") }
        }
        guard let result else { preconditionFailure("The work waits for nobody") }
        return result
    }
}
