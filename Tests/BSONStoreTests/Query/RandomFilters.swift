@testable import BSONCore
@testable import BSONQuery
@testable import BSONStore

/// Makes documents that look like filters, most of them wrong in some place.
enum RandomFilters {
    private static let names: [String] =
        PredicateParser.TopLevelOperator.allCases.map(\.rawValue)
        + PredicateParser.FieldOperator.allCases.map(\.rawValue)
        + JSONSchemaParser.Keyword.allCases.map(\.rawValue)
        + ["a", "b", "0", "a.b", "", "$foo", "$geometry", "$box", "$center", "$centerSphere"]
        + ["$polygon", "$maxDistance", "$search", "type", "coordinates", "$add", "$not"]
    private static let texts = [
        "a", "(", "^a.*b$", "(a)\\1", "$a", "$$x", "string", "Point", "Polygon", "coffee -tea",
    ]

    static func document(
        _ random: inout some RandomNumberGenerator, depth: Int
    ) -> BSONDocument {
        var document = BSONDocument()
        for _ in 0..<Int.random(in: 0..<3, using: &random) {
            document.append(
                names.randomElement(using: &random) ?? "a", value(&random, depth: depth))
        }
        return document
    }

    private static func value(
        _ random: inout some RandomNumberGenerator, depth: Int
    ) -> BSONValue {
        switch Int.random(in: 0..<(depth > 0 ? 9 : 5), using: &random) {
        case 0: return .string(texts.randomElement(using: &random) ?? "a")
        case 1: return .int32(Int32.random(in: -2..<5, using: &random))
        case 2: return .bool(Bool.random(using: &random))
        case 5, 6: return .document(document(&random, depth: depth - 1))
        case 7, 8:
            let count = Int.random(in: 0..<4, using: &random)
            return .array(BSONArray((0..<count).map { _ in value(&random, depth: depth - 1) }))
        default: return RandomQueries.value(&random, depth: 1)
        }
    }
}
