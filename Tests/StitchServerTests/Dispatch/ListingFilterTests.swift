import BSONStore
import Testing

@testable import StitchServer

/// Without these a listing would ignore a filter that MongoDB refuses.
@Suite struct ListingFilterTests {
    @Test(
        "The time has no value in a filter of a listing, even behind a constant that fails",
        arguments: ["listCollections", "listDatabases"], ["NOW", "CLUSTER_TIME"])
    func time(command: String, variable: String) throws {
        let server = try OfflineServer(requiresSignIn: false)
        let name = BSONValue.string("$$\(variable)")
        for expression in [
            ["$lt": ["$name", name]], ["$lt": [["$toDate": 0], name]],
            ["$and": [false, ["$eq": [name, name]]]],
        ] as [BSONValue] {
            let answer = server.answer(command: [
                command: 1, "filter": ["$expr": expression], "$db": "admin",
            ])
            #expect(answer?["code"] == 51144, "\(expression)")
            #expect(
                answer?["errmsg"] == .string("Builtin variable '$$\(variable)' is not available"))
        }
    }
}
