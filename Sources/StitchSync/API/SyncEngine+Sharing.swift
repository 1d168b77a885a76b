internal import BSONStore

// What the device shares with the server: conflicts, and how much waits.
extension SyncEngine {
    /// The longest time that the engine waits for the server to take conflicts.
    private static let sharingLimit = Duration.seconds(10)

    /// Sends the conflicts that wait, after a pass that reached the remote.
    ///
    /// A conflict that the server refuses is removed; after a temporary error a later pass tries again.
    /// Conflicts of a collection that the app does not share any more are removed.
    ///
    /// - Throws: the errors of the store.
    func shareConflicts(after report: SyncPassReport) async throws {
        guard report.reachedRemote, let collector = remote as? any ConflictCollector else { return }
        let configurations = state.withLock { $0.configurations }
        let shared = configurations.filter { $0.value.sharing != nil }
        guard !shared.isEmpty else { return }
        let waiting = try store.read { try SharedConflictTable(connection: $0.connection).all() }
        guard !waiting.isEmpty else { return }
        var finished = waiting.filter {
            configurations[$0.namespace]?.isSet == true && shared[$0.namespace] == nil
        }
        for (namespace, conflicts) in Dictionary(grouping: waiting, by: \.namespace) {
            guard shared[namespace] != nil else { continue }
            if try await isSettled(conflicts, in: namespace, collector) { finished += conflicts }
        }
        let numbers = finished.map(\.number)
        guard !numbers.isEmpty else { return }
        try await writeAside {
            try SharedConflictTable(connection: $0.connection).remove(numbers)
        }
    }

    /// Returns whether the server took or refused the conflicts.
    private func isSettled(
        _ conflicts: [SharedConflictTable.Waiting], in namespace: Namespace,
        _ collector: any ConflictCollector
    ) async throws -> Bool {
        let documents = conflicts.map(\.document)
        do {
            try await RemoteRequests(limit: Self.sharingLimit, clock: clock).send {
                try await collector.share(documents, in: namespace)
            }
            return true
        } catch let error as RemoteError {
            return error.errorClass == .rejected
        }
    }

    /// The longest time that the engine waits for the server to take the numbers.
    private static let reportLimit = Duration.seconds(10)

    /// Tells the server how much waits after a pass that reached it, if that changed.
    ///
    /// The numbers are for operators, so an error of the remote is no error of the pass.
    ///
    /// - Throws: the errors of the store; `CancellationError`.
    func reportBacklog(after report: SyncPassReport) async throws {
        guard report.reachedRemote, let reporter = remote as? any DeviceReporter else { return }
        let known = reportedBacklog.withLock { $0 }
        // A pass without work leaves what was reported, unless that failed.
        guard !report.isQuiet || known != DeviceBacklog() else { return }
        let backlog = try store.read { try DeviceBacklog($0.connection) }
        guard backlog != known else { return }
        // If this fails, the next pass reports it.
        reportedBacklog.withLock { $0 = nil }
        do {
            try await RemoteRequests(limit: Self.reportLimit, clock: clock).send {
                try await reporter.report(backlog)
            }
            reportedBacklog.withLock { $0 = backlog }
        } catch is RemoteError {
            return
        }
    }

    /// Returns what waits, which a new connection tells the server; `nil` if the store is closed or
    /// cannot be read.
    func backlogOfConnection() -> DeviceBacklog? {
        do {
            let backlog = try store.read { try DeviceBacklog($0.connection) }
            reportedBacklog.withLock { $0 = backlog }
            return backlog
        } catch {
            // The numbers are for operators: a connection is opened without them.
            return nil
        }
    }

    /// Runs a transaction that is not a step of sync, so that tests do not stop the engine at it.
    func writeAside(_ work: @escaping @Sendable (WriteTransaction) throws -> Void) async throws {
        if probe.commitsOnCallingThread {
            try writeOnCallingThread(work)
        } else {
            try await store.write(work)
        }
    }
}
