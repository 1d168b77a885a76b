import BSONStore
import Testing

/// Without these a query could answer in another way than MongoDB's manual says.
@Suite struct QueryFixtureTests {
    @Test(arguments: FixtureFile.names(in: QueryFixture.folder))
    func `queries answer as the documentation says`(_ file: String) throws {
        for fixture in try QueryFixture.cases(of: file) {
            try fixture.run({ try QueryFixture.answer(fixture) }, { try fixture.expect($0) })
        }
    }
}
