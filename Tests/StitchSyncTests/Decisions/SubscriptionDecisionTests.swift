import BSONStore
import Testing

@testable import StitchSync

/// A wrong row here evicts what is claimed, or tells of documents that are not here.
struct SubscriptionDecisionTests {
    static let states: [SubscriptionState] = [
        .pending, .bootstrapping, .complete, .error("no"), .superseded,
    ]
    static let events: [SubscriptionEvent] = [
        .bootstrapBegan, .bootstrapCancelled, .bootstrapApplied, .refused("bad query"),
    ]
    static let orders: [SubscriptionOrderFacts] = (0..<32).map { bits in
        SubscriptionOrderFacts(
            isBootstrapping: bits & 1 != 0, isOvertaken: bits & 16 != 0,
            hasUnaskedSet: bits & 2 != 0, hasEarlierWrites: bits & 4 != 0,
            hasLaterWrites: bits & 8 != 0)
    }
    static let heldFacts = HeldQueryFacts.Answer.allCases.flatMap { answer in
        (0..<4).map { bits in
            HeldQueryFacts(
                isInSet: bits & 1 != 0, answer: answer, hasFormerQuery: bits & 2 != 0)
        }
    }
    static let memberships: [MembershipFacts] = MembershipFacts.Remote.allCases.flatMap { remote in
        (0..<16).map { bits in
            MembershipFacts(
                isHeld: bits & 1 != 0, hasPendingChange: bits & 2 != 0,
                isKeptByID: bits & 4 != 0, isMatchedByQuery: bits & 8 != 0, remote: remote)
        }
    }

    @Test("every state goes on after every event as the kept page says")
    func statesGolden() throws {
        let lines = Self.states.flatMap { state in
            Self.events.map { event in
                row(
                    [("state", "\(state)"), ("event", "\(event)")],
                    "\(SubscriptionDecision.decide(state, event))")
            }
        }
        try expectGolden("decisions/subscription.txt", lines.joined(separator: "\n") + "\n")
    }

    @Test("who waits for a state is told as the kept page says")
    func waitsGolden() throws {
        let lines = Self.states.flatMap { state in
            Self.states.map { wanted in
                row(
                    [("wanted", "\(wanted)"), ("state", "\(state)")], "\(state.wait(for: wanted))")
            }
        }
        try expectGolden("decisions/subscription-wait.txt", lines.joined(separator: "\n") + "\n")
    }

    @Test("every row of what is sent next is as the kept page says")
    func ordersGolden() throws {
        let lines = Self.orders.map { facts in
            row(
                [
                    ("bootstrapping", "\(facts.isBootstrapping)"),
                    ("overtaken", "\(facts.isOvertaken)"), ("set", "\(facts.hasUnaskedSet)"),
                    ("earlier", "\(facts.hasEarlierWrites)"),
                    ("later", "\(facts.hasLaterWrites)"),
                ], SubscriptionOrder.decide(facts).rawValue)
        }
        try expectGolden("decisions/subscription-order.txt", lines.joined(separator: "\n") + "\n")
    }

    @Test("every row of what a subscription keeps after an answer is as the kept page says")
    func heldGolden() throws {
        let lines = Self.heldFacts.map { facts in
            row(
                [
                    ("inSet", "\(facts.isInSet)"), ("answer", facts.answer.rawValue),
                    ("former", "\(facts.hasFormerQuery)"),
                ], HeldQueryDecision.decide(facts).rawValue)
        }
        try expectGolden("decisions/held-query.txt", lines.joined(separator: "\n") + "\n")
    }

    @Test("a refusal takes no documents away, and brings none", arguments: heldFacts)
    func refusalChangesNothing(facts: HeldQueryFacts) {
        guard facts.isInSet, facts.answer != .documents else { return }
        #expect((HeldQueryDecision.decide(facts) == .keepFormer) == facts.hasFormerQuery)
        #expect(HeldQueryDecision.decide(facts) != .hold)
    }

    @Test("every row of what is on the device is as the kept page says")
    func membershipGolden() throws {
        let lines = Self.memberships.map { facts in
            row(
                [
                    ("remote", facts.remote.rawValue), ("held", "\(facts.isHeld)"),
                    ("pending", "\(facts.hasPendingChange)"), ("id", "\(facts.isKeptByID)"),
                    ("query", "\(facts.isMatchedByQuery)"),
                ], MembershipDecision.decide(facts).rawValue)
        }
        try expectGolden("decisions/membership.txt", lines.joined(separator: "\n") + "\n")
    }

    @Test("a change that waits is never lost by leaving a query", arguments: memberships)
    func keepsPending(facts: MembershipFacts) {
        guard facts.hasPendingChange else { return }
        #expect(MembershipDecision.decide(facts) == .keepPending)
    }

    @Test("leaving is never told as a delete, nor a delete as leaving", arguments: memberships)
    func tellsApart(facts: MembershipFacts) {
        let decision = MembershipDecision.decide(facts)
        #expect(decision != .delete || facts.remote == .deleted)
        #expect(decision != .evict || facts.remote != .deleted)
    }

    @Test("one more claim keeps no document away", arguments: memberships)
    func isMonotone(facts: MembershipFacts) {
        let isHere: Set<MembershipDecision> = [.arrive, .keep, .keepPending]
        guard isHere.contains(MembershipDecision.decide(facts)) else { return }
        for change in [\MembershipFacts.isKeptByID, \.isMatchedByQuery] {
            var more = facts
            more[keyPath: change] = true
            #expect(isHere.contains(MembershipDecision.decide(more)))
        }
    }

    @Test("a set is not asked for before the writes that came before it", arguments: orders)
    func keepsOrder(facts: SubscriptionOrderFacts) {
        guard SubscriptionOrder.decide(facts) == .askForSet else { return }
        #expect(!facts.hasEarlierWrites && !facts.isBootstrapping)
    }

    @Test("a set that is coming holds back no later one", arguments: orders)
    func givesWay(facts: SubscriptionOrderFacts) {
        guard facts.isBootstrapping, facts.isOvertaken else { return }
        #expect(SubscriptionOrder.decide(facts) == .giveWay)
    }
}
