import Testing

@testable import StitchSync

/// A wrong row here believes another remote, and deletes what that one lacks.
struct IdentityDecisionTests {
    static let rows: [IdentityFacts] = IdentityFacts.Answer.allCases.flatMap { answer in
        IdentityFacts.Adopted.allCases.flatMap { adopted in
            bools.flatMap { holdsConfirmed in
                bools.flatMap { holdsPending in
                    bools.map { isStopped in
                        IdentityFacts(
                            answer: answer, adopted: adopted, holdsConfirmed: holdsConfirmed,
                            holdsPending: holdsPending, isStopped: isStopped)
                    }
                }
            }
        }
    }

    @Test("every row is as the kept page says")
    func golden() throws {
        let lines = Self.rows.map { facts in
            row(
                [
                    ("answer", facts.answer.rawValue), ("adopted", facts.adopted.rawValue),
                    ("confirmed", facts.holdsConfirmed ? "some" : "none"),
                    ("pending", facts.holdsPending ? "some" : "none"),
                    ("stopped", facts.isStopped ? "yes" : "no"),
                ], IdentityDecision.decide(facts).rawValue)
        }
        try expectGolden("decisions/identity.txt", lines.joined(separator: "\n") + "\n")
    }

    @Test("no other remote is adopted unseen where documents were confirmed", arguments: rows)
    func adopts(facts: IdentityFacts) {
        guard facts.holdsConfirmed, facts.answer == .other || facts.answer == .notMade else {
            return
        }
        let decision = IdentityDecision.decide(facts)
        #expect(decision != .adopt && decision != .goOn)
    }

    @Test("a stop ends by itself only where the remote is the one from before", arguments: rows)
    func stays(facts: IdentityFacts) {
        guard facts.isStopped else { return }
        #expect(
            IdentityDecision.decide(facts) == (facts.answer == .same ? .resume : .stayStopped))
    }
}
