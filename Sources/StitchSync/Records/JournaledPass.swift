package import BSONStore

/// What a pass did that did something, and when it ended by the clock of this machine.
package struct JournaledPass: Sendable, Hashable {
    /// When it ended.
    package let time: BSONDatetime
    /// What it did; requests and looks are not kept.
    package let report: SyncPassReport

    /// Makes a note of its parts.
    package init(time: BSONDatetime, report: SyncPassReport) {
        self.time = time
        self.report = report
    }
}
