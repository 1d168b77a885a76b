/// The times for which a transaction may keep other writers waiting.
struct WriterPatience: Sendable {
    /// The longest time for which its client may leave it unused while another writer waits.
    var idleMax: Duration = .seconds(1)
    /// The longest time while a writer of the same owner waits, or the server itself.
    var graceMax: Duration = .seconds(5)
    /// The longest time while a writer of another owner waits.
    ///
    /// The waiting write has an answer within half a second then.
    var graceForOthersMax: Duration = .milliseconds(300)

    /// Returns the longest time while a writer waits.
    func grace(forOther isOther: Bool) -> Duration { isOther ? graceForOthersMax : graceMax }
}
