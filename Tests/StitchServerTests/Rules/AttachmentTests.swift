import BSONStore
import TestProcesses
import Testing

@testable import StitchServer

/// A file must not be easier to read or to replace than the field that refers to it.
@Suite(.timeLimit(.minutes(60))) struct AttachmentTests {
    /// `ann` writes shared documents, `ben` reads them, and `eve` sees no `photo`.
    private static let files = [
        "data_sources/mongodb-atlas/app/todos/rules.json": """
        {
          "database": "app", "collection": "todos",
          "roles": [
            {
              "name": "writer", "apply_when": {"%%user.id": "ann"},
              "document_filters": {"read": {"shared": true}, "write": {"shared": true}},
              "read": true, "write": true
            },
            {
              "name": "reader", "apply_when": {"%%user.id": "ben"},
              "document_filters": {"read": {"shared": true}, "write": false},
              "read": true, "write": false
            },
            {
              "name": "blind", "apply_when": {"%%user.id": "eve"},
              "document_filters": {"read": true, "write": true},
              "fields": {"photo": {"read": false, "write": false}},
              "additional_fields": {"read": true, "write": true}
            }
          ]
        }
        """,
        "data_sources/mongodb-atlas/app/others/rules.json": """
        {
          "database": "app", "collection": "others",
          "roles": [
            {
              "name": "all", "apply_when": {}, "insert": true,
              "document_filters": {"read": true, "write": true}, "read": true, "write": true
            }
          ]
        }
        """,
        "data_sources/mongodb-atlas/app/messages/rules.json": """
        {
          "database": "app", "collection": "messages",
          "roles": [
            {
              "name": "author", "apply_when": {}, "insert": true, "delete": false,
              "document_filters": {
                "read": true,
                "write": {"$and": [{"%%prevRoot": {"$exists": false}}, {"author": "%%user.id"}]}
              },
              "read": true, "write": true
            }
          ]
        }
        """,
    ]

    private static let first = [UInt8](repeating: 7, count: 2 * AttachmentBucket.chunkSize)
    private static let last = [UInt8](repeating: 9, count: 10)
    private static let photo = BSONStore.Attachment(
        id: BSONObjectID(), sha256: SHA256.hash(first + last),
        length: Int64(first.count + last.count),
        contentType: "image/png", name: "receipt.png")

    private struct Clients {
        let root: ServerClient
        /// An administrator at the last server.
        let distantRoot: ServerClient
        let ann: ServerClient
        let ben: ServerClient
        let eve: ServerClient
    }

    /// Lends clients of new servers: `ben` uses the last of them, the others use the first one.
    private static func lend(
        _ place: RuledWorld.Place, _ body: @escaping @Sendable (Clients) throws -> Void
    ) async throws {
        try await OpenRules.lend(files) { rules in
            try await RuledWorld.lend(place, ["--auth", "--rules", rules]) { ports in
                try ServerClient(port: ports[0], database: "app").run(
                    ["createUser": "root", "pwd": "pw", "roles": ["root"]], on: "admin")
                func client(_ user: String, _ port: Int) throws -> ServerClient {
                    try ServerClient(port: port, database: "app", user: user)
                }
                let root = try client("root", ports[0])
                for user in ["ann", "ben", "eve"] {
                    try root.run(
                        [
                            "createUser": .string(user), "pwd": "pw",
                            "roles": [["role": "readWrite", "db": "app"]],
                        ], on: "admin")
                }
                try root.insert(
                    [["_id": 1, "shared": true, "photo": photo.bsonValue]], into: "todos")
                try body(
                    Clients(
                        root: root, distantRoot: client("root", ports[ports.count - 1]),
                        ann: client("ann", ports[0]),
                        ben: client("ben", ports[ports.count - 1]),
                        eve: client("eve", ports[0])))
            }
        }
    }

    private static func command(
        _ name: String, _ document: BSONValue, _ photo: BSONValue, _ more: BSONDocument = [:],
        in collection: String = "todos"
    ) -> BSONDocument {
        var command: BSONDocument = [
            name: .string(collection), "document": document, "attachment": photo,
        ]
        for (key, value) in more { command.append(key, value) }
        return command
    }

    private static func text(_ reply: BSONDocument) -> String {
        "\(reply["state"]?.stringValue ?? reply.extendedJSON()) \(reply["bytes"]?.int64Value ?? -1)"
    }

    private static func state(
        _ client: ServerClient, _ document: BSONValue = 1, _ photo: BSONStore.Attachment = photo,
        in collection: String = "todos"
    ) throws -> String {
        text(
            try client.reply(
                command(
                    "stitchsyncAttachmentState", document, photo.bsonValue, in: collection)))
    }

    private static func put(
        _ client: ServerClient, _ bytes: [UInt8], at offset: Int, _ document: BSONValue = 1,
        _ photo: BSONStore.Attachment = photo, in collection: String = "todos"
    ) throws -> String {
        text(
            try client.reply(
                command(
                    "stitchsyncPutAttachment", document, photo.bsonValue,
                    ["offset": .int64(Int64(offset)), "data": .binary(BSONBinary(bytes))],
                    in: collection)))
    }

    private static func get(
        _ client: ServerClient, at offset: Int, _ count: Int, _ document: BSONValue = 1,
        _ photo: BSONStore.Attachment = photo, in collection: String = "todos"
    ) throws -> BSONValue? {
        try client.run(
            command(
                "stitchsyncGetAttachment", document, photo.bsonValue,
                ["offset": .int64(Int64(offset)), "count": .int64(Int64(count))],
                in: collection))["data"]
    }

    @Test(
        "A file is stored by those who change its reference, and read by those who see it",
        arguments: RuledWorld.Place.allCases)
    func rights(place: RuledWorld.Place) async throws {
        try await Self.lend(place) { clients in
            let (root, ann, ben, eve) = (clients.root, clients.ann, clients.ben, clients.eve)
            let count = Self.first.count
            #expect(try Self.state(ann) == "partial 0")
            #expect(try Self.put(ann, Self.last, at: count) == "partial 0")
            #expect(try Self.put(ben, Self.first, at: 0) == "unknown 0")
            #expect(try Self.put(eve, Self.first, at: 0) == "unknown 0")
            #expect(try Self.put(ann, Self.first, at: 0) == "partial \(count)")
            #expect(try Self.put(ann, Self.first, at: 0) == "partial \(count)")
            #expect(try Self.state(ben) == "partial \(count)")
            #expect(try Self.state(eve) == "unknown 0")
            #expect(try Self.state(ann, 3) == "unknown 0")
            #expect(try Self.get(ben, at: 0, 10) == .null)
            // The document leaves the view between two pieces.
            try root.update(1, ["$set": ["shared": false]], in: "todos")
            #expect(try Self.put(ann, Self.last, at: count) == "unknown 0")
            #expect(try Self.state(ben) == "unknown 0")
            try root.update(1, ["$set": ["shared": true]], in: "todos")
            #expect(try Self.put(ann, Self.last, at: count) == "complete \(count + 10)")
            #expect(try Self.put(ann, Self.last, at: count) == "complete \(count + 10)")
            let end = Array((Self.first + Self.last)[(count - 5)...])
            #expect(try Self.get(ben, at: count - 5, 100) == .binary(BSONBinary(end)))
            #expect(
                try Self.get(ben, at: 0, .max)
                    == .binary(BSONBinary(Self.first + Self.last)))
            #expect(try Self.get(ben, at: .max, 1) == .binary(BSONBinary([])))
            #expect(try Self.get(eve, at: 0, 10) == .null)
            // A reference to the file of another document.
            try ann.insert(
                [["_id": 2, "shared": true, "photo": Self.photo.bsonValue]], into: "todos")
            #expect(try Self.state(ann, 2) == "unknown 0")
            #expect(try Self.get(ann, at: 0, 10, 2) == .null)
            // References that no document holds; a name does not matter.
            let other = [UInt8](repeating: 7, count: 32)
            for guessed in [
                BSONStore.Attachment(
                    id: BSONObjectID(), sha256: Self.photo.sha256, length: Self.photo.length),
                BSONStore.Attachment(
                    id: Self.photo.id, sha256: other, length: Self.photo.length),
                BSONStore.Attachment(
                    id: Self.photo.id, sha256: Self.photo.sha256, length: Self.photo.length + 1),
            ] {
                #expect(try Self.state(ann, 1, guessed) == "unknown 0")
            }
            let renamed = BSONStore.Attachment(
                id: Self.photo.id, sha256: Self.photo.sha256, length: Self.photo.length)
            #expect(try Self.state(ann, 1, renamed) == "complete \(count + 10)")
            #expect(try Self.state(eve, 1, renamed) == "unknown 0")
            // Without rules.
            #expect(try Self.state(root) == "complete \(count + 10)")
            // The document leaves the view while the file is loading.
            #expect(try Self.get(ben, at: 0, 10) != .null)
            try root.update(1, ["$set": ["shared": false]], in: "todos")
            #expect(try Self.get(ben, at: 10, 10) == .null)
            #expect(try Self.get(ann, at: 10, 10) == .null)
            #expect(try Self.state(ben) == "unknown 0")
            try root.update(1, ["$set": ["shared": true]], in: "todos")
            #expect(try Self.get(ben, at: 10, 10) != .null)
        }
    }

    @Test(
        "A copy of a reference, in another collection or another field, gives no byte",
        arguments: RuledWorld.Place.allCases)
    func copies(place: RuledWorld.Place) async throws {
        try await Self.lend(place) { clients in
            let (ann, ben, eve) = (clients.ann, clients.ben, clients.eve)
            let count = Self.first.count
            func expectNothing(
                _ client: ServerClient, _ photo: BSONStore.Attachment = Self.photo,
                in collection: String = "todos"
            ) throws {
                #expect(try Self.state(client, 1, photo, in: collection) == "unknown 0")
                #expect(try Self.get(client, at: 0, 10, 1, photo, in: collection) == .null)
                let put = try Self.put(client, Self.last, at: count, 1, photo, in: collection)
                #expect(put == "unknown 0")
            }
            #expect(try Self.put(ann, Self.first, at: 0) == "partial \(count)")
            // In another collection, in a document of the same `_id` that the user writes.
            try eve.insert([["_id": 1, "photo": Self.photo.bsonValue]], into: "others")
            // While the content is not known to be there, the user may send it for this document.
            #expect(try Self.state(eve, in: "others") == "partial 0")
            #expect(try Self.get(eve, at: 0, 10, in: "others") == .null)
            #expect(try Self.put(eve, Self.last, at: count, in: "others") == "partial 0")
            // In another field of the same document, which the user writes.
            let other = BSONStore.Attachment(
                id: Self.photo.id, sha256: [UInt8](repeating: 0, count: 32),
                length: Self.photo.length)
            for copy in [Self.photo, other] {
                try eve.run([
                    "update": "todos",
                    "updates": [["q": ["_id": 1], "u": ["$set": ["note": copy.bsonValue]]]],
                ])
                try expectNothing(eve, copy)
            }
            #expect(try Self.put(ann, Self.last, at: count) == "complete \(count + 10)")
            try expectNothing(eve, in: "others")
            try expectNothing(eve, other)
            // Who sees both fields reads the file, by the genuine reference.
            #expect(try Self.get(ben, at: 0, 10) != .null)
            #expect(try Self.get(ben, at: 0, 10, 1, other) == .null)
            try clients.root.update(1, ["$unset": ["note": 1]], in: "todos")
            #expect(try Self.get(ben, at: 0, 10) != .null)
            try expectNothing(eve)
        }
    }

    /// Who reads a reference knows the id, and could keep it from the file for good.
    @Test(
        "An id that another user's file took first does not keep a file out",
        arguments: RuledWorld.Place.allCases)
    func takenIDs(place: RuledWorld.Place) async throws {
        try await Self.lend(place) { clients in
            let (ann, ben, eve) = (clients.ann, clients.ben, clients.eve)
            let count = Self.first.count
            let taking = BSONStore.Attachment(
                id: Self.photo.id, sha256: SHA256.hash([1]), length: 1)
            try eve.insert([["_id": 1, "photo": taking.bsonValue]], into: "others")
            #expect(try Self.put(eve, [1], at: 0, 1, taking, in: "others") == "complete 1")
            #expect(try Self.state(ann) == "partial 0")
            #expect(try Self.put(ann, Self.first, at: 0) == "partial \(count)")
            #expect(try Self.put(ann, Self.last, at: count) == "complete \(count + 10)")
            #expect(
                try Self.get(ben, at: 0, .max) == .binary(BSONBinary(Self.first + Self.last)))
            #expect(
                try Self.get(eve, at: 0, .max, 1, taking, in: "others")
                    == .binary(BSONBinary([1])))
        }
    }

    @Test(
        "Who wrote a document that cannot be changed stores its file, and others do not",
        arguments: RuledWorld.Place.allCases)
    func writtenOnce(place: RuledWorld.Place) async throws {
        try await Self.lend(place) { clients in
            let (ann, ben) = (clients.ann, clients.ben)
            let count = Self.first.count
            try ann.insert(
                [["_id": 1, "author": "ann", "photo": Self.photo.bsonValue]], into: "messages")
            let change = try ann.reply([
                "update": "messages", "updates": [["q": ["_id": 1], "u": ["$set": ["text": "a"]]]],
            ])
            #expect(ServerRefusal.error(of: change)?["code"] == 13, "\(change)")
            func put(_ client: ServerClient, _ bytes: [UInt8], at offset: Int) throws -> String {
                try Self.put(client, bytes, at: offset, in: "messages")
            }
            #expect(try put(ben, Self.first, at: 0) == "unknown 0")
            #expect(try put(ann, Self.first, at: 0) == "partial \(count)")
            #expect(try put(ben, Self.last, at: count) == "unknown 0")
            #expect(try put(ann, Self.last, at: count) == "complete \(count + 10)")
            #expect(try Self.get(ben, at: 0, 10, in: "messages") != .null)
        }
    }

    @Test(
        "A file to which no document refers is collected, and can be stored again",
        arguments: RuledWorld.Place.allCases)
    func orphans(place: RuledWorld.Place) async throws {
        try await Self.lend(place) { clients in
            let (root, ann) = (clients.root, clients.ann)
            let count = Self.first.count
            let collect: BSONDocument = ["stitchsyncCollectAttachments": 1, "graceMinutes": 0]
            /// Collects, and returns whether each file is marked then. What the reply counts is not
            /// asked: the server's own first run may have changed the marks a moment before.
            func marksAfterCollecting() throws -> [Bool] {
                let reply = try root.run(collect, on: "admin")
                for count in ["marked", "unmarked", "removedFiles", "removedChunks"] {
                    #expect(reply[count]?.wholeNumber != nil, "\(reply)")
                }
                return try root.documents(["find": "attachments.files"]).map {
                    $0["metadata"]?.documentValue?["orphanSince"] != nil
                }
            }
            #expect(try ann.reply(collect, on: "admin")["code"] == 13)
            _ = try Self.put(ann, Self.first, at: 0)
            #expect(try Self.put(ann, Self.last, at: count) == "complete \(count + 10)")
            #expect(try marksAfterCollecting() == [false])
            try root.update(1, ["$unset": ["photo": 1]], in: "todos")
            #expect(try marksAfterCollecting() == [true])
            let set: BSONValue = ["$set": ["photo": Self.photo.bsonValue]]
            // A reference that comes back before the removal keeps the file.
            try root.update(1, set, in: "todos")
            #expect(try marksAfterCollecting() == [false])
            #expect(try Self.get(clients.ben, at: 0, 10) != .null)
            try root.update(1, ["$unset": ["photo": 1]], in: "todos")
            #expect(try marksAfterCollecting() == [true])
            // Two gateways remove it at the same time.
            let roots = [root, clients.distantRoot]
            for root in roots { root.send(collect, on: "admin") }
            let replies = try roots.map { try $0.answer() }
            let removed = replies.map { $0["removedFiles"]?.wholeNumber }
            #expect(removed == [0, 1] || removed == [1, 0], "\(replies)")
            #expect(try root.documents(["find": "attachments.chunks"]).isEmpty)
            let files = try root.documents(["find": "attachments.files"])
            try root.update(1, set, in: "todos")
            #expect(try Self.get(clients.ben, at: 0, 10) == .null)
            switch place {
            case .file:
                #expect(files.isEmpty)
            case .gateways:
                // Uploads wait until none that began before the removal can be under way.
                #expect(files.count == 1 && files.first?["length"]?.wholeNumber == 0, "\(files)")
                #expect(files.first?["metadata"]?.documentValue?["removedAt"] != nil)
                let state = try Self.put(ann, Self.first, at: 0)
                #expect(!state.hasPrefix("partial \(count)"), "\(state)")
                #expect(try root.documents(["find": "attachments.chunks"]).isEmpty)
                // An administrator ends the wait.
                try root.run([
                    "update": "attachments.files",
                    "updates": [
                        [
                            "q": [:],
                            "u": [
                                "$set": [
                                    "metadata.removedAt": .datetime(BSONDatetime(milliseconds: 0))
                                ]
                            ],
                        ]
                    ],
                ])
                #expect(try marksAfterCollecting().isEmpty)
            }
            #expect(try Self.put(ann, Self.first, at: 0) == "partial \(count)")
            #expect(try Self.put(ann, Self.last, at: count) == "complete \(count + 10)")
            #expect(try Self.get(clients.ben, at: 0, 10) != .null)
        }
    }

    @Test(
        "Wrong content is forgotten, and unusable arguments are errors",
        arguments: RuledWorld.Place.allCases)
    func faults(place: RuledWorld.Place) async throws {
        try await Self.lend(place) { clients in
            let ann = clients.ann
            let wrong = BSONStore.Attachment(
                id: BSONObjectID(), sha256: Self.photo.sha256, length: Int64(Self.last.count))
            try ann.insert(
                [["_id": 5, "shared": true, "photo": wrong.bsonValue]], into: "todos")
            #expect(try Self.put(ann, Self.last, at: 0, 5, wrong) == "partial 0")
            #expect(try clients.root.documents(["find": "attachments.chunks"]).isEmpty)
            let large = [UInt8](repeating: 0, count: AttachmentBucket.pieceSizeMax + 1)
            func code(_ photo: BSONValue, _ more: BSONDocument) throws -> Int? {
                ServerRefusal(
                    reply: try ann.reply(
                        Self.command("stitchsyncPutAttachment", 1, photo, more))
                ).code
            }
            let photo = Self.photo.bsonValue
            #expect(try code(photo, ["offset": 0, "data": .binary(BSONBinary(large))]) == 2)
            // As long as a piece of an earlier version may be.
            let longest = Array(large.dropLast())
            #expect(AttachmentBucket.chunksPerMessage < AttachmentBucket.chunksPerMessageMax)
            #expect(try code(photo, ["offset": 0, "data": .binary(BSONBinary(longest))]) == nil)
            #expect(try code(photo, ["offset": 0, "data": "text"]) == 14)
            #expect(try code(photo, ["offset": -1, "data": .binary(BSONBinary([]))]) == 2)
            #expect(try code(["attachment": 1], ["offset": 0, "data": "text"]) == 2)
            let endless = BSONStore.Attachment(
                id: BSONObjectID(), sha256: Self.photo.sha256, length: .max)
            #expect(
                try code(endless.bsonValue, ["offset": 0, "data": .binary(BSONBinary([]))]) == 2)
        }
    }

    @Test(
        "Users under rules reach no bucket, and an administrator does",
        arguments: RuledWorld.Place.allCases)
    func bucket(place: RuledWorld.Place) async throws {
        try await Self.lend(place) { clients in
            let (root, ann) = (clients.root, clients.ann)
            _ = try Self.put(ann, Self.first, at: 0)
            _ = try Self.put(ann, Self.last, at: Self.first.count)
            #expect(try root.documents(["find": "attachments.files"]).count == 1)
            #expect(try root.documents(["find": "attachments.chunks"]).count == 3)
            for name in ["attachments.files", "attachments.chunks"] {
                let bucket = BSONValue.string(name)
                #expect(try ann.documents(["find": bucket]).isEmpty)
                #expect(try ann.run(["count": bucket])["n"]?.wholeNumber == 0)
                let joined = try ann.documents([
                    "aggregate": "todos", "cursor": [:],
                    "pipeline": [["$lookup": ["from": bucket, "pipeline": [], "as": "found"]]],
                ])
                #expect(joined.allSatisfy { $0["found"]?.arrayValue?.isEmpty == true })
                let both = try ann.documents([
                    "aggregate": "todos", "pipeline": [["$unionWith": bucket]], "cursor": [:],
                ])
                #expect(both.count == 1)
                let denied: [BSONDocument] = [
                    ["insert": bucket, "documents": [["_id": 1]]],
                    [
                        "aggregate": "todos", "pipeline": [["$merge": bucket]], "cursor": [:],
                    ],
                    ["aggregate": "todos", "pipeline": [["$out": bucket]], "cursor": [:]],
                    ["drop": bucket], ["collStats": bucket],
                ]
                for command in denied {
                    let refusal = ServerRefusal(reply: try ann.reply(command))
                    #expect(refusal.code != nil, "\(command)")
                }
                _ = try ann.run(["delete": bucket, "deletes": [["q": [:], "limit": 0]]])
            }
            let listed = try ann.documents(["listCollections": 1]).compactMap {
                $0["name"]?.stringValue
            }
            #expect(!listed.contains { $0.hasPrefix("attachments") }, "\(listed)")
            #expect(try root.documents(["find": "attachments.chunks"]).count == 3)
        }
    }
}
