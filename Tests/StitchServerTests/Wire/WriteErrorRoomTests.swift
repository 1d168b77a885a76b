import BSONStore
import StitchRules
import Testing

@testable import StitchServer

/// The errors of many writes in one reply.
@Suite struct WriteErrorRoomTests {
    private static func entry(_ index: Int32, _ details: BSONDocument) -> BSONDocument {
        [
            "index": .int32(index), "code": 13,
            "errmsg": .string(String(repeating: "x", count: 500)),
            "errInfo": .document(details),
        ]
    }

    @Test("each of many denied writes says which rule denied it, also where no text has room")
    func denied() throws {
        var room = WriteErrorRoom()
        for index in 0..<Int32(2_000) {
            let id = BSONValue.string("\(index)" + String(repeating: "i", count: 2_000))
            let details = RuleDenial.details(
                .fieldsDenied(["title", "body"]), role: "reader", table: "items", id: id)
            let fitted = room.fitted(Self.entry(index, details))
            #expect(fitted["index"] == .int32(index) && fitted["code"] == 13)
            #expect(fitted["errInfo"] == .document(details))
        }
    }

    @Test("the errors of the largest batch fit into one reply")
    func bounded() {
        var room = WriteErrorRoom()
        let details: BSONDocument = ["primaryKey": .string(String(repeating: "i", count: 10_000))]
        let size = (0..<Int32(WriteBatch.countMax)).reduce(0) {
            $0 + room.fitted(Self.entry($1, details)).byteCount + 8
        }
        #expect(size < 16 * 1_024 * 1_024)
    }
}
