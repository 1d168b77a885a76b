import BSONStore
import Testing

@testable import StitchSync

/// A wrong row here loses what the app wrote, or takes back what it wanted kept.
struct RejectionDecisionTests {
    static let rejections = RejectionFacts.Rule.allCases.flatMap { rule in
        (0..<4).map { bits in
            RejectionFacts(rule: rule, isDenied: bits & 1 != 0, askedOften: bits & 2 != 0)
        }
    }
    static let answers = RejectionAnswerFacts.Answer.allCases.flatMap { answer in
        (0..<4).map { bits in
            RejectionAnswerFacts(
                answer: answer, isUnchanged: bits & 1 != 0, editChangesNothing: bits & 2 != 0)
        }
    }
    static let retries = (0..<16).map { bits in
        RetryFacts(
            wantsDocument: bits & 1 != 0, hadBase: bits & 2 != 0, existsNow: bits & 4 != 0,
            isAtBase: bits & 8 != 0)
    }
    static let views = (0..<32).map { bits in
        ViewWriteFacts(
            hasSubscription: bits & 1 != 0, existedBefore: bits & 2 != 0,
            isSeenBefore: bits & 4 != 0, existsAfter: bits & 8 != 0, isSeenAfter: bits & 16 != 0)
    }

    @Test("every row about refused writes is as the kept page says")
    func golden() throws {
        var lines = Self.rejections.map { facts in
            row(
                [
                    ("rule", facts.rule.rawValue), ("compensating", "\(facts.isDenied)"),
                    ("often", "\(facts.askedOften)"),
                ], RejectionDecision.decide(facts).rawValue)
        }
        lines += Self.answers.map { facts in
            row(
                [
                    ("answer", facts.answer.rawValue),
                    ("since", facts.isUnchanged ? "unchanged" : "changed"),
                    ("edit", facts.editChangesNothing ? "same" : "other"),
                ], RejectionAnswerDecision.decide(facts).rawValue)
        }
        lines += Self.retries.map { facts in
            row(
                [
                    ("wanted", facts.wantsDocument ? "document" : "deletion"),
                    ("base", "\(facts.hadBase)"), ("now", facts.existsNow ? "there" : "gone"),
                    ("atBase", "\(facts.isAtBase)"),
                ], RetryDecision.decide(facts).rawValue)
        }
        try expectGolden("decisions/rejection.txt", lines.joined(separator: "\n") + "\n")
    }

    @Test("every row about writes and the view is as the kept page says")
    func viewGolden() throws {
        let lines = Self.views.map { facts in
            func text(_ exists: Bool, _ isSeen: Bool) -> String {
                exists ? isSeen ? "seen" : "unseen" : isSeen ? "none,seen" : "none"
            }
            return row(
                [
                    ("subscribed", "\(facts.hasSubscription)"),
                    ("before", text(facts.existedBefore, facts.isSeenBefore)),
                    ("after", text(facts.existsAfter, facts.isSeenAfter)),
                ], ViewWriteDecision.decide(facts).rawValue)
        }
        try expectGolden("decisions/view-write.txt", lines.joined(separator: "\n") + "\n")
    }

    @Test("nothing is taken back that the app wants kept, and nobody is asked for ever")
    func laws() {
        for facts in Self.rejections {
            switch RejectionDecision.decide(facts) {
            case .revert: #expect(facts.rule == .revert || facts.isDenied)
            case .pause: #expect(facts.rule != .revert)
            case .ask: #expect(facts.rule == .ask && !facts.askedOften)
            }
        }
        for facts in Self.answers where !facts.isUnchanged {
            #expect(RejectionAnswerDecision.decide(facts) == .void)
        }
        for facts in Self.retries {
            let decision = RetryDecision.decide(facts)
            if decision == .delete { #expect(!facts.wantsDocument) }
            if decision == .merge || decision == .occupied { #expect(facts.existsNow) }
            if decision == .put { #expect(!facts.existsNow || facts.isAtBase) }
            if facts.existsNow, !facts.hadBase, facts.wantsDocument {
                #expect(decision == .occupied)
            }
        }
        for facts in Self.views where facts.hasSubscription && facts.existedBefore {
            let isLegal = [.legal, .legalAndLeaves].contains(ViewWriteDecision.decide(facts))
            #expect(isLegal == facts.isSeenBefore)
        }
    }

    @Test(
        "the cause of every refusal is read as it was written",
        arguments: [
            .noRole, .roleNotSyncable, .writeFilter(isOfResult: false),
            .writeFilter(isOfResult: true), .insertDenied, .deleteDenied, .writeDenied,
            .fieldsDenied(["a", "b.c"]), .outOfView, .noSubscription, .invalid, .tooLarge,
            .notAllowed,
        ] as [CompensatingWrite.Cause])
    func causes(cause: CompensatingWrite.Cause) {
        let write = CompensatingWrite(
            objectName: "items", primaryKey: 1, reason: "why", role: "clerk", cause: cause)
        #expect(CompensatingWrite(reason: "why", details: write.details) == write)
    }

    @Test("ids stand in reasons as their digits, quoted")
    func reasons() throws {
        let facts = ViewWriteFacts(
            hasSubscription: true, existedBefore: false, isSeenBefore: false, existsAfter: true,
            isSeenAfter: false)
        let id = try BSONObjectID("641382026852d9220b2e2bbf")
        let write = CompensatingWrite.judge(facts, of: .objectID(id), in: Namespace("app", "Item"))
        #expect(
            write?.reason == #"write to "641382026852d9220b2e2bbf" in table "Item" not allowed; "#
                + "object is outside of the current query view")
    }

    @Test("a resume token's number is its position or its cluster time")
    func tokenNumbers() {
        #expect(ResumeToken(["position": 12]).number == 12)
        let data = "8265A1B2C3000000012B0229296E04"
        #expect(ResumeToken(["_data": .string(data)]).number == 0x65A1_B2C3_0000_0001)
        #expect(ResumeToken(["_data": "xy"]).number == 0 && ResumeToken([:]).number == 0)
    }
}
