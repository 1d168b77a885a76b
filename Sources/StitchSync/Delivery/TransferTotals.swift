internal import BSONStore

/// The counts of expected and counted documents that the store does not hold.
struct TransferTotals: Sendable {
    /// Documents from the history that are being fetched, by collection.
    var announced: [Namespace: Int] = [:]
    /// Documents still to be read by each query of the subscription set that is being downloaded.
    var queries: [Int] = []
    /// Counted documents whose conflicts wait, with their stale marks.
    var waiting: [Waiting: Int64] = [:]
    /// The highest totals reported in this pass, which later reports do not go below.
    private var least = (downloads: 0, uploads: 0)

    /// The key of a document in any collection.
    struct Waiting: Hashable {
        let namespace: Namespace
        let key: [UInt8]
    }

    /// The number of expected documents without a record.
    var comingCount: Int { announced.values.reduce(0, +) + queries.reduce(0, +) }

    /// Lets later reports begin with lower totals.
    mutating func resetMinimum() { least = (0, 0) }

    /// Returns a progress whose totals are not below earlier ones: settled documents that are not
    /// counted yet do not lower them.
    mutating func raised(_ progress: SyncProgress) -> SyncProgress {
        least.downloads = max(least.downloads, progress.totalDownloads)
        least.uploads = max(least.uploads, progress.totalUploads)
        var progress = progress
        (progress.totalDownloads, progress.totalUploads) = (least.downloads, least.uploads)
        return progress
    }

    /// Subtracts read documents from the expected ones of a query; the last page ends them.
    mutating func read(_ count: Int, ofQuery query: Int, isLast: Bool) {
        guard queries.indices.contains(query) else { return }
        queries[query] = isLast ? 0 : max(0, queries[query] - count)
    }
}
