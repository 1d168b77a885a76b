/// The time of a command, which is the same for all its statements.
package struct CommandTime: Sendable {
    /// The time of the command that computes expressions in this thread or task; `nil` outside of
    /// one.
    @TaskLocal package static var current: CommandTime?

    /// `$$NOW` of the running command; outside of one, the time of this moment.
    package static var now: BSONDatetime { current?.now ?? WallClock.now }

    /// `$$NOW`.
    package let now: BSONDatetime
    /// `$$CLUSTER_TIME`; `nil` without a cluster.
    let clusterTime: BSONTimestamp?

    /// Creates the time of a command that begins.
    package init(clusterTime: BSONTimestamp?) {
        now = WallClock.now
        self.clusterTime = clusterTime
    }
}
