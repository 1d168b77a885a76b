internal import BSONStore

/// Settles looks in savepoints of their own, where something stands in the way of settling them together.
extension SyncTransaction {
    /// Settles looks one by one; what a unique index refuses waits for the others, which may make room
    /// for it.
    func settleIndividually(
        _ looks: [FetchedDocument], evidence: [OperationID: AttemptEvidence],
        mayClaim: Bool
    ) throws -> [SettlementOutcome] {
        let scanned = try scanningForMissingRows(looks)
        var settled = [SettlementOutcome](repeating: .nothing, count: looks.count)
        var open = Array(looks.indices)
        var isLast = false
        while !open.isEmpty {
            var waiting: [Int] = []
            for index in open {
                let outcome = try scanned.settleInSavepoint(
                    looks[index], evidence: evidence, mayClaim: mayClaim, pausesDuplicate: isLast)
                if let outcome { settled[index] = outcome } else { waiting.append(index) }
            }
            isLast = waiting.count == open.count
            open = waiting
        }
        return settled
    }

    /// Settles one look by itself: what is wrong with one document stops that document only (R8).
    ///
    /// - Parameter pausesDuplicate: whether that a unique index refuses the document is wrong with it.
    /// - Returns: `nil` where that is to be found out later.
    func settleInSavepoint(
        _ look: FetchedDocument, evidence: [OperationID: AttemptEvidence],
        mayClaim: Bool,
        pausesDuplicate: Bool = true
    ) throws -> SettlementOutcome? {
        do {
            return try transaction.savepoint {
                try settle(look, evidence: evidence, mayClaim: mayClaim)
            }
        } catch let cause where Self.concernsDocument(cause) {
            resetStaleMark()
            if !pausesDuplicate && (cause as? StoreError)?.code == .duplicateKey { return nil }
            let error = SyncError(
                .unusableDocument, "what the remote holds cannot be kept: \(cause)",
                namespace: namespace, documentID: look.record.documentID, underlying: cause)
            // What was written since the remote was asked is not to be taken back.
            guard var record = try current(look.record) else { return .nothing }
            guard record.revision == look.record.revision else {
                try hint(record)
                return .nothing
            }
            record.pause = PauseReason(error.code, error.message)
            try save(record)
            return .failed(error)
        }
    }

    /// What was wrong is one document, not the store.
    static func concernsDocument(_ error: any Error) -> Bool {
        switch error {
        case is BSONError: true
        case let error as SyncError: error.code != .storeFailed || error.documentID != nil
        case let error as StoreError: !error.concernsFile
        default: false
        }
    }
}
