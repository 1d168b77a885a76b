internal import BSONStore

/// The counts, errors and documents that the steps of one collection's pass found.
final class PassFindings: Sendable {
    private struct State {
        var report = SyncPassReport()
        var errors: [SyncError] = []
        var reportedCodes: [SyncError.Code] = []
        var missing: [BSONValue] = []
        var hidden: [BSONValue] = []
        var heldBack: Set<Int64> = []
        var reverted: [BSONValue] = []
        var postponed: [BSONValue] = []
        var refusal: RemoteError?
        var isCut = false
    }

    private let state = Locked(State())

    /// The counts so far.
    var report: SyncPassReport { state.withLock { $0.report } }

    /// Errors to report to the app, after the commit that caused them.
    var errors: [SyncError] { state.withLock { $0.errors } }

    /// The codes of errors that only the report lists: stored ones, which are delivered until a
    /// listener has handled them, and those that the app caused on purpose.
    var reportedCodes: [SyncError.Code] { state.withLock { $0.reportedCodes } }

    /// Rows of documents whose conflict was resolved in this pass; the next pass uploads the
    /// results.
    var heldBack: Set<Int64> { state.withLock { $0.heldBack } }

    /// The error with which the remote refused to let the collection be read or written at all.
    var refusal: RemoteError? { state.withLock { $0.refusal } }

    /// Notes that the remote refused a request, so that the collection's part of the pass ended.
    func noteRefusal(_ error: RemoteError) { state.withLock { $0.refusal = error } }

    /// Whether the collection is stopped, or could not be read for some time, so that its writes are not
    /// waited for.
    var isCut: Bool { state.withLock { $0.isCut } }

    /// Notes that the collection's writes are not waited for.
    func noteCut() { state.withLock { $0.isCut = true } }

    /// Changes the counts.
    func count(_ change: (inout SyncPassReport) -> Void) {
        state.withLock { change(&$0.report) }
    }

    /// Adds an error for the app.
    func add(_ error: SyncError) { state.withLock { $0.errors.append(error) } }

    /// Adds errors for the app.
    func add(contentsOf errors: [SyncError]) { state.withLock { $0.errors += errors } }

    /// Adds the code of an error that only the report lists.
    func addToReport(_ code: SyncError.Code) {
        state.withLock { $0.reportedCodes.append(code) }
    }

    /// Notes a document that a fetch found missing without evidence of a delete.
    func noteMissing(_ id: BSONValue) { state.withLock { $0.missing.append(id) } }

    /// Notes a document with a pending change that a fetch did not find among those that the user
    /// sees; whether it exists is unknown.
    func noteHidden(_ id: BSONValue) { state.withLock { $0.hidden.append(id) } }

    /// Whether missing or hidden documents are noted.
    var hasAbsences: Bool { state.withLock { !$0.missing.isEmpty || !$0.hidden.isEmpty } }

    /// Returns the noted hidden documents and forgets them.
    func takeHidden() -> [BSONValue] {
        state.withLock { state in
            defer { state.hidden = [] }
            return state.hidden
        }
    }

    /// Returns the noted missing documents and forgets them.
    func takeMissing() -> [BSONValue] {
        state.withLock { state in
            defer { state.missing = [] }
            return state.missing
        }
    }

    /// Notes a fetched document whose unique value another document has, which may release it.
    func notePostponed(_ id: BSONValue) { state.withLock { $0.postponed.append(id) } }

    /// Returns the noted postponed documents and forgets them.
    func takePostponed() -> [BSONValue] {
        state.withLock { state in
            defer { state.postponed = [] }
            return state.postponed
        }
    }

    /// Holds back the upload of a document whose conflict was resolved, until the next pass
    /// (`PrepareUpload` reads ``heldBack``).
    func holdBack(_ row: Int64) { state.withLock { _ = $0.heldBack.insert(row) } }

    /// Notes a document whose change was reverted, and which may be older than the remote's.
    func noteReverted(_ id: BSONValue) { state.withLock { $0.reverted.append(id) } }

    /// Returns the noted reverted documents and forgets them.
    func takeReverted() -> [BSONValue] {
        state.withLock { state in
            defer { state.reverted = [] }
            return state.reverted
        }
    }
}

extension PassFindings {
    /// Notes a change that was refused here as one that the remote refused.
    func note(_ refused: OutOfViewChange, in namespace: Namespace) {
        note(
            UploadSettlement(refused.decision), of: refused.documentID, in: namespace,
            .failed(refused.error))
    }

    /// Counts the settlement of an upload, and adds its error for the app where none is stored: those of
    /// denied writes are in the store (`SettleRejection`).
    func note(
        _ settlement: UploadSettlement, of documentID: BSONValue, in namespace: Namespace,
        _ outcome: RemoteWriteOutcome
    ) {
        switch settlement {
        case .confirm, .confirmAndKeepPending, .finishDelete, .finishDeleteAndKeepInsert:
            count { $0.uploaded += 1 }
        case .fetchAgain, .sendTogether, .keepAttempt: break
        case .revertRejected:
            count { $0.reverted += 1 }
            addToReport(.compensatingWrite)
        case .askRejected: count { $0.paused += 1 }
        case .pauseRejected, .pauseExhausted:
            count { $0.paused += 1 }
            guard case .failed(let error) = outcome else { return }
            if settlement == .pauseRejected, error.compensatingWrite != nil {
                addToReport(.rejected)
                return
            }
            add(settlement.error(error, namespace, documentID))
        }
    }
}
