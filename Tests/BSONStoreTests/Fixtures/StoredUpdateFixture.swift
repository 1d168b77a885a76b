@testable import BSONCore
@testable import BSONStore

/// Carries the cases of `fixtures/updates` out in collections of a store.
enum StoredUpdateFixture {
    private static func namespace(
        _ number: Int, _ indexes: FixtureIndexes, _ process: String
    ) -> Namespace {
        Namespace(indexes.rawValue, "\(process)\(number)")
    }

    /// Stores the documents of a file's cases, for each process that is to change them.
    static func fill(
        _ cases: [Fixture], _ store: DocumentStore, processes: [String]
    ) throws {
        try store.write { transaction in
            for (number, fixture) in cases.enumerated() {
                var fields = FixtureFields()
                fields.add(filter: fixture["filter"])
                fields.add(filter: fixture["update"])
                for (indexes, process) in FixtureIndexes.allCases.flatMap({ indexes in
                    processes.map { (indexes, $0) }
                }) {
                    let namespace = namespace(number, indexes, process)
                    for document in try fixture.documents("documents") ?? [] {
                        try transaction.insert(namespace, document)
                    }
                    try indexes.create(
                        fields, try fixture.document("collation"), on: namespace, transaction)
                }
            }
        }
    }

    /// Carries every case out without and with indexes.
    static func check(_ cases: [Fixture], _ store: DocumentStore, by process: String) throws {
        for (number, fixture) in cases.enumerated() {
            for indexes in FixtureIndexes.allCases {
                let collection = store.collection(namespace(number, indexes, process))
                let inMemory = { try UpdateFixture.run(fixture) }
                try fixture.run({ try run(fixture, collection, inMemory()) }) { outcome in
                    guard let outcome else { return }
                    try fixture.expect(outcome)
                }
            }
        }
    }

    /// Carries a case out by the collation of the collection instead of its own.
    static func checkInherited(_ fixture: Fixture, _ store: DocumentStore) throws {
        let collection = try fixture.fillCollated(store)
        // The case has its own collation in memory, where no collection has one.
        let inMemory = try UpdateFixture.run(fixture)
        try fixture.run({ try run(fixture.withoutCollation, collection, inMemory) }) { outcome in
            if let outcome { try fixture.expect(outcome) }
        }
    }

    /// What an update did; `nil` where an index may lead to another one of several documents, so
    /// that only the case's going well is known, or where the indexes refuse what comes of it.
    private static func run(
        _ fixture: Fixture, _ collection: DocumentCollection<BSONDocument>,
        _ inMemory: UpdateFixture.Outcome
    ) throws -> UpdateFixture.Outcome? {
        let (filter, update) = try UpdateFixture.parse(fixture)
        let namespace = collection.namespace
        let candidates = try collection.store.read {
            try $0.count(namespace, filter: filter)
        }
        do {
            return try collection.store.write { transaction in
                let done =
                    fixture.isSet("multi")
                    ? try transaction.updateMany(
                        namespace, filter: filter, update: update,
                        upsert: fixture.isSet("upsert"))
                    : try transaction.updateOne(
                        namespace, filter: filter, update: update,
                        upsert: fixture.isSet("upsert"))
                var outcome = UpdateFixture.Outcome(
                    documents: try transaction.find(namespace), matched: done.matchedCount,
                    modified: done.modifiedCount, upsertedID: done.upsertedID)
                if inMemory.upsertedID == nil, let id = done.upsertedID {
                    // The store gave it an id.
                    outcome.upsertedID = nil
                    let last = outcome.documents.firstIndex { $0["_id"] == id }
                    if let last { outcome.documents[last].removeValue(forKey: "_id") }
                }
                let isSure =
                    candidates < 2 || fixture.isSet("multi")
                    || ["none", "inherited"].contains(namespace.database)
                return isSure ? outcome : nil
            }
        } catch let error as StoreError where error.code.rawValue == 171 {
            #if DEBUG
                precondition(namespace.database == "fields", "\(fixture.name): \(error)")
            #endif
            return nil
        }
    }
}
