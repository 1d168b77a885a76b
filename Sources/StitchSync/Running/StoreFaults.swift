internal import BSONStore

/// The report of a store that passes cannot use.
///
/// A store that cannot be written for a while, such as on a full disk, is reported when that begins, once for
/// each other cause, and once when it is over. While another engine syncs the file, that is reported once.
final class StoreFaults: Sendable {
    private struct State {
        /// The cause that was reported.
        var cause: StoreError.Code?
        /// The number of commits when the last write failed.
        var commits = 0
        /// Whether another engine syncs the file.
        var isInUse = false
    }

    private let state = Locked(State())
    private let report: @Sendable (SyncError) -> Void

    init(report: @escaping @Sendable (SyncError) -> Void) { self.report = report }

    /// Notes a failed pass.
    func note(_ error: StoreError, commits: Int) {
        let isNew = state.withLock { state in
            defer { (state.cause, state.commits) = (error.code, commits) }
            return state.cause != error.code
        }
        guard isNew else { return }
        report(
            SyncError(
                .storeFailed, "the store cannot be used, and passes keep trying: \(error.message)",
                underlying: error))
    }

    /// Notes a pass that did not run, since another engine syncs the file.
    func noteInUse(_ error: SyncError) {
        let isNew = state.withLock { state in
            defer { state.isInUse = true }
            return !state.isInUse
        }
        if isNew { report(error) }
    }

    /// Notes a pass that the store did not fail; only a commit proves that it can be written.
    func notePass(commits: Int) {
        let isOver = state.withLock { state in
            state.isInUse = false
            guard state.cause != nil, commits > state.commits else { return false }
            state.cause = nil
            return true
        }
        if isOver { report(SyncError(.storeRecovered, "the store can be written again")) }
    }
}
