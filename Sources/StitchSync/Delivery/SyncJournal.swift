internal import BSONStore

/// Keeps the newest conflicts and passes, so that a person can see afterwards what happened.
///
/// What passes note is stored with the next conflict or quiet pass, and lost with the process that
/// dies before: nothing in the engine depends on it. A pass that found nothing to do, or fails like
/// the one before it, writes nothing.
final class SyncJournal: Sendable {
    private struct Notes {
        var conflicts: [JournaledConflict] = []
        /// Passes that are not stored yet.
        var passes: [JournaledPass] = []
        /// The errors of the last pass, when it did nothing else.
        var idleErrors: [SyncError.Code]?
    }

    private let notes = Locked(Notes())
    private let conflictsMax: Int

    /// The documents of one conflict that are kept have together at most so many bytes.
    private static let conflictBytesMax = 256 * 1024
    /// Passes that are kept.
    static let passesMax = 200
    /// Passes that wait for a quiet one before they are stored.
    private static let waitingMax = 20

    init(conflictsMax: Int) { self.conflictsMax = conflictsMax }

    /// Notes what became of a conflict, one that is not too large.
    func note(_ conflict: OpenConflict, in namespace: Namespace, _ answer: JournaledConflict.Answer)
    {
        guard conflictsMax > 0 else { return }
        let noted = JournaledConflict(
            namespace: namespace, documentID: conflict.record.documentID, base: conflict.base,
            local: conflict.local, remote: conflict.remote.document,
            baseVersion: conflict.record.version.value,
            remoteVersion: conflict.remote.version.value,
            mayHaveLanded: conflict.mayHaveLanded, answer: answer, time: .now)
        guard noted.byteCount <= Self.conflictBytesMax else { return }
        notes.withLock { notes in
            if notes.conflicts.count >= conflictsMax { notes.conflicts.removeFirst() }
            notes.conflicts.append(noted)
        }
    }

    /// Takes what is to be stored at the end of a pass; `nil` when there is nothing, or it can wait.
    private func take(_ report: SyncPassReport) -> ([JournaledPass], [JournaledConflict])? {
        notes.withLock { notes in
            if !report.isQuiet {
                notes.idleErrors = nil
                notes.passes.append(JournaledPass(time: .now, report: report))
            } else if notes.idleErrors ?? [] != report.errors {
                notes.idleErrors = report.errors
                notes.passes.append(JournaledPass(time: .now, report: report))
            }
            // A commit for each pass would cost a single change a fourth of its time.
            let isDue =
                report.isQuiet && !notes.passes.isEmpty || !notes.conflicts.isEmpty
                || notes.passes.count >= Self.waitingMax
            guard isDue else { return nil }
            defer {
                notes.passes = []
                notes.conflicts = []
            }
            return (notes.passes, notes.conflicts)
        }
    }

    /// Stores what was noted; it is no step of the sync, so that no test stops the engine at it.
    func store(_ report: SyncPassReport, in engine: SyncEngine) async throws {
        guard let (passes, conflicts) = take(report) else { return }
        let conflictsMax = conflictsMax
        let work: @Sendable (WriteTransaction) throws -> Void = { transaction in
            let rows = JournalTable(connection: transaction.connection)
            for pass in passes { try rows.add(pass) }
            for conflict in conflicts { try rows.add(conflict) }
            try rows.trim(conflictsMax: conflictsMax, passesMax: Self.passesMax)
        }
        if engine.probe.commitsOnCallingThread { return try engine.writeOnCallingThread(work) }
        try await engine.store.write(work)
    }
}
