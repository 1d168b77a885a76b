import BSONStore
import BenchmarkBaseline

/// The allocations of scans, per 100 documents that do not match.
final class StoreAllocations {
    private let folder = StoreFolder()
    private lazy var store: DocumentStore = filled()

    func rows() -> [AllocationRow] {
        let filter = must { try Filter(["group": 70_000, "score": ["$gt": 1]]) }
        return [
            AllocationRow(
                name: "store: find, 100 documents that do not match", gate: 0, goal: 0
            ) { [unowned self] count in
                let found = must {
                    try store.read { try $0.find(Self.namespace(count), filter: filter) }
                }
                baseline_keep(UInt64(found.count))
            },
            AllocationRow(
                name: "store: count, 100 documents that do not match", gate: 0, goal: 0
            ) { [unowned self] count in
                let found = must {
                    try store.read { try $0.count(Self.namespace(count), filter: filter) }
                }
                baseline_keep(UInt64(found))
            },
        ]
    }

    /// Removes the files.
    func remove() { folder.remove() }

    /// What is done so many times is one scan of so many hundreds, so that what a scan allocates
    /// by itself cancels out.
    private static func namespace(_ count: Int) -> Namespace { Namespace("app", "scan\(count)") }

    private func filled() -> DocumentStore {
        let store = folder.store()
        let documents = StoreDocuments(count: 100 * (AllocationRow.counts.max() ?? 1)).documents
        for count in AllocationRow.counts {
            must {
                _ = try store.collection(Self.namespace(count))
                    .insertMany(Array(documents[..<(100 * count)]))
            }
            // The pages and the statement are in the cache afterwards.
            baseline_keep(
                UInt64(must { try store.collection(Self.namespace(count)).find().fetch().count }))
        }
        return store
    }
}
