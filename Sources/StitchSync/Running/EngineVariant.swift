#if ENGINE_VARIANTS
    package import BSONStore

    /// The wrong engines, each without one rule, which the simulation must detect.
    ///
    /// They exist only in builds with a compiler flag (`make simulate-wrong`), never in the library
    /// that apps embed.
    package enum EngineVariant: String, CaseIterable, Sendable {
        /// A local write is reported as done while it is in memory only.
        case acknowledgedBeforeStored
        /// A failed fetch removes the stale marks.
        case failedReadForgotten
        /// A server's error ends the pending change.
        case errorClearsQueue
        /// A gap in the history is ignored.
        case noScanAfterGap
        /// A remote edition counts only with a greater counter.
        case orderInsteadOfEquality
        /// Document and record are stored in two transactions.
        case twoTransactions
        /// A document without a version gets one even if it has another version meanwhile.
        case unguardedClaim
        /// Attempts are not stored.
        case noAttemptRecord
        /// The evidence of an attempt is the document only, not the history.
        case attemptOnlyOnTop
        /// The condition of a write lacks the old values.
        case noOldValues
        /// An attempt is identified by its version, not by its name.
        case lineageInsteadOfName
        /// A fetched document counts although it is older than the evidence.
        case lookOlderThanEvidence
        /// A handler's answer is stored although the app wrote meanwhile.
        case answerOverWrite
        /// The response to an attempt settles later writes of the app, too.
        case answerSettlesAll
        /// A document that a fetch does not find counts as deleted.
        case absenceBelieved
        /// A remote delete causes no event.
        case noEventOfRemoval
        /// A document that leaves the view is evicted although it has a pending change.
        case evictionOverPending
        /// An eviction causes no event.
        case evictionWithoutEvent
        /// Changes during the download of a set's documents are ignored.
        case changesPassedWhileStaging
        /// A staged document stays although a fetch shows a newer edition.
        case asideKept
        /// A reverted write is not kept among the rejected ones.
        case rejectedNotKept
        /// An abandoned document is not fetched from the remote.
        case givenUpNotLookedFor
        /// A missing row is uploaded as a delete, although the document was not deleted.
        case missingRowsSent
        /// A remote with another identity is trusted.
        case identityIgnored

        /// The active variant; `nil` for the right engine.
        package static let current = Locked<EngineVariant?>(nil)

        /// Whether this variant is active.
        var isOn: Bool { Self.current.withLock { $0 == self } }
    }
#endif
