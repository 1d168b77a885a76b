import BSONStore
import Testing

@testable import StitchSync

/// What the history tells is taken without a look only if it follows what is here.
struct ToldDocumentTests {
    private static func version(
        _ counter: Int64, lineage: String = "lineage"
    ) -> BSONDocument {
        [
            "spv": 1, "id": .string(lineage), "v": .int64(counter),
            "op": OperationID(instance: 1, sequence: UInt64(bitPattern: counter)).value,
        ]
    }

    private static func change(to version: BSONDocument?, bytes: Int = 0) -> RemoteChange {
        var document: BSONDocument = [
            "_id": 1, "text": .string(String(repeating: "x", count: bytes)),
        ]
        if let version { document.append(DocumentVersion.fieldName, .document(version)) }
        return RemoteChange(documentID: 1, isDelete: false, after: document, operation: nil).told()
    }

    @Test func `a change follows a version that is one less, of the same lineage`() {
        let known = VersionField(of: [DocumentVersion.fieldName: .document(Self.version(5))])
        #expect(Self.change(to: Self.version(6)).follows(known))
        for other in [
            Self.version(5), Self.version(7), Self.version(4), Self.version(6, lineage: "Lineage"),
            nil,
        ] {
            #expect(!Self.change(to: other).follows(known))
        }
        #expect(!Self.change(to: Self.version(6)).follows(.absent))
        #expect(!Self.change(to: Self.version(6)).follows(.foreign(6)))
        #expect(!Self.change(to: Self.version(6)).follows(nil))
    }

    @Test func `nothing follows the greatest counter`() {
        let known = VersionField(of: [DocumentVersion.fieldName: .document(Self.version(.max))])
        for counter in [Int64.min, 0, .max] {
            #expect(!Self.change(to: Self.version(counter)).follows(known))
        }
    }

    @Test func `a large document is fetched`() {
        #expect(Self.change(to: Self.version(6), bytes: 1_000).toldDocument != nil)
        #expect(Self.change(to: Self.version(6), bytes: 17 * 1024).toldDocument == nil)
    }
}
