package import BSONStore

/// A pass that had an effect, with its end by this device's clock.
package struct JournaledPass: Sendable, Hashable {
    /// The time of the pass's end.
    package let time: BSONDatetime
    /// The report of the pass, without the counts of requests and fetched documents.
    package let report: SyncPassReport

    /// Makes an entry from its parts.
    package init(time: BSONDatetime, report: SyncPassReport) {
        self.time = time
        self.report = report
    }
}
