internal import BSONStore

extension SyncEngine {
    /// Ends the engine: ``run()`` returns, event iterators end, and another engine may sync the file.
    ///
    /// Waits for the pass that is under way; called by a conflict handler, it does not wait, and the
    /// pass is the last one. Later calls that write, sync or wait throw `StoreError` of code `.closed`.
    /// The store stays open: what it holds can still be read, also through the engine's collections.
    /// Closing the store ends the engine as well.
    public func close() async {
        state.withLock { $0.isClosed = true }
        delivery.close()
        changed.notify()
        wake()
        // A handler cannot wait for its pass, which gives the right back at its end.
        guard !Self.passing.contains(ObjectIdentifier(self)) else { return }
        do {
            try await gate.run { noteClosed() }
        } catch {
            // The task is cancelled: the pass that is under way gives the right back.
        }
    }

    /// Whether ``close()`` was called.
    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// - Throws: `StoreError` of code `.closed`, unless a pass runs that began before.
    func checkIsOpen() throws(StoreError) {
        guard isClosed, !Self.passing.contains(ObjectIdentifier(self)) else { return }
        throw StoreError(.closed, "The engine is closed")
    }

    /// Takes the right to sync the store's file, and keeps it while the engine lives and the store is
    /// open.
    func takeLease() throws {
        guard case .file(let path) = store.location else { return }
        try store.checkIsOpen()
        try lease.withLock { (lease) throws(SyncError) in
            if lease == nil { lease = try SyncLease(ofStore: path) }
        }
    }

    /// Notes that the store is closed: who waits for documents or events learns that they will not
    /// come, and another engine may sync the file.
    ///
    /// A pass that is under way stores nothing any more. What it still sends is like a request that
    /// arrives late: its attempt was stored before.
    func noteClosed() {
        lease.withLock { $0 = nil }
        delivery.wake()
        changed.notify()
        wake()
    }

    /// Waits for the pass that is under way and gives the right to sync the store's file back.
    ///
    /// The next pass takes it again. It is given back too when the engine is let go.
    ///
    /// - Throws: `SyncError` of code `.passUnderWay` inside of a conflict handler; `CancellationError`.
    public func release() async throws {
        try checkIsOutsideOfPass()
        try await gate.run { lease.withLock { $0 = nil } }
    }

    /// Who is called by a pass cannot wait for its end.
    func checkIsOutsideOfPass() throws(SyncError) {
        guard Self.passing.contains(ObjectIdentifier(self)) else { return }
        throw SyncError(.passUnderWay, "the pass that called the handler waits for it")
    }
}
