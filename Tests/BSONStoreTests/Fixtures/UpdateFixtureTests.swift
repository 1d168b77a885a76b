import BSONStore
import Testing

/// Without these an update could change documents in another way than MongoDB's manual says.
@Suite struct UpdateFixtureTests {
    @Test(arguments: FixtureFile.names(in: UpdateFixture.folder))
    func `updates change documents as the documentation says`(_ file: String) throws {
        for fixture in try UpdateFixture.cases(of: file) {
            try fixture.run({ try UpdateFixture.run(fixture) }, { try fixture.expect($0) })
        }
    }
}
