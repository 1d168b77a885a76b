/// Bounds what scripts may take.
///
/// MongoDB bounds them by a command's `maxTimeMS` only; here a script that never ends would hold a
/// thread, or in an update all writers.
package enum ScriptLimits {
    /// When the scripts of what runs in this thread or task stop.
    @TaskLocal package static var deadline: ContinuousClock.Instant?
    /// One evaluation takes so many seconds at most where there is no deadline.
    package static let secondsMax = 30
    /// What one evaluation makes, and forgets again, is at most so many bytes, about.
    static let bytesMax = 64 << 20
    /// Calls and values may be evaluated within one another so deep.
    static let depthMax = 100
}
