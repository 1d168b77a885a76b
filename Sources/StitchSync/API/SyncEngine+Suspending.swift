internal import BSONStore

extension SyncEngine {
    /// Whether ``suspend()`` was called, and ``resume()`` not yet.
    public var isSuspended: Bool { state.withLock { $0.isSuspended } }

    /// Suspends the engine, so that the system may stop the process at any time.
    ///
    /// Waits for the running pass, whose next request fails as if the engine were offline, and
    /// releases the lease on the store's file. Until ``resume()``, ``run()`` starts no pass and
    /// watches no remote. Reads and writes of the store continue, and changes queue. Another engine,
    /// for example that of an app extension, may sync the file meanwhile.
    ///
    /// An app on iOS calls it when it enters the background: the system ends a suspended process
    /// that holds a lock in the folder of an app group (`0xdead10cc`). See Docs/APPLE.md.
    ///
    /// It does so also in a cancelled task, since the system allows no other time.
    ///
    /// - Throws: `SyncError` of code `.passUnderWay` inside a conflict handler. The engine is suspended
    ///   all the same: its pass releases the lease at its end.
    public func suspend() async throws {
        state.withLock { $0.isSuspended = true }
        // Ends the watches of remotes.
        passes.notify()
        try checkIsOutsideOfPass()
        await gate.runAlways { lease.withLock { $0 = nil } }
    }

    /// Resumes the engine after ``suspend()``; ``run()`` starts a pass at once.
    ///
    /// The engine keeps nothing from before that another process may have changed: each pass reads
    /// the records and the subscriptions anew.
    public func resume() {
        state.withLock { $0.isSuspended = false }
        passes.notify()
        wake()
        files.wakes.notify()
    }
}
