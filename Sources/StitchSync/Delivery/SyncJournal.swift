internal import BSONStore

/// The journal of the newest conflicts and passes, for people and tools.
///
/// Entries are stored with the next conflict or quiet pass. A crash before loses them: nothing in
/// the engine depends on them. A pass that found nothing to do, or failed like the one before, adds
/// no entry.
final class SyncJournal: Sendable {
    private struct Notes {
        var conflicts: [JournaledConflict] = []
        /// The passes that are not stored yet.
        var passes: [JournaledPass] = []
        /// The errors of the last pass, when it did nothing else.
        var idleErrors: [SyncError.Code]?
    }

    private let notes = Locked(Notes())
    private let conflictsMax: Int

    /// The maximum number of bytes of one journaled conflict's documents.
    private static let conflictBytesMax = 256 * 1024
    /// The number of stored passes.
    static let passesMax = 200
    /// The maximum number of passes that wait to be stored.
    private static let waitingMax = 20

    init(conflictsMax: Int) { self.conflictsMax = conflictsMax }

    /// Notes the outcome of a conflict unless it is too large.
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

    /// Returns the entries to store after a pass; `nil` when there are none or they can wait.
    private func take(_ report: SyncPassReport) -> ([JournaledPass], [JournaledConflict])? {
        notes.withLock { notes in
            if !report.isQuiet {
                notes.idleErrors = nil
                notes.passes.append(JournaledPass(time: .now, report: report))
            } else if notes.idleErrors ?? [] != report.errors {
                notes.idleErrors = report.errors
                notes.passes.append(JournaledPass(time: .now, report: report))
            }
            // A commit after each pass would take a fourth of the time of a single change.
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

    /// Stores the entries that are due.
    ///
    /// - Parameter write: runs a transaction. It is not a step of sync, so that tests do not stop
    ///   the engine at it.
    func store(
        _ report: SyncPassReport,
        write: (@escaping @Sendable (WriteTransaction) throws -> Void) async throws -> Void
    ) async throws {
        guard let (passes, conflicts) = take(report) else { return }
        let conflictsMax = conflictsMax
        try await write { transaction in
            let rows = JournalTable(connection: transaction.connection)
            for pass in passes { try rows.add(pass) }
            for conflict in conflicts { try rows.add(conflict) }
            try rows.trim(conflictsMax: conflictsMax, passesMax: Self.passesMax)
        }
    }
}
