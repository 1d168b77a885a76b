import BSONStore
import StitchRules
import Testing

/// Laws that hold for any user, document and mask, tried on many made by chance.
@Suite struct RuleLawTests {
    /// A value made by chance; many look like operators, patterns and expansions.
    static func value(_ random: inout SeededRandom, _ depth: Int = 2) -> BSONValue {
        switch random.next(depth > 0 ? 12 : 9) {
        case 0: .string(["ann", "ben", "%%user.id", "$ne", "", "a.b"][random.next(6)])
        case 1: .int32(Int32(random.next(4)))
        case 2: .double(Double(random.next(4)))
        case 3: .bool(random.next(2) == 0)
        case 4: .null
        case 5: .regularExpression(BSONRegularExpression([".*", "a", "^b"][random.next(3)]))
        case 6: .objectID(BSONObjectID())
        case 7: .int64(Int64(random.next(4)))
        case 8: .datetime(BSONDatetime(milliseconds: Int64(random.next(3))))
        case 9: .array(BSONArray((0..<random.next(3)).map { _ in value(&random, depth - 1) }))
        case 10:
            .document([
                ["$ne", "$gt", "$exists", "$regex", "$or", "$where"][random.next(6)]:
                    value(&random, depth - 1)
            ])
        default: .document(document(&random, depth - 1))
        }
    }

    static func document(_ random: inout SeededRandom, _ depth: Int) -> BSONDocument {
        var document = BSONDocument()
        for name in ["a", "b", "c", "d"] where random.next(3) > 0 {
            document.append(name, value(&random, depth))
        }
        return document
    }

    @Test("Whatever a user's data holds, a rule of equality matches equal values only")
    func literals() throws {
        let rules = try RuleFixtures.rules(
            #"""
            [{"name": "r", "apply_when": {}, "document_filters":
              {"read": {"key": "%%user.custom_data.key"},
               "write": {"key": {"$in": "%%user.custom_data.keys"}}}, "read": true}]
            """#)
        var random = SeededRandom(seed: 9)
        for _ in 0..<4_000 {
            let key = Self.value(&random)
            let keys = BSONArray((0..<random.next(3)).map { _ in Self.value(&random) })
            let user = RuleUser("ann", ["key": key, "keys": .array(keys)])
            let access = rules.access(to: RuleFixtures.items, for: user)
            let stored = random.next(3) == 0 ? key : Self.value(&random)
            let wanted = [key] + keys.values
            let isEqual = wanted.contains { one in
                BSONOrder.compare(one, stored) == .equal
                    || stored.arrayValue?.contains { BSONOrder.compare(one, $0) == .equal } ?? false
            }
            #expect(
                access.sees(["_id": 1, "key": stored]) == isEqual,
                "\(user.customData?.extendedJSON() ?? "") \(stored)")
            // As everywhere in MongoDB's language, null also equals what is missing.
            #expect(access.sees(["_id": 1]) == wanted.contains(.null))
        }
    }

    /// Field rules made by chance, as JSON.
    static func fields(_ random: inout SeededRandom, _ depth: Int) -> String {
        var entries: [String] = []
        for name in ["a", "b", "c"] where random.next(3) > 0 {
            var parts: [String] = []
            for key in ["read", "write"] where random.next(2) == 0 {
                parts.append("\"\(key)\": \(random.next(2) == 0)")
            }
            if depth > 0, random.next(2) == 0 { parts.append(fields(&random, depth - 1)) }
            entries.append("\"\(name)\": {\(parts.joined(separator: ", "))}")
        }
        let others = "{\"read\": \(random.next(2) == 0), \"write\": \(random.next(3) == 0)}"
        return "\"fields\": {\(entries.joined(separator: ", "))}, \"additional_fields\": \(others)"
    }

    @Test("A write through a mask shows what was written and keeps what is hidden")
    func masks() throws {
        var random = SeededRandom(seed: 11)
        var written = 0
        for _ in 0..<300 {
            let access = try RuleFixtures.access(
                #"[{"name": "r", "apply_when": {}, "insert": true, \#(Self.fields(&random, 2))}]"#)
            for _ in 0..<20 {
                var before = Self.document(&random, 2)
                before.set("_id", to: 1)
                let shown = access.shown(before)
                #expect(access.shown(shown) == shown)
                var after = random.next(3) == 0 ? Self.document(&random, 2) : shown
                let name = ["a", "b", "c", "d"][random.next(4)]
                after.set(name, to: random.next(3) == 0 ? nil : Self.value(&random))
                after.set("_id", to: 1)
                let stored: BSONDocument?
                do { stored = try access.judge(from: before, toShown: after) } catch { continue }
                guard let stored else { continue }
                written += 1
                #expect(access.shown(stored) == after)
                #expect(Self.keepsHidden(access, stored, before))
            }
        }
        #expect(written > 500)
    }

    /// Whether all is as it was once what was shown before is put back, where that is allowed.
    private static func keepsHidden(
        _ access: RuleAccess, _ stored: BSONDocument, _ before: BSONDocument
    ) -> Bool {
        do {
            let back = try access.judge(from: stored, toShown: access.shown(before))
            return Set(back?.keys ?? []) == Set(before.keys)
                && before.allSatisfy {
                    back?[$0.key]?.documentValue != nil || back?[$0.key] == $0.value
                }
        } catch {
            return true
        }
    }

    @Test("What a document hides has no influence on whether a write is denied")
    func hidden() throws {
        var random = SeededRandom(seed: 12)
        let access = try RuleFixtures.access(
            #"""
            [{"name": "r", "apply_when": {}, "insert": true, "delete": true,
              "fields": {"a": {"write": true}, "b": {"read": true},
                "c": {"fields": {"a": {"write": true}}}}}]
            """#)
        for _ in 0..<2_000 {
            var one = Self.document(&random, 2)
            var other = one
            one.set("d", to: Self.value(&random))
            other.set("d", to: Self.value(&random))
            one.set("_id", to: 1)
            other.set("_id", to: 1)
            var after = access.shown(one)
            #expect(access.shown(other) == after)
            after.set(["a", "b", "c"][random.next(3)], to: Self.value(&random))
            #expect(
                RuleFixtures.outcome(access, one, after)
                    == RuleFixtures.outcome(access, other, after))
        }
    }
}

/// A generator of numbers, the same for the same seed.
struct SeededRandom {
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }

    /// A number below a bound.
    mutating func next(_ bound: Int) -> Int {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return Int(state % UInt64(bound))
    }
}
