/// The times within which a process ends after SIGTERM.
///
/// A server lets running commands finish for a second, and a gateway waits for an upstream that does
/// not answer for four. The rest is for debug builds beside other tests.
enum StopLimit {
    /// The time of a server, and of a gateway whose upstream answers.
    static let usual: Duration = .seconds(8)
    /// The time of a gateway whose upstream does not answer.
    static let ofSilentUpstream: Duration = .seconds(11)
}
