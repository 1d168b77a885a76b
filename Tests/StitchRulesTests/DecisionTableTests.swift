import StitchRules
import Testing

/// The decisions are the security: each row of each table is kept on a page.
@Suite struct DecisionTableTests {
    @Test("How much may be read is decided as the page says")
    func reading() throws {
        var lines: [String] = []
        for hasFilters in [false, true] {
            for readFilter in hasFilters ? RuleAnswer.allCases : [.undefined] {
                for writeFilter in hasFilters ? RuleAnswer.allCases : [.undefined] {
                    for read in RuleAnswer.allCases {
                        for write in RuleAnswer.allCases {
                            let facts = ReadFacts(
                                hasFilters: hasFilters, readFilter: readFilter,
                                writeFilter: writeFilter, read: read, write: write)
                            let filters =
                                hasFilters
                                ? "readFilter=\(readFilter) writeFilter=\(writeFilter)"
                                : "no filters"
                            lines.append(
                                "\(filters) read=\(read) write=\(write) -> "
                                    + ReadDecision.decide(facts).rawValue)
                        }
                    }
                }
            }
        }
        try expectGolden("rules/read-decision.txt", lines.joined(separator: "\n") + "\n")
    }

    /// All facts about writes that can be.
    private static let writes: [WriteFacts] = {
        var all: [WriteFacts] = []
        for kind in WriteFacts.Kind.allCases {
            for hasFilters in [false, true] {
                for before in kind == .insert || !hasFilters ? [.undefined] : RuleAnswer.allCases {
                    for after in kind == .delete || !hasFilters
                        ? [.undefined] : RuleAnswer.allCases
                    {
                        for write in RuleAnswer.allCases {
                            for extra in kind == .update ? [.undefined] : RuleAnswer.allCases {
                                for fields in [false, true] {
                                    all.append(
                                        WriteFacts(
                                            kind, hasFilters: hasFilters, filterBefore: before,
                                            filterAfter: after, write: write, insert: extra,
                                            delete: extra, mayWriteFields: fields))
                                }
                            }
                        }
                    }
                }
            }
        }
        return all
    }()

    @Test("Whether a write is allowed is decided as the page says")
    func writing() throws {
        let lines = Self.writes.map { facts in
            var words = [facts.kind.rawValue]
            if !facts.hasFilters { words.append("no filters") }
            if facts.hasFilters, facts.kind != .insert {
                words.append("filterBefore=\(facts.filterBefore)")
            }
            if facts.hasFilters, facts.kind != .delete {
                words.append("filterAfter=\(facts.filterAfter)")
            }
            words.append("write=\(facts.write)")
            if facts.kind == .insert { words.append("insert=\(facts.insert)") }
            if facts.kind == .delete { words.append("delete=\(facts.delete)") }
            words.append("fields=\(facts.mayWriteFields ? "yes" : "no")")
            return words.joined(separator: " ") + " -> \(WriteDecision.decide(facts))"
        }
        try expectGolden("rules/write-decision.txt", lines.joined(separator: "\n") + "\n")
    }

    @Test("Nothing is written that a filter, write, insert or delete forbids")
    func laws() {
        for facts in Self.writes where WriteDecision.decide(facts) == .allowed {
            if facts.hasFilters, facts.kind != .insert { #expect(facts.filterBefore == .yes) }
            if facts.hasFilters, facts.kind != .delete { #expect(facts.filterAfter == .yes) }
            if facts.kind != .delete { #expect(facts.write != .no) }
            if facts.kind == .insert { #expect(facts.insert != .no) }
            if facts.kind == .delete { #expect(facts.delete != .no) }
            if facts.kind != .delete, facts.write == .undefined { #expect(facts.mayWriteFields) }
        }
    }

    @Test("A further yes never takes a permission away")
    func monotone() {
        func rank(_ answer: RuleAnswer) -> Int { answer == .yes ? 1 : 0 }
        for facts in Self.writes where WriteDecision.decide(facts) == .allowed {
            let more = WriteFacts(
                facts.kind, hasFilters: facts.hasFilters, filterBefore: .yes, filterAfter: .yes,
                write: .yes, insert: .yes, delete: .yes, mayWriteFields: true)
            #expect(WriteDecision.decide(more) == .allowed)
        }
    }

    @Test("The role is chosen as the page says")
    func roles() throws {
        let facts = [false, true].flatMap { applies in
            [false, true].map { RoleFacts(applies: applies, isSyncable: $0) }
        }
        let lists: [[RoleFacts]?] =
            [nil, []] + facts.map { [$0] } + facts.flatMap { one in facts.map { [one, $0] } }
        var lines: [String] = []
        for own in lists {
            for defaults in [[], [RoleFacts(applies: true, isSyncable: true)]] {
                for fallsThrough in [false, true] {
                    for isSynced in [false, true] {
                        let decision = RoleDecision.decide(
                            own: own, defaults: defaults, fallsThrough: fallsThrough,
                            isSynced: isSynced)
                        let roles = own.map { roles in
                            roles.map(Self.text).joined(separator: ",")
                        }
                        lines.append(
                            "own=\(roles.map { "[\($0)]" } ?? "none") "
                                + "defaults=\(defaults.count) fallsThrough=\(fallsThrough) "
                                + "synced=\(isSynced) -> \(decision)")
                    }
                }
            }
        }
        try expectGolden("rules/role-decision.txt", lines.joined(separator: "\n") + "\n")
    }

    private static func text(_ facts: RoleFacts) -> String {
        (facts.applies ? "applies" : "other") + (facts.isSyncable ? "" : "!")
    }
}
