/// The sum of the progress of several tasks, on one progress bar.
actor ProgressMeter {
    /// Receives the sum whenever it grows.
    typealias Report = @Sendable (Int) throws(CommandError) -> Void

    private var bar: ProgressBar
    private let report: Report?
    private var done = 0
    private var failure: CommandError?

    init(_ bar: ProgressBar, report: Report? = nil) {
        self.bar = bar
        self.report = report
    }

    /// Adds to the sum.
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
    /// - Throws: an error of the bar or of the report.
    func finish() throws(CommandError) {
        if let failure { throw failure }
        try bar.finish()
    }
}
