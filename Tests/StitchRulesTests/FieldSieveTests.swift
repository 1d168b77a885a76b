import BSONStore
import Testing

@testable import StitchRules

/// What works on bytes, or without the document before a change, must say what the slow way says.
@Suite struct FieldSieveTests {
    @Test("Masks show by bytes what they show value by value")
    func sieve() throws {
        var random = SeededRandom(seed: 21)
        var hidden = 0
        for _ in 0..<400 {
            let mask = try RuleFixtures.access(
                #"[{"name": "r", "apply_when": {}, \#(RuleLawTests.fields(&random, 3))}]"#
            ).mask
            for _ in 0..<20 {
                let (one, other) = (Self.document(&random), Self.document(&random))
                let shown = mask.root.shown(one)
                #expect(mask.shown(one) == shown)
                if shown != one { hidden += 1 }
                #expect(mask.isAlike(one, one))
                #expect(mask.isAlike(one, other) == (shown == mask.root.shown(other)))
                var changed = one
                changed.set(["a", "b", "c", "d"][random.next(4)], to: RuleLawTests.value(&random))
                #expect(mask.isAlike(one, changed) == (shown == mask.root.shown(changed)))
            }
        }
        #expect(hidden > 1_000)
    }

    private static func document(_ random: inout SeededRandom) -> BSONDocument {
        var document = RuleLawTests.document(&random, 3)
        document.set("_id", to: .int32(Int32(random.next(3))))
        // A key may stand twice; and one is longer than all that have rules.
        if random.next(4) == 0 { document.append("a", RuleLawTests.value(&random)) }
        if random.next(4) == 0 { document.append("longer than others", 1) }
        return document
    }

    @Test("Who follows without documents of before is told what everybody is told")
    func follower() throws {
        var random = SeededRandom(seed: 22)
        var counts: [String: Int] = [:]
        for _ in 0..<60 {
            let masks = [
                #""read": true, "write": true"#, RuleLawTests.fields(&random, 1),
                #""write": {"c": true}, \#(RuleLawTests.fields(&random, 1))"#,
            ]
            let rules = try RuleFixtures.rules(
                #"""
                [{"name": "r", "apply_when": {}, "document_filters":
                  {"read": {"d": {"$in": [0, 1, true]}}, "write": {"d": 1}},
                  \#(masks[random.next(3)])}]
                """#)
            let ruleGuard = RuleAccessPolicy(rules, RuleUser(id: "ann"))
            let follower = ruleGuard.follower(RuleFixtures.items)
            for (change, glance, full) in try Self.changes(&random, follower) {
                let told = follower.followed(change, glance)
                let seen = ruleGuard.seen(full)
                let expected: ReplicaChange? = seen.flatMap { seen in
                    guard let after = seen.change.after else {
                        return .gone(leftView: seen.passage == .left)
                    }
                    return .now(after)
                }
                // A write that changed nothing is news to nobody, and tells nobody anything.
                guard full.before != full.after else { continue }
                #expect(told == expected, "\(full)")
                let kind =
                    switch expected {
                    case nil: "nothing"
                    case .gone(let leftView): leftView ? "left" : "deleted"
                    case .now: change.before == nil && full.before != nil ? "not read" : "now"
                    }
                counts[kind, default: 0] += 1
            }
        }
        for kind in ["nothing", "left", "deleted", "not read", "now"] {
            #expect(counts[kind, default: 0] > 20, "\(kind)")
        }
    }

    /// Changes made by chance: as they are read for a follower, and with all documents.
    private static func changes(
        _ random: inout SeededRandom, _ follower: ReplicaChangeFilter
    ) throws -> [(StoreChange, ReplicaChangeFilter.PreliminaryAnswer, StoreChange)] {
        let store = try DocumentStore(
            at: .inMemory, options: .init(changeHistory: .keep(changesMax: 1_000)))
        var latest: [Int: BSONDocument] = [:]
        for _ in 0..<60 {
            let number = random.next(4)
            let id = BSONValue.int32(Int32(number))
            // Mostly a field of a long document changes, so that it is stored as what differs.
            var document = latest[number] ?? RuleLawTests.document(&random, 1)
            document.set(["a", "b", "c", "e"][random.next(4)], to: RuleLawTests.value(&random, 1))
            document.set("_id", to: id)
            document.set("pad", to: .string(String(repeating: ".", count: 300)))
            if random.next(3) == 0 { document.set("a", to: nil) }
            document.set("d", to: [0, 1, 2, true][random.next(4)])
            latest[number] = document
            let removes = random.next(4) == 0
            try store.write { [document] transaction in
                if removes {
                    try transaction.remove(RuleFixtures.items, id: id)
                } else {
                    try transaction.put(RuleFixtures.items, document)
                }
            }
        }
        var glances: [ReplicaChangeFilter.PreliminaryAnswer] = []
        let read = try store.read { transaction in
            try transaction.changes(after: 0, in: RuleFixtures.items, limit: 1_000) {
                let glance = follower.glance(at: $0, sharing: $1)
                glances.append(glance)
                return glance.needsBefore
            }.changes
        }
        let full = try store.changes(after: 0, in: RuleFixtures.items).changes
        return zip(zip(read, glances), full).map { ($0.0, $0.1, $1) }
    }
}
