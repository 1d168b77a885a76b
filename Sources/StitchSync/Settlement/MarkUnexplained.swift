internal import BSONStore

/// The marks of documents that are missing at the remote without evidence of a delete.
struct MarkUnexplained {
    let sync: SyncTransaction

    /// Notes the reason why a document is missing.
    ///
    /// - Returns: whether the document is unexplained now.
    func mark(_ old: SyncRecord, isDeleted: Bool) throws -> Bool {
        guard var record = try sync.record(old.documentID), record.isSame(as: old), record.isMissing
        else { return false }
        guard !isDeleted, AbsenceCause(staleMark: record.staleMark) != .deleted else {
            try sync.markStale(record, .deleted)
            return false
        }
        record.pause = .unexplainedAbsence
        record.staleMark = 0
        try sync.save(record)
        return true
    }

    /// Notes why a document with a pending change is not among those that the user sees: it was
    /// deleted, or else it left the user's view.
    func markHidden(_ old: SyncRecord, isDeleted: Bool) throws {
        guard let record = try sync.record(old.documentID), record.isSame(as: old),
            record.isHidden
        else { return }
        try sync.markStale(record, isDeleted ? .deleted : .leftView)
    }

    /// Ends the pause of an unexplained document after news about it.
    func lift(_ record: SyncRecord, _ cause: AbsenceCause? = nil) throws {
        var record = record
        record.pause = nil
        try sync.markStale(try sync.save(record), cause)
    }

    /// Applies the app's decision to unexplained documents; others do not change.
    ///
    /// - Returns: the number of these documents.
    @discardableResult
    func resolve(
        _ answer: UnexplainedAnswer, among ids: [BSONValue]
    ) throws -> Int {
        var count = 0
        for id in ids {
            guard var record = try sync.record(id), record.isUnexplained else { continue }
            count += 1
            switch answer {
            case .keep: continue
            case .remove: try lift(record, .deleted)
            case .upload:
                record.clearBase(hasLocal: try sync.local(id) != nil)
                record.pause = nil
                try sync.makeStale(&record)
                try sync.save(record)
            }
        }
        return count
    }
}

extension SyncRecord {
    /// Whether a fetch found the confirmed document missing for a reason that is not settled.
    var isMissing: Bool {
        base != .absent && !isPending && attempt == nil && pause == nil && staleMark > 0
    }

    /// Whether a fetch did not find the changed document among those that the user sees, and the
    /// history did not tell why.
    var isHidden: Bool {
        base != .absent && isPending && pause == nil && staleMark > 0
            && AbsenceCause(staleMark: staleMark) == .nothing
    }

    /// Makes the local document one that no remote has confirmed.
    mutating func clearBase(hasLocal: Bool) {
        attempt = nil
        clearUnresolved()
        failures = 0
        (base, version, isPending) = (.absent, .absent, hasLocal)
    }
}

extension PauseReason {
    /// The reason of an unexplained document; constant, so that SQL can search for its bytes.
    static let unexplainedAbsence = PauseReason(
        .unexplainedAbsence,
        "the document is missing at the remote, and there is no evidence that it was deleted")
}
