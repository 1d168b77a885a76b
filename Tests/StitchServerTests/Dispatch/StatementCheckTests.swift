import BSONStore
import Testing

@testable import StitchServer

/// Statements are checked by their bytes, and by a slower way that tells what is wrong.
///
/// Both must find the same.
@Suite struct StatementCheckTests {
    private static let names = [
        "q", "u", "$set", "pipeline", "let", "a", "b", "filter", "multi", "hint", "é", "abcdefghi",
        "abcdefghj",
    ]

    private static func document(
        _ random: inout SystemRandomNumberGenerator, depth: Int
    ) -> BSONDocument {
        let count = Int.random(
            in: 0...(Int.random(in: 0..<20, using: &random) == 0 ? 20 : 3), using: &random)
        return BSONDocument(
            (0..<count).map { _ in
                (names.randomElement(using: &random) ?? "a", value(&random, depth: depth - 1))
            })
    }

    private static func value(
        _ random: inout SystemRandomNumberGenerator, depth: Int
    ) -> BSONValue {
        switch Int.random(in: 0..<(depth > 0 ? 6 : 3), using: &random) {
        case 0: .int32(1)
        case 1: .bool(true)
        case 2: .string("x")
        case 3: .array(BSONArray((0..<2).map { _ in value(&random, depth: depth - 1) }))
        default: .document(document(&random, depth: depth))
        }
    }

    @Test("A field that is there twice is found in a sequence as in the command's body")
    func doubled() throws {
        var random = SystemRandomNumberGenerator()
        var refused = 0
        for _ in 0..<20_000 {
            let statement = Self.document(&random, depth: 4)
            let inBody = Result {
                try DuplicateFieldCheck.check(
                    ["update": "a", "updates": [.document(statement)]], named: "update", [])
            }
            let inSequence = Result {
                try DuplicateFieldCheck.check(
                    ["update": "a"], named: "update", [("updates", [statement])])
            }
            switch (inBody, inSequence) {
            case (.success, .success): break
            case (.failure, .failure): refused += 1
            default: Issue.record("\(statement): \(inBody), \(inSequence)")
            }
        }
        #expect(refused > 1_000 && refused < 19_000)
    }

    @Test("A statement's fields are checked as a command's are")
    func fields() throws {
        let kinds: [FieldKind] = [
            .any, .array, .bool, .flag, .document, .number, .string, .hint, .timestamp,
        ]
        var random = SystemRandomNumberGenerator()
        var refused = 0
        for _ in 0..<20_000 {
            let known = Self.names.filter { $0 != "é" && Bool.random(using: &random) }
            var fields: [String: FieldKind] = [:]
            for name in known { fields[name] = kinds.randomElement(using: &random) }
            let required = known.filter { _ in Int.random(in: 0..<8, using: &random) == 0 }
            let schema = CommandSchema(fields: fields, required: required)
            let statement = Self.document(&random, depth: 2)
            let quick = Result { try schema.check(statement, named: "a.b") }
            // With a field of a sequence the slower way is taken.
            let slow = Result { try schema.check(statement, named: "a.b", given: ["other"]) }
            if case .failure = slow { refused += 1 }
            #expect("\(quick)" == "\(slow)", "\(statement)")
        }
        #expect(refused > 1_000 && refused < 19_000)
    }
}
