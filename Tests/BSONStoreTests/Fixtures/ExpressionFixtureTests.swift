import Testing

@testable import BSONCore
@testable import BSONQuery
@testable import BSONStore

/// Without these an expression could compute another value than MongoDB's manual says.
@Suite struct ExpressionFixtureTests {
    @Test(arguments: ExpressionFixture.files)
    func `expressions compute as the documentation says`(_ file: String) throws {
        for fixture in try ExpressionFixture.cases(of: file) {
            try fixture.run({ try ExpressionFixture.value(fixture) }) { value in
                if fixture.isSet("missing") {
                    #expect(value == nil, "\(fixture.name)")
                } else {
                    fixture.expect(
                        [value ?? .string("(missing)")], toBe: [fixture["expected"] ?? .null])
                }
            }
        }
    }

    @Test func `all operators of the manual are covered by a case`() throws {
        var seen: Set<String> = []
        for file in ExpressionFixture.files {
            for fixture in try ExpressionFixture.cases(of: file) {
                ExpressionFixture.collectOperators(fixture["expression"] ?? .null, &seen)
            }
        }
        let known = Set(ExpressionOperator.all.keys.filter { !$0.hasPrefix("$_") })
        #expect(known.subtracting(seen).isEmpty, "\(known.subtracting(seen).sorted())")
    }
}
/// Reads the cases of single expressions in `fixtures/aggregation` and computes them.
enum ExpressionFixture {
    private static let folder = "aggregation"

    static let files = FixtureFile.names(in: folder).filter { $0.hasPrefix("expression-") }

    static func cases(of file: String) throws -> [Fixture] {
        try FixtureFile(
            file, in: folder, keys: ["document", "expression", "let", "collation"],
            outcomes: ["expected", "missing", "error"]
        ).cases
    }

    /// The value of a case's expression for its document; `nil` for missing.
    static func value(_ fixture: Fixture) throws -> BSONValue? {
        let document = try fixture.document("document") ?? BSONDocument()
        let variables = try fixture.document("let") ?? BSONDocument()
        let collation = try fixture.document("collation").flatMap { try Collation($0) }
        var scope = ExpressionScope(collation: collation)
        for name in variables.keys { try scope.define(name) }
        let expression = try Expression(fixture["expression"] ?? .null, in: scope)
        let frame = ExpressionFrame(
            root: document, now: BSONDatetime(milliseconds: 1_700_000_000_000),
            clusterTime: BSONTimestamp(seconds: 1_700_000_000, increment: 1),
            values: variables.map(\.value))
        return try expression.evaluate(document, frame)
    }

    /// Adds the names of the operators that are used anywhere in a value.
    static func collectOperators(_ value: BSONValue, _ names: inout Set<String>) {
        switch value {
        case .document(let document):
            for (key, value) in document {
                if key.hasPrefix("$") { names.insert(key) }
                collectOperators(value, &names)
            }
        case .array(let array):
            for value in array { collectOperators(value, &names) }
        default: return
        }
    }
}
