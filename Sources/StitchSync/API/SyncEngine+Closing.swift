internal import BSONStore

extension SyncEngine {
    /// Ends the engine, its event iterators and ``run()``; another engine may then sync the file.
    ///
    /// Waits for the running pass, and for deliveries, so that a store that is closed next leaves
    /// no log beside its file. A listener's closure that is under way may take at most
    /// ``SyncLimits/closeTimeout``; events that were not delivered are delivered after the next
    /// start. A conflict handler may call it; then it does not wait, and that pass is the last one.
    /// A listener may call it, too; then it does not wait for deliveries. Later calls that write,
    /// sync or wait throw `StoreError` of code `.closed`. The store stays open and can still be
    /// read, also through the engine's collections.
    /// Closing the store ends the engine as well.
    public func close() async {
        state.withLock { $0.isClosed = true }
        delivery.close()
        changed.notify()
        wake()
        // A handler cannot wait for its own pass; that pass releases the lease at its end.
        guard !RunningPass.engines.contains(ObjectIdentifier(self)) else { return }
        await gate.runAlways { noteClosed() }
        await waitForDelivery { [runs] in
            if !EventDelivery.isInDelivery { await runs.waitForEnd() }
        }
    }

    /// Ends the deliveries of an engine whose store is closed next, so that it leaves no log beside its
    /// file.
    func endDelivery() async {
        delivery.close(endsIterators: false)
        await waitForDelivery {}
    }

    /// Waits for the deliveries under way, and for something else, at most ``SyncLimits/closeTimeout``.
    private func waitForDelivery(and more: @escaping @Sendable () async -> Void) async {
        do {
            try await withTimeout(limits.closeTimeout, clock: clock) { [delivery] in
                await delivery.waitForEnd()
                await more()
            }
        } catch {
            // A listener does not return: its event is delivered again after the next start.
        }
    }

    /// Whether the app closed the engine.
    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Whether the app closed neither the engine nor its store.
    var isOpen: Bool { !isClosed && !store.isClosed }

    /// Checks that the engine is open.
    ///
    /// - Throws: `StoreError` of code `.closed`, unless the caller is part of a pass that began
    ///   earlier.
    func checkIsOpen() throws(StoreError) {
        guard isClosed, !RunningPass.engines.contains(ObjectIdentifier(self)) else { return }
        throw StoreError(.closed, "The engine is closed")
    }

    /// Acquires the lease on the store's file and holds it while the engine lives and the store is
    /// open.
    func takeLease() throws {
        guard case .file(let path) = store.location else { return }
        try store.checkIsOpen()
        try lease.withLock { (lease) throws(SyncError) in
            if lease == nil { lease = try SyncLease(ofStore: path) }
        }
    }

    /// Wakes all waiting calls after the store was closed and releases the lease on its file.
    ///
    /// A running pass stores nothing any more. A write that it still sends counts as a request that
    /// arrives late: its attempt was stored before.
    func noteClosed() {
        lease.withLock { $0 = nil }
        files.close()
        delivery.wake()
        changed.notify()
        wake()
    }

    /// Waits for the running pass and releases the lease on the store's file.
    ///
    /// The next pass acquires the lease again. Deallocating the engine releases it, too.
    ///
    /// - Throws: `SyncError` of code `.passUnderWay` inside a conflict handler;
    ///   `CancellationError`.
    public func release() async throws {
        try checkIsOutsideOfPass()
        try await gate.run { lease.withLock { $0 = nil } }
    }

    /// Checks that no pass called this code, which could not wait for the end of that pass.
    func checkIsOutsideOfPass() throws(SyncError) {
        guard RunningPass.engines.contains(ObjectIdentifier(self)) else { return }
        throw SyncError(.passUnderWay, "a conflict handler cannot start a pass or close its engine")
    }
}
