import BSONStore
import Testing

@testable import StitchRules

/// Without these a document of many fields would hold the write lock while its rules are tested.
@Suite(.timeLimit(.minutes(10))) struct WideMaskTests {
    private static let count = 5_000
    // All names are equally long, and longer than those that are told apart by their length.
    private static let names = (0..<count).map {
        "a field with a name of some length \(10_000 + $0)"
    }

    private static func fields(_ value: (Int) -> BSONValue) -> BSONDocument {
        var document: BSONDocument = ["_id": 1]
        for (index, name) in names.enumerated() { document.append(name, value(index)) }
        return document
    }

    private static func access() throws -> RuleAccess {
        let fields = names.enumerated().map { index, name in
            #""\#(name)": {"read": \#(index % 3 != 0), "write": \#(index % 3 == 1)}"#
        }
        return try RuleFixtures.access(
            #"""
            [{"name": "r", "apply_when": {}, "fields": {\#(fields.joined(separator: ","))},
              "additional_fields": {"read": true, "write": true}}]
            """#)
    }

    @Test func `many fields are hidden, shown and written`() throws {
        let access = try Self.access()
        let before = Self.fields { .int32(Int32($0)) }
        let shown = access.shown(before)
        #expect(shown.count == 1 + Self.count - (Self.count + 2) / 3)
        #expect(shown == access.mask.root.shown(before))
        var after: BSONDocument = ["_id": 1]
        for (index, name) in Self.names.enumerated() where index % 3 != 0 {
            after.append(name, .int32(Int32(index % 3 == 1 ? -index : index)))
        }
        let written = try #require(try access.judge(from: before, toShown: after))
        #expect(
            written == Self.fields { .int32(Int32($0 % 3 == 1 ? -$0 : $0)) })
        var forbidden: BSONDocument = ["_id": 1]
        for (index, name) in Self.names.enumerated() where index % 3 != 0 {
            forbidden.append(name, .int32(Int32(-index)))
        }
        do throws(RuleDenial) {
            _ = try access.judge(from: before, toShown: forbidden)
            Issue.record("not denied")
        } catch {
            guard case .fieldsDenied(let denied) = error.cause else {
                Issue.record("denied for another reason: \(error)")
                return
            }
            #expect(denied.count == Self.count / 3)
        }
    }
}
