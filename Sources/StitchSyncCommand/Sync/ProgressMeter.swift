/// Adds up what several tasks did and shows it on one progress bar.
actor ProgressMeter {
    private var bar: ProgressBar
    private var done = 0
    private var failure: CommandError?

    init(_ bar: ProgressBar) { self.bar = bar }

    /// Notes that some more is done.
    func advance(by count: Int) {
        done += count
        guard failure == nil else { return }
        do throws(CommandError) { try bar.show(done) } catch { failure = error }
    }

    /// Ends the bar.
    ///
    /// - Throws: what kept the bar from being shown.
    func finish() throws(CommandError) {
        if let failure { throw failure }
        try bar.finish()
    }
}
