/// Says after which passes to wait, whatever the remote answers: nothing that does not get on is tried
/// again at once for ever (liveness rule L3).
struct PassRetryPolicy: Sendable {
    /// Passes in a row that were only overtaken, after each of which the next one comes at once.
    static let overtakenMax = 3
    /// Passes in a row that found something to do, after each of which the next one comes at once.
    static let busyMax = 100

    private var overtaken = 0
    private var busy = 0

    /// Begins with no pass.
    init() {}

    /// Notes a pass that reached the remote; `true` when the next one is to come at once.
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

/// Bounds how many pages of a history one pass reads.
struct PageBudget: Sendable {
    /// Pages in a row in which nothing is told.
    static let emptyMax = 100
    /// Changes in all pages together, as far as pages are full.
    static let changesMax = 1_000_000
    /// Pages at least.
    static let pagesMin = 1_000

    private let pagesMax: Int
    private(set) var pages = 0
    private(set) var empty = 0

    /// Bounds pages of so many changes each.
    init(changesPerPage: Int) {
        pagesMax = max(Self.pagesMin, Self.changesMax / max(changesPerPage, 1))
    }

    /// Notes a page behind which there are more.
    ///
    /// - Returns: whether the next one may be read at once.
    mutating func mayGoOn(after batch: RemoteChangeBatch) -> Bool {
        pages += 1
        empty = batch.changes.isEmpty ? empty + 1 : 0
        return pages < pagesMax && empty < Self.emptyMax
    }
}

extension SyncPassReport {
    /// Something was done that need not be done again.
    var getsOn: Bool {
        var rest = self
        rest.overtaken = 0
        return !rest.isQuiet
    }
}
