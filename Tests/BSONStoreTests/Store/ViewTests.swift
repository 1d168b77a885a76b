import BSONStore
import Testing

/// A view that cannot be read would fail every one who asks it, long after it was made.
@Suite struct ViewTests {
    private static let things = Namespace("app", "things")

    @Test func `a view's pipeline is read when the view is made`() throws {
        let store = try DocumentStore(at: .inMemory)
        defer { store.close() }
        let stages: [(BSONDocument, Int32)] = [
            (["$foo": 1], 40324), (["$match": ["$bad": 1]], 2), (["$out": "x"], 167),
            (["$merge": "x"], 167), (["$changeStream": [:]], 167), (["$documents": []], 73),
        ]
        for (stage, code) in stages {
            expectError(code) {
                try store.createCollection(
                    Self.things, ["viewOn": "others", "pipeline": [.document(stage)]])
            }
        }
        try store.createCollection(
            Self.things, ["viewOn": "others", "pipeline": [["$match": ["a": 1]]]])
        expectError(40324) {
            try store.modifyCollection(
                Self.things, ["viewOn": "others", "pipeline": [["$foo": 1]]])
        }
    }

    private func expectError(
        _ code: Int32, sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void
    ) {
        let error = #expect(throws: StoreError.self, sourceLocation: sourceLocation) { try body() }
        #expect(error?.code.rawValue == code, sourceLocation: sourceLocation)
    }
}
