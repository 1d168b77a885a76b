import BSONStore
import Testing

/// A device's stream has what the device needs, and not more than its user may read.
@Suite(.timeLimit(.minutes(60))) struct BriefEventTests {
    private static let options: BSONDocument = ["stitchsyncBriefEvents": true]
    private static let field = "__stitch_sync_version"

    private static func version(_ number: UInt8) -> BSONValue {
        var bytes = [UInt8](repeating: 0, count: 16)
        (bytes[7], bytes[15]) = (7, number)
        return [
            "spv": 1, "id": "lineage", "v": .int64(Int64(number)),
            "op": .binary(BSONBinary(bytes)),
        ]
    }

    /// An event without its token.
    private static func next(_ stream: ServerStream) throws -> BSONDocument {
        var event = try stream.next()
        #expect(event.removeValue(forKey: "_id")?.documentValue?["_data"] != nil)
        return event
    }

    @Test(
        "Inserts and replacements have the document, updates what tells the version",
        arguments: RuledWorld.Place.allCases)
    func kinds(_ place: RuledWorld.Place) async throws {
        try await RuledClients.lend(place) { clients in
            let root = clients.root
            let stream = try ServerStream(root, Self.options)
            let key: BSONValue = ["_id": "new"]
            let inserted: BSONDocument = ["_id": "new", "n": 1, Self.field: Self.version(1)]
            try root.insert([inserted], into: "items")
            #expect(
                try Self.next(stream) == [
                    "operationType": "insert", "documentKey": key,
                    "fullDocument": .document(inserted),
                ])
            try root.update("new", ["$set": ["n": 2, Self.field: Self.version(2)]])
            let written: BSONDocument = ["_id": "new", "n": 2, Self.field: Self.version(2)]
            #expect(try Self.next(stream) == Self.update(written, wrote: true, at: place))
            // Another tool leaves the version as it is.
            try root.update("new", ["$set": ["n": 3]])
            let foreign: BSONDocument = ["_id": "new", "n": 3, Self.field: Self.version(2)]
            #expect(try Self.next(stream) == Self.update(foreign, wrote: false, at: place))
            let text = BSONValue.string(String(repeating: "x", count: 3_000))
            try root.update("new", ["$set": ["text": text]])
            #expect(try Self.next(stream) == ["operationType": "update", "documentKey": key])
            try root.update("new", ["$set": ["n": 4, Self.field: Self.version(3)]])
            #expect(
                try Self.next(stream) == [
                    "operationType": "update", "documentKey": key,
                    "versionFields": [["k": .string(Self.field), "v": Self.version(3)]],
                ])
            try root.update("new", ["$unset": [Self.field: 1]])
            #expect(
                try Self.next(stream) == [
                    "operationType": "update", "documentKey": key,
                    "updateDescription": ["removedFields": [.string(Self.field)]],
                ])
            try root.run(["delete": "items", "deletes": [["q": ["_id": "new"], "limit": 1]]])
            #expect(try Self.next(stream) == ["operationType": "delete", "documentKey": key])
        }
    }

    /// A gateway does not look the document up, which its upstream would have to do.
    private static func update(
        _ document: BSONDocument, wrote: Bool, at place: RuledWorld.Place
    ) -> BSONDocument {
        var event: BSONDocument = [
            "operationType": "update", "documentKey": ["_id": document["_id"] ?? .null],
        ]
        switch place {
        case .file:
            event.append("fullDocument", .document(document))
            event.append("wroteVersion", .bool(wrote))
        case .gateways where wrote:
            event.append(
                "versionFields", [["k": .string(field), "v": document[field] ?? .null]])
        case .gateways: break
        }
        return event
    }

    @Test(
        "What a user may not read is in no brief event",
        arguments: RuledWorld.Place.allCases)
    func underRules(_ place: RuledWorld.Place) async throws {
        try await RuledClients.lend(place) { clients in
            let root = clients.root
            let streams = try clients.bound.map { try ServerStream($0, Self.options) }
            try root.update("own", ["$set": ["n": 10, "salary": 11]])
            try root.update("far", ["$set": ["n": 12]])
            try root.update("other", ["$set": ["tenant": "b"]])
            try root.update("far", ["$set": ["tenant": "a"]])
            for (client, stream) in zip(clients.bound, streams) {
                let told = try Self.next(stream)
                #expect(told["documentKey"] == ["_id": "own"])
                let seen = try client.run(["find": "items", "filter": ["_id": "own"]])["cursor"]?
                    .documentValue?["firstBatch"]?.arrayValue?.values.first
                if place == .file { #expect(told["fullDocument"] == seen) }
                #expect(
                    try Self.next(stream) == [
                        "operationType": "delete", "documentKey": ["_id": "other"],
                        "leftView": true,
                    ])
                let entered = try Self.next(stream)
                #expect(entered["operationType"] == "insert")
                #expect(entered["fullDocument"]?.documentValue?["n"] == 12)
            }
        }
    }

    @Test("The option is a truth value")
    func malformed() async throws {
        try await RuledClients.lend(.file) { clients in
            try expectRefusal(
                14, by: clients.root,
                [
                    "aggregate": "items",
                    "pipeline": [["$changeStream": ["stitchsyncBriefEvents": "yes"]]],
                    "cursor": [:],
                ])
        }
    }
}
