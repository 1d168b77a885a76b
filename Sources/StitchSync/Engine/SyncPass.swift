internal import BSONStore

/// One pass, on a page: for each collection what is new at the remote, then what is new here.
struct SyncPass {
    /// How much of a pass is run.
    enum Direction {
        case both
        /// Only the remote's history is read.
        case inboxOnly
    }

    let engine: SyncEngine
    /// The collections that the pass is about; `nil` for all.
    let only: Set<Namespace>?
    let direction: Direction

    /// Runs the pass and reports what it did; errors of one collection do not stop the others.
    func run() async throws -> SyncPassReport {
        var passes = try collections().map { collectionPass($0.namespace, $0.number) }
        do {
            try await run(&passes)
        } catch {
            tell(of: passes)
            throw error
        }
        tell(of: passes)
        var report = SyncPassReport()
        for pass in passes {
            var share = pass.report
            share.errors = pass.errors.map(\.code) + pass.toldLater
            report.add(share)
        }
        return report
    }

    private func run(_ passes: inout [CollectionPass]) async throws {
        var failed: Set<Int> = []
        if direction == .inboxOnly {
            for index in passes.indices {
                _ = try await attempt(&passes[index]) { pass in
                    try await pass.spreadAttempts()
                    try await pass.readInbox(looking: false)
                }
            }
            return
        }
        for index in passes.indices {
            if try await !attempt(&passes[index], Self.remoteToLocal) { failed.insert(index) }
        }
        for index in passes.indices where !failed.contains(index) {
            _ = try await attempt(&passes[index], Self.localToRemote)
        }
    }

    /// Tells the app of what went wrong, also when the pass itself ended early.
    private func tell(of passes: [CollectionPass]) {
        for pass in passes { engine.delivery.report(pass.errors) }
        engine.delivery.wake()
    }

    private static func remoteToLocal(_ pass: inout CollectionPass) async throws {
        try await pass.spreadAttempts()
        try await pass.readInbox(looking: true)
        try await pass.lookAtWanted()
        try await pass.lookAtHinted()
    }

    private static func localToRemote(_ pass: inout CollectionPass) async throws {
        do {
            try await pass.sendPending()
        } catch let error as RemoteError {
            try await pass.askAboutRejections()
            throw error
        }
        try await pass.askAboutRejections()
    }

    private func collections() throws -> [(namespace: Namespace, number: Int64)] {
        let all = try engine.store.read { transaction in
            try SyncState(connection: transaction.connection).collections()
                .map { (namespace: $0.namespace, number: $0.rowID) }
        }
        return all.filter { only?.contains($0.namespace) ?? true }
    }

    private func collectionPass(
        _ namespace: Namespace, _ number: Int64
    ) -> CollectionPass {
        CollectionPass(
            engine: engine, namespace: namespace, remote: engine.remote.collection(namespace),
            configuration: engine.state.withLock { $0.configurations[namespace] }
                ?? CollectionConfiguration(), sessionNumber: number)
    }

    /// Runs one direction; an error of the remote is noted and ends it.
    private func attempt(
        _ pass: inout CollectionPass,
        _ direction: (inout CollectionPass) async throws -> Void
    ) async throws -> Bool {
        do {
            try Task.checkCancellation()
            try await direction(&pass)
            return true
        } catch let error as RemoteError {
            try Task.checkCancellation()
            pass.errors.append(
                SyncError(
                    error.errorClass == .unauthenticated ? .authRequired : .remoteUnavailable,
                    error.description, namespace: pass.namespace, underlying: error))
            return false
        }
    }
}
