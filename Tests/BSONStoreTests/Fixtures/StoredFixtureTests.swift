import BSONStore
import Testing

/// Without these an answer could depend on which indexes there are or on which process asks.
@Suite struct StoredFixtureTests {
    private static let first = "first"
    private static let second = "second"

    @Test func `queries answer alike with and without indexes and from a second process`()
        async throws
    {
        let directory = try TemporaryDirectory()
        for file in FixtureFile.names(in: QueryFixture.folder) {
            let cases = try QueryFixture.cases(of: file)
            let store = try Self.store(file, directory.path)
            defer { store.close() }
            try StoredQueryFixture.fill(cases, store)
            try StoredQueryFixture.check(cases, store)
        }
        await #expect(processExitsWith: .success) { [path = directory.path as String] in
            for file in FixtureFile.names(in: QueryFixture.folder) {
                let store = try Self.store(file, path)
                defer { store.close() }
                try StoredQueryFixture.check(try QueryFixture.cases(of: file), store)
            }
        }
    }

    @Test func `updates change alike with and without indexes and from a second process`()
        async throws
    {
        let directory = try TemporaryDirectory()
        for file in FixtureFile.names(in: UpdateFixture.folder) {
            let cases = try UpdateFixture.cases(of: file)
            let store = try Self.store(file, directory.path)
            defer { store.close() }
            try StoredUpdateFixture.fill(cases, store, processes: [Self.first, Self.second])
            try StoredUpdateFixture.check(cases, store, by: Self.first)
        }
        await #expect(processExitsWith: .success) { [path = directory.path as String] in
            for file in FixtureFile.names(in: UpdateFixture.folder) {
                let store = try Self.store(file, path)
                defer { store.close() }
                try StoredUpdateFixture.check(
                    try UpdateFixture.cases(of: file), store, by: Self.second)
            }
        }
    }

    @Test func `pipelines answer alike with and without indexes and from a second process`()
        async throws
    {
        let directory = try TemporaryDirectory()
        let store = try Self.store("all", directory.path)
        defer { store.close() }
        for file in AggregationFixture.files {
            try StoredAggregationFixture.check(try AggregationFixture.cases(of: file), store)
        }
        await #expect(processExitsWith: .success) { [path = directory.path as String] in
            let store = try Self.store("all", path)
            defer { store.close() }
            for file in AggregationFixture.files {
                try StoredAggregationFixture.check(try AggregationFixture.cases(of: file), store)
            }
        }
    }

    @Test func `a collation of the collection gives the answers that a named one gives`() throws {
        let store = try DocumentStore(at: .inMemory)
        var count = 0
        for file in FixtureFile.names(in: QueryFixture.folder) {
            for fixture in try QueryFixture.cases(of: file) where fixture.isCollated {
                try StoredQueryFixture.checkInherited(fixture, store)
                count += 1
            }
        }
        for file in FixtureFile.names(in: UpdateFixture.folder) {
            for fixture in try UpdateFixture.cases(of: file) where fixture.isCollated {
                try StoredUpdateFixture.checkInherited(fixture, store)
                count += 1
            }
        }
        #expect(count > 100)
    }

    private static func store(_ name: String, _ directory: String) throws -> DocumentStore {
        try DocumentStore(
            at: .file("\(directory)/\(name).store"), options: .init(durability: .normal))
    }
}
