internal import BSONStore

/// One pass over some collections: first all pulls, then all pushes.
struct SyncPass {
    /// The part of a pass to run.
    enum Direction {
        case both
        /// Only the read of the remote's history.
        case inboxOnly
    }

    let engine: PassEngine
    /// The collections of the pass; `nil` for all.
    let only: Set<Namespace>?
    let direction: Direction

    /// Runs the pass and returns its report; an error in one collection does not stop the others.
    func run() async throws -> SyncPassReport {
        let (collections, isSetWaiting) = try collections()
        var passes = collections.map { collectionPass($0.namespace, $0.number) }
        do {
            try await run(&passes, isSetWaiting)
        } catch {
            tell(of: passes)
            throw error
        }
        tell(of: passes)
        var report = SyncPassReport()
        for pass in passes {
            let findings = pass.context.findings
            var share = findings.report
            share.errors = findings.errors.map(\.code) + findings.persistedErrors
            report.add(share)
        }
        return report
    }

    private func run(_ passes: inout [CollectionPass], _ isSetWaiting: Bool) async throws {
        var failed: Set<Int> = []
        if direction == .inboxOnly {
            for index in passes.indices {
                _ = try await attempt(&passes[index]) { try await $0.readInbox() }
            }
            return
        }
        for index in passes.indices {
            if try await !attempt(&passes[index], { try await $0.remoteToLocal() }) {
                failed.insert(index)
            }
        }
        if isSetWaiting {
            try await SubscriptionTurns(pass: self).run(&passes, failed)
            return
        }
        for index in passes.indices where !failed.contains(index) {
            _ = try await attempt(&passes[index]) { try await $0.localToRemote() }
        }
    }

    /// Reports errors to the app, even when the pass itself ended early.
    private func tell(of passes: [CollectionPass]) {
        for pass in passes { engine.delivery.report(pass.context.findings.errors) }
        engine.delivery.wake()
    }

    /// A collection and its number in the sync tables.
    private typealias Numbered = (namespace: Namespace, number: Int64)

    /// Returns the collections of the pass; a pending subscription set may concern all of them.
    private func collections() throws -> (collections: [Numbered], isSetWaiting: Bool) {
        let (all, isSetWaiting) = try engine.store.read { transaction in
            let connection = transaction.connection
            let all: [Numbered] = try SyncStateTable(connection: connection).collections()
                .map { (namespace: $0.namespace, number: $0.rowID) }
            return (
                all,
                try SubscriptionTable(connection: connection, cache: engine.sets).isSetWaiting()
            )
        }
        if isSetWaiting && direction == .both { return (all, true) }
        return (all.filter { isMeant($0.namespace) }, false)
    }

    /// Whether the pass includes a collection.
    func isMeant(_ namespace: Namespace) -> Bool { only?.contains(namespace) ?? true }

    private func collectionPass(
        _ namespace: Namespace, _ number: Int64
    ) -> CollectionPass {
        CollectionPass(
            context: PassContext(
                engine: engine, namespace: namespace, remote: engine.remote.collection(namespace),
                configuration: engine.writer.configuration(of: namespace), sessionNumber: number))
    }

    /// Notes that a collection is stopped and reports it once since the start.
    private func note(_ stop: SyncStop, _ pass: CollectionPass) {
        let namespace = pass.context.namespace
        let isTold = engine.reportedStops.withLock { stops in
            defer { stops[namespace] = stop }
            return stops[namespace] == stop
        }
        if isTold {
            pass.context.findings.addPersisted(stop.code)
        } else {
            pass.context.findings.add(stop.error(in: namespace))
        }
    }

    /// Runs one direction and returns whether it succeeded; notes an error of the remote.
    ///
    /// It is not inlined, since Swift 6.3's optimizer crashes on the inlined form.
    @inline(never)
    func attempt(
        _ pass: inout CollectionPass,
        _ direction: (inout CollectionPass) async throws -> Void
    ) async throws -> Bool {
        do {
            try Task.checkCancellation()
            try await direction(&pass)
            return true
        } catch let stopped as CollectionStoppedError {
            note(stopped.stop, pass)
            return false
        } catch let error as RemoteError {
            try Task.checkCancellation()
            pass.context.findings.add(
                SyncError(
                    error.errorClass == .unauthenticated ? .authRequired : .remoteUnavailable,
                    error.description, namespace: pass.context.namespace, underlying: error))
            return false
        }
    }
}
