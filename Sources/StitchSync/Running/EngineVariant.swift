#if ENGINE_VARIANTS
    package import BSONStore

    /// Wrong engines, each with one rule left out, which the simulation must catch.
    ///
    /// They are there only where the compiler is told so (`make simulate-wrong`); the library that apps
    /// embed has none of them.
    package enum EngineVariant: String, CaseIterable, Sendable {
        /// A local write is reported done while it is in memory only.
        case acknowledgedBeforeStored
        /// What a failed read was to look at is forgotten.
        case failedReadForgotten
        /// A server's error ends the queued change.
        case errorClearsQueue
        /// A gap in the history is passed over.
        case noScanAfterGap
        /// A remote edition counts only when its counter grew.
        case orderInsteadOfEquality
        /// Document and queue are stored in two transactions.
        case twoTransactions
        /// A document is claimed whatever its version is by then.
        case unguardedClaim
        /// Attempts are not remembered.
        case noAttemptRecord
        /// An attempt is looked for only in the document, not in the history.
        case attemptOnlyOnTop
        /// The old values of what is written are no condition.
        case noOldValues
        /// An attempt is known by its version, not by its name.
        case lineageInsteadOfName
        /// A look that is older than the evidence beside it counts.
        case lookOlderThanEvidence
        /// A handler's answer is kept although the app wrote meanwhile.
        case answerOverWrite
        /// The answer to an attempt settles what the app wrote meanwhile, too.
        case answerSettlesAll
        /// A document that a look does not find is taken for deleted.
        case absenceBelieved
        /// A document that the remote deleted goes without an event.
        case noEventOfRemoval
        /// What leaves the view goes although a change of it waits.
        case evictionOverPending
        /// What leaves the view goes without an event.
        case evictionWithoutEvent
        /// What changes while a set's documents come in is not looked at.
        case changesPassedWhileStaging
        /// What is kept aside stays there when a look shows another edition.
        case asideKept
        /// A write that is taken back is not kept among the rejected ones.
        case rejectedNotKept
        /// A document that was given up here is not looked for at the remote.
        case givenUpNotLookedFor
        /// A row that is missing is sent as a delete, though nobody deleted the document.
        case missingRowsSent
        /// A remote that says that it is another one is believed.
        case identityIgnored

        /// The variant that is on.
        package static let current = Locked<EngineVariant?>(nil)

        /// Whether it is this one.
        var isOn: Bool { Self.current.withLock { $0 == self } }
    }
#endif
