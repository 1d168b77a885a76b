@testable import BSONStore

/// Writes that wait, without a thread.
final class ListedJobs: WaitingJobs {
    private(set) var jobs: ArraySlice<GroupCommitJob>

    init(_ jobs: [GroupCommitJob]) { self.jobs = jobs[...] }

    var isEmpty: Bool { jobs.isEmpty }

    func popFirst() -> GroupCommitJob? { jobs.popFirst() }

    /// Runs all writes, in as many commits as they need.
    func runAll() {
        while let first = popFirst() { GroupCommitJob.run(first, self) }
    }
}
