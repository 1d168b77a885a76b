import BSONStore
import Testing

@testable import StitchSync

/// A wrong row here forgets a local write or what a handler answered.
struct WriteAndResolutionTests {
    static let writes: [LocalWriteFacts] = (0..<512).map { bits in
        LocalWriteFacts(
            existedBefore: bits & 1 != 0, existsAfter: bits & 2 != 0,
            isUnchanged: bits & 4 != 0, hasRecord: bits & 8 != 0,
            baseIsAbsent: bits & 16 != 0, equalsBase: bits & 32 != 0,
            hasOpenAttempt: bits & 64 != 0, mayLandLate: bits & 256 != 0,
            isPaused: bits & 128 != 0)
    }

    static let resolutions: [ResolutionFacts] = (0..<32).map { bits in
        ResolutionFacts(
            answerExists: bits & 1 != 0, remoteExists: bits & 2 != 0,
            answerEqualsRemote: bits & 4 != 0, idMatches: bits & 8 != 0, fits: bits & 16 != 0)
    }

    @Test("every row of a local write is as the kept page says")
    func writesGolden() throws {
        let lines = Self.writes.map { facts in
            row(
                [
                    ("before", "\(facts.existedBefore)"), ("after", "\(facts.existsAfter)"),
                    ("unchanged", "\(facts.isUnchanged)"), ("record", "\(facts.hasRecord)"),
                    ("baseAbsent", "\(facts.baseIsAbsent)"), ("atBase", "\(facts.equalsBase)"),
                    ("attempt", "\(facts.hasOpenAttempt)"), ("late", "\(facts.mayLandLate)"),
                    ("paused", "\(facts.isPaused)"),
                ], LocalWriteDecision.decide(facts).rawValue)
        }
        try expectGolden("decisions/local-write.txt", lines.joined(separator: "\n") + "\n")
    }

    @Test("every row of a handler's answer is as the kept page says")
    func resolutionsGolden() throws {
        let lines = Self.resolutions.map { facts in
            row(
                [
                    ("answer", facts.answerExists ? "document" : "delete"),
                    ("remote", facts.remoteExists ? "there" : "gone"),
                    ("equal", "\(facts.answerEqualsRemote)"),
                    ("id", facts.idMatches ? "same" : "other"), ("fits", "\(facts.fits)"),
                ], ResolutionDecision.decide(facts).rawValue)
        }
        try expectGolden("decisions/resolution.txt", lines.joined(separator: "\n") + "\n")
    }

    @Test("a record that an attempt hangs on is never forgotten", arguments: writes)
    func keepsAttempts(facts: LocalWriteFacts) {
        guard facts.hasOpenAttempt || facts.mayLandLate, facts.hasRecord else { return }
        #expect(LocalWriteDecision.decide(facts) != .forget)
        if facts.hasOpenAttempt { #expect(LocalWriteDecision.decide(facts) != .clearPending) }
    }

    @Test("an answer with another id or too large is never carried out", arguments: resolutions)
    func refusesAnswers(facts: ResolutionFacts) {
        guard facts.answerExists, !(facts.idMatches && facts.fits) else { return }
        let decision = ResolutionDecision.decide(facts)
        #expect(decision == .pauseOtherID || decision == .pauseTooLarge)
    }

    @Test("evidence decides an attempt")
    func evidence() {
        let table = AttemptEvidence.allCases.map { ($0, AttemptDecision.decide($0)) }
        #expect(
            table.map { "\($0.0) -> \($0.1)" } == [
                "noAttempt -> none", "onTop -> adopt", "inHistory -> adopt",
                "notInHistory -> discard", "historyLost -> discardUncertain",
            ])
    }

    @Test("waits grow to a cap and never reach nothing")
    func backoff() {
        let backoff = Backoff(initial: .seconds(1), cap: .seconds(60))
        let longest = (1...10).map { backoff.delay(afterFailures: $0, jitter: 1) }
        #expect(longest.prefix(4) == [.seconds(1), .seconds(2), .seconds(4), .seconds(8)])
        #expect(longest.last == .seconds(60))
        #expect(backoff.delay(afterFailures: 1, jitter: 0) == .milliseconds(500))
        #expect(backoff.delay(afterFailures: .max, jitter: 1) == .seconds(60))
    }
}
