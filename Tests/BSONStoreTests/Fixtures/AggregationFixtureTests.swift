import BSONStore
import Testing

/// Without these a pipeline could answer in another way than MongoDB's manual says.
@Suite struct AggregationFixtureTests {
    @Test(arguments: AggregationFixture.files)
    func `pipelines answer as the documentation says`(_ file: String) throws {
        for fixture in try AggregationFixture.cases(of: file) {
            do { try AggregationFixture.check(fixture) } catch {
                Issue.record("\(file): \(fixture.name): \(error)")
            }
        }
    }
}
