internal import BSONStore

/// The settlement of fetched documents in savepoints of their own, after it failed for all
/// together.
extension SyncTransaction {
    /// Settles fetched documents one by one.
    ///
    /// A document that a unique index refuses waits for the others, which may release the value.
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

    /// Settles one fetched document in a savepoint: an error stops that document only (R8).
    ///
    /// - Parameter pausesDuplicate: whether a refusal by a unique index pauses the document.
    /// - Returns: `nil` for such a document where it does not.
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
            // A write since the request must not be reverted.
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

    /// Returns whether an error concerns one document, not the store.
    static func concernsDocument(_ error: any Error) -> Bool {
        switch error {
        case is BSONError: true
        case let error as SyncError: error.code != .storeFailed || error.documentID != nil
        case let error as StoreError: !error.concernsFile
        default: false
        }
    }
}
