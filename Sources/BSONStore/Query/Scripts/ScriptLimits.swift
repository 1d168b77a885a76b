/// The bounds on scripts.
///
/// MongoDB limits them only by a command's `maxTimeMS`; here an endless script would block a
/// thread, or in an update all writers.
package enum ScriptLimits {
    /// The deadline of scripts in this thread or task.
    @TaskLocal package static var deadline: ContinuousClock.Instant?
    /// The maximum duration of an evaluation in seconds, if there is no deadline.
    package static let secondsMax = 30
}
