/// What a thread does after it looked at the value of a ``ThreadCondition``.
package enum ThreadWait<Result> {
    /// It has what it waited for.
    case done(Result)
    /// It waits for a signal and looks again.
    case forSignal
    /// It waits for a signal, but not longer than some milliseconds, and looks again.
    case forSignalOr(milliseconds: Int)
}
