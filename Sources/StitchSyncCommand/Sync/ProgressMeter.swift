/// Adds up what several tasks did and shows it on one progress bar.
actor ProgressMeter {
    /// Is told of the sum whenever it grows.
    typealias Report = @Sendable (Int) throws(CommandError) -> Void

    private var bar: ProgressBar
    private let report: Report?
    private var done = 0
    private var failure: CommandError?

    init(_ bar: ProgressBar, report: Report? = nil) {
        self.bar = bar
        self.report = report
    }

    /// Notes that some more is done.
    func advance(by count: Int) {
        done += count
        guard failure == nil else { return }
        do throws(CommandError) {
            try bar.show(done)
            try report?(done)
        } catch {
            failure = error
        }
    }

    /// Ends the bar.
    ///
    /// - Throws: what kept the bar from being shown, or the report from being made.
    func finish() throws(CommandError) {
        if let failure { throw failure }
        try bar.finish()
    }
}
