/// A limit on passes in a row without a pause, so that passes without progress do not repeat at
/// once forever (liveness rule L3).
struct PassRetryPolicy: Sendable {
    /// The number of passes in a row without a pause that other clients overtook.
    static let overtakenMax = 3
    /// The number of passes in a row without a pause that found work.
    static let busyMax = 60

    private var overtaken = 0
    private var busy = 0

    /// Makes a policy before the first pass.
    init() {}

    /// Notes a pass that reached the remote; returns whether the next one may run at once.
    mutating func mayGoOn(after report: SyncPassReport) -> Bool {
        guard !report.isQuiet else {
            self = PassRetryPolicy()
            return false
        }
        busy += 1
        overtaken = report.getsOn ? 0 : overtaken + 1
        return overtaken <= Self.overtakenMax && busy <= Self.busyMax
    }
}

/// A limit on the pages of a history that one pass reads.
struct PageBudget: Sendable {
    /// The maximum number of empty pages in a row.
    static let emptyMax = 100
    /// The maximum number of changes in all pages, if each page is full.
    static let changesMax = 1_000_000
    /// The least value of the page limit.
    static let pagesMin = 1_000

    private let pagesMax: Int
    private(set) var pages = 0
    private(set) var empty = 0

    /// Makes a budget for pages of a given size.
    init(changesPerPage: Int) {
        pagesMax = max(Self.pagesMin, Self.changesMax / max(changesPerPage, 1))
    }

    /// Notes a page that is not the last one.
    ///
    /// - Returns: whether the pass may read the next page.
    mutating func mayGoOn(after batch: RemoteChangeBatch) -> Bool {
        pages += 1
        empty = batch.changes.isEmpty ? empty + 1 : 0
        return pages < pagesMax && empty < Self.emptyMax
    }
}

extension SyncPassReport {
    /// Whether the pass made progress, apart from documents that other clients overtook.
    var getsOn: Bool {
        var rest = self
        rest.overtaken = 0
        return !rest.isQuiet
    }
}
