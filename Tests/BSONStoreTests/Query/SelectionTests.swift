import Testing

@testable import BSONStore

/// A gateway selects from documents as a collection would; without these it could answer otherwise.
@Suite struct SelectionTests {
    private static let items = Namespace("shop", "items")

    private static let sorts: [BSONDocument?] = [
        nil, ["a": 1], ["a": -1, "b": 1], ["b": -1], ["a.b": 1], ["b.0": -1], ["_id": -1],
    ]
    private static let projections: [BSONDocument?] = [
        nil, ["a": 1], ["b": 0], ["a.$": 1], ["b": ["$elemMatch": ["a": 1]]],
        ["b": ["$slice": 1]], ["_id": 0, "sum": ["$add": ["$a", 1]]],
    ]

    /// What a query finds, or the code and text of its error.
    private enum Outcome: Equatable {
        case found([BSONDocument])
        case failed(Int32, String, StoreError.Phase?)

        init(_ find: () throws -> [BSONDocument]) throws {
            do {
                self = .found(try find())
            } catch let error as StoreError {
                self = .failed(error.code.rawValue, error.message, error.phase)
            }
        }
    }

    @Test(arguments: 0..<20)
    func `documents are selected as a collection finds them`(_ seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let store = try DocumentStore(at: .inMemory)
        var documents: [BSONDocument] = []
        for id in 0..<30 as Range<Int32> {
            var document: BSONDocument = ["_id": .int32(id * 7 % 30)]
            for (key, value) in RandomQueries.document(&random) { document.append(key, value) }
            documents.append(document)
        }
        try store.collection(Self.items).insertMany(documents)
        var (found, failed) = (0, 0)
        for _ in 0..<200 {
            let filter = try Filter(RandomQueries.filter(&random, depth: 1))
            let sort = try Self.sorts.randomElement(using: &random)?.map { try SortOrder($0) }
            let projection = try Self.projections.randomElement(using: &random)?
                .map { try Projection($0) }
            let options = try FindOptions(
                sort: sort, skip: Int.random(in: 0..<4, using: &random),
                limit: Int.random(in: 0..<5, using: &random), projection: projection)
            let expected = try Outcome {
                try store.read { try $0.find(Self.items, filter: filter, options: options) }
            }
            let selected = try Outcome {
                var selected: [BSONDocument] = []
                try options.select(from: documents, matching: filter) { selected.append($0) }
                return selected
            }
            #expect(selected == expected)
            if case .found(let some) = expected { found += some.count } else { failed += 1 }
        }
        #expect(found > 20 && failed > 0)
    }
}
