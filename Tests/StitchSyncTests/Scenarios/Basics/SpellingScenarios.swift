import BSONStore
import Testing

@testable import StitchSync

/// `café` has two spellings, which are two names at MongoDB; taken for one, a subscription would bring
/// or take away another collection's documents.
@Suite(.remotes, .timeLimit(.minutes(30)))
struct SpellingScenarios {
    private static let composed = "caf\u{e9}"
    private static let decomposed = "cafe\u{301}"

    private struct Sides {
        let first: SyncCollection<BSONDocument>
        let second: SyncCollection<BSONDocument>

        init(_ engine: SyncEngine) async {
            first = engine.collection(Namespace(SyncWorld.database, SpellingScenarios.composed))
            second = engine.collection(Namespace(SyncWorld.database, SpellingScenarios.decomposed))
            await first.configure(conflictHandler: .remoteWins)
            await second.configure(conflictHandler: .remoteWins)
        }

        /// The ids that both collections hold.
        var held: [[BSONValue]] {
            get async throws {
                try await [first, second].asyncMap { items in
                    try items.find().fetch().map { $0["_id"] ?? .null }.sorted {
                        "\($0)" < "\($1)"
                    }
                }
            }
        }
    }

    @Test("subscriptions tell spellings of collections, fields and names apart")
    func subscriptions() async throws {
        let world = try SyncWorld()
        let writer = try SyncEngine(
            store: try DocumentStore(at: .inMemory), remote: world.remote)
        let source = await Sides(writer)
        for items in [source.first, source.second] {
            for (id, field) in [(1, Self.composed), (2, Self.decomposed)] as [(Int32, String)] {
                var document = Self.filter(field)
                document.append("_id", .int32(id))
                try await items.insertOne(document)
            }
        }
        try await writer.syncUntilQuiet()

        let engine = try SyncEngine(
            store: try DocumentStore(at: .inMemory), remote: world.remote)
        let sides = await Sides(engine)
        let (composed, decomposed) = (Self.composed, Self.decomposed)
        try await engine.subscriptions.update { set in
            try set.append(name: composed, in: sides.first, where: Self.filter(composed))
        }
        try await engine.syncUntilQuiet()
        #expect(try await sides.held == [[1], []])
        try await engine.subscriptions.update { set in
            try set.append(name: decomposed, in: sides.first, where: Self.filter(decomposed))
        }
        try await engine.syncUntilQuiet()
        #expect(try await sides.held == [[1, 2], []])
        try await engine.subscriptions.update { set in
            try set.append(name: "second", in: sides.second, where: Self.filter(decomposed))
        }
        try await engine.syncUntilQuiet()
        #expect(try await sides.held == [[1, 2], [2]])
        try await engine.subscriptions.update { set in set.remove(named: composed) }
        try await engine.syncUntilQuiet()
        #expect(try await sides.held == [[2], [2]])
        #expect(try await engine.verify().isEmpty)
    }

    private static func filter(_ field: String) -> BSONDocument {
        var filter = BSONDocument()
        filter.append(field, 1)
        return filter
    }
}

extension Array where Element: Sendable {
    fileprivate func asyncMap<R>(_ body: (Element) async throws -> R) async rethrows -> [R] {
        var results: [R] = []
        for element in self { results.append(try await body(element)) }
        return results
    }
}
