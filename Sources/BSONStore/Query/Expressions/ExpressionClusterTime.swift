/// The logical time of the deployment that runs a command.
package enum ExpressionClusterTime {
    /// The value of `$$CLUSTER_TIME` in this thread or task; `nil` outside of a deployment.
    @TaskLocal package static var current: BSONTimestamp?
}
