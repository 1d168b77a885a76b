import BSONStore
import StitchSync
import Testing

@testable import StitchCommands

/// A document that nobody here can read is not worth a retry: devices would ask for it for ever.
@Suite struct DeepDocumentTests {
    private static let deep = (0..<110).reduce(BSONValue.int32(1)) { inner, _ in ["d": inner] }

    private static func failure(_ batch: [BSONValue], _ field: String) -> MongoFailure {
        DeepDocument.failure(
            in: ["cursor": [field: .array(BSONArray(batch)), "id": 0, "ns": "shop.items"]])
    }

    @Test("the error names the document", arguments: ["firstBatch", "nextBatch"])
    func name(field: String) {
        let failure = Self.failure([["_id": 1], ["_id": 2, "d": Self.deep]], field)
        #expect(failure.code == 15)
        #expect(failure.message.hasPrefix("the document of shop.items with _id 2 is nested"))
        #expect(MongoErrorClass.decide(failure) == .rejected)
    }

    @Test("the error of a change names the document that changed")
    func event() {
        let failure = Self.failure(
            [
                [
                    "_id": ["_data": "82"], "documentKey": ["_id": "x"],
                    "ns": ["db": "a", "coll": "b"], "fullDocument": Self.deep,
                ]
            ], "nextBatch")
        #expect(failure.message.hasPrefix(#"the document of a.b with _id "x" is nested"#))
    }

    @Test("an id that is nested too deeply, and other replies, are errors, too")
    func others() {
        #expect(Self.failure([["_id": Self.deep]], "firstBatch").message.contains("_id unknown"))
        let other = DeepDocument.failure(in: ["value": Self.deep])
        #expect(other.message.hasPrefix("a document of the answer is nested"))
    }
}
