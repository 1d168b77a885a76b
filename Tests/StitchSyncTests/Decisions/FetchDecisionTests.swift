import Testing

@testable import StitchSync

/// A wrong row here overwrites a remote change, or asks the app about its own write.
struct FetchDecisionTests {
    static let rows: [FetchFacts] = FetchFacts.Remote.allCases.flatMap { remote in
        FetchFacts.Evidence.allCases.flatMap { evidence in
            PendingChange.allCases.flatMap { pending in
                bools.flatMap { versionSame in
                    bools.flatMap { contentSame in
                        bools.flatMap { outcomeSame in
                            bools.map { mayClaim in
                                FetchFacts(
                                    remote: remote, evidence: evidence, versionSame: versionSame,
                                    contentSame: contentSame, pending: pending,
                                    outcomeSame: outcomeSame, mayClaim: mayClaim)
                            }
                        }
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
                    ("remote", facts.remote.rawValue), ("evidence", facts.evidence.rawValue),
                    ("pending", facts.pending.rawValue),
                    ("version", facts.versionSame ? "same" : "other"),
                    ("content", facts.contentSame ? "same" : "other"),
                    ("outcome", facts.outcomeSame ? "same" : "other"),
                    ("claim", facts.mayClaim ? "may" : "no"),
                ], FetchDecision.decide(facts).rawValue)
        }
        try expectGolden("decisions/fetch.txt", lines.joined(separator: "\n") + "\n")
    }

    @Test("a conflict needs a pending change, new content and different outcomes", arguments: rows)
    func conflict(facts: FetchFacts) {
        guard FetchDecision.decide(facts) == .conflict else { return }
        #expect(facts.pending != .none && !facts.contentSame && !facts.outcomeSame)
    }

    @Test("a pending change is never overwritten without a conflict", arguments: rows)
    func keepsPending(facts: FetchFacts) {
        guard facts.pending != .none, !facts.outcomeSame else { return }
        switch FetchDecision.decide(facts) {
        case .take, .takeForeign, .removeLocal, .complete, .completeDelete:
            Issue.record("\(facts) loses the pending change")
        case .nothing, .claim, .listForeign, .recordVersion, .conflict, .explain: break
        }
    }

    @Test("a local document is removed only when there is evidence of a delete", arguments: rows)
    func removal(facts: FetchFacts) {
        let decision = FetchDecision.decide(facts)
        guard decision == .removeLocal || decision == .completeDelete else { return }
        #expect(facts.remote == .absent)
        // What is deleted on both sides is not here any more.
        #expect(facts.evidence == .deleted || facts.pending != .none)
    }

    @Test("evidence of a delete counts only where there is no document", arguments: rows)
    func evidence(facts: FetchFacts) {
        guard facts.remote != .absent else { return }
        var other = facts
        other.evidence = facts.evidence == .none ? .deleted : .none
        #expect(FetchDecision.decide(facts) == FetchDecision.decide(other))
    }

    @Test("what the remote holds equal to the base changes nothing", arguments: rows)
    func quiet(facts: FetchFacts) {
        guard facts.versionSame, facts.contentSame else { return }
        #expect(FetchDecision.decide(facts) == .nothing)
    }
}

let bools = [false, true]
