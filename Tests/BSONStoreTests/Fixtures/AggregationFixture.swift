@testable import BSONCore
@testable import BSONStore

/// Reads the cases of `fixtures/aggregation` and answers them from a store in memory.
enum AggregationFixture {
    static let folder = "aggregation"

    /// The database that the cases name.
    static let database = "fixtures"
    private static let collection = "input"

    private static let keys: Set = [
        "documents", "collections", "pipeline", "let", "collation", "after", "allowDiskUse",
        "indexes",
    ]
    private static let outcomes: Set = ["expected", "error"]

    /// The files with pipelines; those with single expressions have a runner of their own.
    static let files = FixtureFile.names(in: folder).filter { $0.hasPrefix("stage-") }

    static func cases(of file: String) throws -> [Fixture] {
        try FixtureFile(file, in: folder, keys: keys, outcomes: outcomes).cases
    }

    /// Runs a case and checks what comes of it.
    static func check(_ fixture: Fixture) throws {
        let store = try filledStore(fixture)
        defer { store.close() }
        try fixture.run(
            { try answer(fixture, store) },
            { documents in
                let expected = try fixture.values("expected") ?? []
                fixture.expect(documents.map { .document($0) }, toBe: expected)
                try checkCollections(fixture, store)
            })
    }

    /// What the case's pipeline gives.
    static func answer(
        _ fixture: Fixture, _ store: DocumentStore
    ) throws -> [BSONDocument] {
        var options = PipelineOptions()
        options.let = try fixture.document("let")
        options.allowDiskUse = fixture.isSet("allowDiskUse")
        if let collation = try fixture.document("collation") {
            options.collation = try Collation(collation)
        }
        let stages = try fixture.documents("pipeline") ?? []
        // Documents without a collection are asked for on the database, unless the case has both.
        let isDatabase = stages.first?.keys == ["$documents"] && fixture["documents"] == nil
        guard !isDatabase else {
            return try store.aggregate(database: database, stages, options: options)
        }
        return try store.collection(Namespace(database, collection))
            .aggregate(stages, options: options)
    }

    private static func filledStore(_ fixture: Fixture) throws -> DocumentStore {
        let store = try DocumentStore(at: .inMemory)
        try store.write { _ = try fill(fixture, $0) }
        return store
    }

    /// Stores the case's documents and says in which collections.
    static func fill(
        _ fixture: Fixture, _ transaction: WriteTransaction
    ) throws -> [Namespace] {
        var namespaces: Set<Namespace> = []
        for document in try fixture.documents("documents") ?? [] {
            namespaces.insert(Namespace(database, collection))
            try transaction.insert(Namespace(database, collection), document)
        }
        for (name, value) in try fixture.document("collections") ?? BSONDocument() {
            for case .document(let document) in value.arrayValue ?? BSONArray() {
                namespaces.insert(Namespace(database, name))
                try transaction.insert(Namespace(database, name), document)
            }
        }
        for (name, value) in try fixture.document("indexes") ?? BSONDocument() {
            for case .document(let specification) in value.arrayValue ?? BSONArray() {
                try transaction.createIndex(
                    Namespace(database, name), try IndexDefinition(specification))
            }
        }
        return Array(namespaces)
    }

    /// Compares what a pipeline wrote with what the case expects.
    ///
    /// - Parameter inOrder: whether the documents have to be written in the case's order.
    static func checkCollections(
        _ fixture: Fixture, _ store: DocumentStore, inOrder: Bool = true
    ) throws {
        var fixture = fixture
        if !inOrder {
            var fields = fixture.fields
            fields.set("unordered", to: true)
            fixture = Fixture(name: fixture.name, fields: fields)
        }
        for (name, value) in try fixture.document("after") ?? BSONDocument() {
            let parts = name.split(separator: ".", maxSplits: 1).map(String.init)
            let namespace =
                parts.count == 2 ? Namespace(parts[0], parts[1]) : Namespace(database, name)
            let found = try store.collection(namespace).find().fetch()
            fixture.expect(found.map { .document($0) }, toBe: value.arrayValue?.values ?? [])
        }
    }
}
