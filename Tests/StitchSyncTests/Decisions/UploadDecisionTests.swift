import Testing

@testable import StitchSync

/// A wrong row here sends what must not be sent, or forgets what was not sent.
struct UploadDecisionTests {
    static let uploads: [UploadFacts] = PendingChange.allCases.flatMap { pending in
        (0..<64).map { bits in
            UploadFacts(
                pending: pending, isPaused: bits & 1 != 0, hasOpenAttempt: bits & 2 != 0,
                isStale: bits & 4 != 0, isHeldBack: bits & 8 != 0,
                isForeign: bits & 16 != 0, hasPaths: bits & 32 != 0)
        }
    }

    static let outcomes: [UploadOutcomeFacts] = UploadOutcomeFacts.Outcome.allCases.flatMap {
        outcome in
        RejectionDecision.allCases.flatMap { onRejection in
            (0..<16).map { bits in
                UploadOutcomeFacts(
                    outcome: outcome, wasDelete: bits & 1 != 0, localExists: bits & 2 != 0,
                    localUnchanged: bits & 4 != 0, triedOften: bits & 8 != 0,
                    onRejection: onRejection)
            }
        }
    }

    @Test("every row of what to send is as the kept page says")
    func uploadGolden() throws {
        let lines = Self.uploads.map { facts in
            let flags = [
                (facts.isPaused, "paused"), (facts.hasOpenAttempt, "attempt"),
                (facts.isStale, "stale"), (facts.isHeldBack, "resolved"),
                (facts.isForeign, "foreign"), (facts.hasPaths, "paths"),
            ].filter(\.0).map(\.1).joined(separator: ",")
            return row(
                [("pending", facts.pending.rawValue), ("flags", flags.isEmpty ? "-" : flags)],
                UploadDecision.decide(facts).rawValue)
        }
        try expectGolden("decisions/upload.txt", lines.joined(separator: "\n") + "\n")
    }

    @Test("every row of what an answer means is as the kept page says")
    func settlementGolden() throws {
        let lines = Self.outcomes.map { facts in
            row(
                [
                    ("outcome", facts.outcome.rawValue), ("delete", "\(facts.wasDelete)"),
                    ("local", facts.localExists ? "there" : "gone"),
                    ("since", facts.localUnchanged ? "unchanged" : "changed"),
                    ("often", "\(facts.triedOften)"),
                    ("refused", facts.onRejection.rawValue),
                ], UploadSettlement.decide(facts).rawValue)
        }
        try expectGolden("decisions/settlement.txt", lines.joined(separator: "\n") + "\n")
    }

    @Test("nothing is sent for a document that waits", arguments: uploads)
    func waits(facts: UploadFacts) {
        let decision = UploadDecision.decide(facts)
        let mustWait =
            facts.isPaused || facts.hasOpenAttempt || facts.isStale || facts.isHeldBack
            || facts.isForeign
        if mustWait { #expect(decision == .wait || decision == .nothing) }
    }

    @Test("only what the remote took in is confirmed", arguments: outcomes)
    func confirms(facts: UploadOutcomeFacts) {
        switch UploadSettlement.decide(facts) {
        case .confirm, .confirmAndKeepPending, .finishDelete, .finishDeleteAndKeepInsert:
            #expect(facts.outcome == .applied)
        case .fetchAgain: #expect(facts.outcome == .notMatched || facts.outcome == .duplicateKey)
        case .sendTogether: #expect(facts.outcome == .valueTaken)
        case .keepAttempt, .pauseExhausted: #expect(facts.outcome == .retryable)
        case .pauseRejected, .revertRejected, .askRejected:
            #expect(facts.outcome == .rejected)
        }
    }
}
