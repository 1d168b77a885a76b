package import BSONStore

/// A conflict as it was found, with what became of it: kept for tools, not for the engine.
package struct JournaledConflict: Sendable, Hashable {
    /// What became of a conflict.
    package enum Answer: Sendable, Hashable {
        /// The local edition was kept.
        case useLocal
        /// The remote edition was taken.
        case useRemote
        /// This document was kept.
        case use(BSONDocument)
        /// It was deleted on both sides.
        case delete
        /// The handler or its answer failed for this reason, and the document was paused.
        case failed(String)
        /// There was no handler: it waits.
        case waits
    }

    /// The collection.
    package let namespace: Namespace
    /// The document's `_id`.
    package let documentID: BSONValue
    /// What the remote had confirmed; `nil` where it never held the document.
    package let base: BSONDocument?
    /// The local edition; `nil` for a deletion.
    package let local: BSONDocument?
    /// The remote edition without its version; `nil` where it was deleted.
    package let remote: BSONDocument?
    /// The version field that the base was taken with.
    package let baseVersion: BSONValue?
    /// The version field of the remote edition.
    package let remoteVersion: BSONValue?
    /// The local change may be in the remote's edition already.
    package let mayHaveLanded: Bool
    /// What became of it.
    package let answer: Answer
    /// When it was answered, by the clock of this machine.
    package let time: BSONDatetime
}

/// What a pass did that did something, and when it ended by the clock of this machine.
package struct JournaledPass: Sendable, Hashable {
    /// When it ended.
    package let time: BSONDatetime
    /// What it did; requests and looks are not kept.
    package let report: SyncPassReport

    /// Makes a note of its parts.
    package init(time: BSONDatetime, report: SyncPassReport) {
        self.time = time
        self.report = report
    }
}

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
    func note(_ conflict: OpenConflict, in namespace: Namespace, _ answer: JournaledConflict.Answer) {
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

extension JournaledConflict {
    fileprivate var byteCount: Int {
        let answered = if case .use(let document) = answer { document.byteCount } else { 0 }
        return [base, local, remote].reduce(answered) { $0 + ($1?.byteCount ?? 0) }
    }
}
