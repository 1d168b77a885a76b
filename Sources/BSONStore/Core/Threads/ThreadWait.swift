/// The action of a thread after it read the value of a ``ThreadCondition``.
package enum ThreadWait<Result> {
    /// It has what it waited for.
    case done(Result)
    /// It waits for a signal and reads again.
    case forSignal
    /// It waits for a signal, but not longer than some milliseconds, and reads again.
    case forSignalOr(milliseconds: Int)
}
