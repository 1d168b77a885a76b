import BSONStore
import Testing

@testable import StitchWire

/// A client writes its message in one go; the server reads of it what was given.
struct OutgoingRequestTests {
    private static let body: BSONDocument = ["insert": "items", "$db": "app"]

    /// Documents of many sizes, also of more than a run of a batch has room for.
    private static let documents: [BSONDocument] = (0..<300).map { number in
        let size = number % 50 == 49 ? 20_000 : number * 7 % 400
        return ["_id": .int32(Int32(number)), "t": .string(String(repeating: "x", count: size))]
    }

    private static func written(_ request: OutgoingRequest) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: request.byteCount) { memory, count in
            request.write(to: UnsafeMutableRawBufferPointer(memory))
            count = request.byteCount
        }
    }

    private static func request(_ documents: [BSONDocument]?) -> OutgoingRequest {
        OutgoingRequest(
            requestID: 7, body: body,
            sequence: documents.map { WireRequest.Sequence(field: "documents", documents: $0) })
    }

    @Test(arguments: [nil, [], documents])
    func theServerReadsWhatWasGiven(_ documents: [BSONDocument]?) throws {
        let bytes = Self.written(Self.request(documents))
        let read = try bytes.withUnsafeBytes { try WireParser().parse($0) }
        #expect(read.requestID == 7)
        #expect(read.wantsReply)
        #expect(read.body == Self.body)
        #expect(read.sequences.map(\.field) == (documents == nil ? [] : ["documents"]))
        #expect(read.sequences.first?.documents == documents)
    }

    @Test func aCompressedMessageHoldsTheSame() throws {
        let message = try #require(Self.request(Self.documents).compressed(by: .snappy))
        #expect(message.count < Self.request(Self.documents).byteCount)
        let read = try message.withUnsafeBytes { try WireParser().parse($0) }
        #expect(read.sequences.first?.documents == Self.documents)
    }

    @Test func anInvalidDocumentOfAListIsRefused() {
        var bytes = Self.written(Self.request(Self.documents))
        // The kind of the last document's last value.
        let place = bytes.count - 1 - (Self.documents.last?["t"]?.stringValue?.utf8.count ?? 0) - 8
        bytes[place] = 0x7A
        #expect(throws: WireContentError.self) {
            try bytes.withUnsafeBytes { try WireParser().parse($0) }
        }
    }
}
