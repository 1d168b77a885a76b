import BSONStore

/// Indexes: making, filling and using them.
enum IndexRoads {
    /// The roads.
    static var all: [Road] { making + using }

    private static func create(
        _ name: String, _ keys: BSONDocument, _ options: BSONDocument = [:], upTo: Int = 16_000,
        _ document: @escaping (Int) -> BSONDocument = Sample.document
    ) -> Road {
        Road(once: "index: create \(name)", .documents, upTo: upTo) { n in
            let items = try await Sample.collection((0..<n).map(document))
            return Trip { try items.createIndex(keys, options) }
        }
    }

    /// Inserts one document whose one value has n parts.
    private static func one(
        _ name: String, _ growth: Road.Growth, _ keys: BSONDocument, upTo: Int,
        _ document: @escaping (Int) -> BSONDocument
    ) -> Road {
        Road(once: "index: insert \(name)", growth, upTo: upTo) { n in
            let items = try await Sample.collection()
            try items.createIndex(keys)
            let document = document(n)
            return Trip { try await items.insertOne(document) }
        }
    }

    private static var making: [Road] {
        [
            create("on a field", ["shuffled": 1]),
            create("unique", ["shuffled": 1], ["unique": true]),
            create("compound", ["group": 1, "shuffled": -1]),
            create("multikey", ["tags": 1]),
            create("wildcard", ["$**": 1], upTo: 8_000),
            create("text", ["text": "text"], upTo: 8_000),
            create("hashed", ["n": "hashed"]),
            create("2dsphere", ["at": "2dsphere"], upTo: 4_000) { number in
                ["_id": .int(number), "at": [.double(Double(number % 90)), .double(1)]]
            },
            one("a multikey array", .elements, ["a": 1], upTo: 32_000) {
                ["_id": 1, "a": Sample.array($0)]
            },
            one("a multikey array of documents", .elements, ["a.b": 1, "a.c": 1], upTo: 16_000) {
                ["_id": 1, "a": Sample.array($0) { ["b": .int($0), "c": 1] }]
            },
            one("a text", .words, ["a": "text"], upTo: 32_000) {
                ["_id": 1, "a": .string(Sample.words($0))]
            },
            one("many fields, wildcard", .fields, ["$**": 1], upTo: 16_000) { Sample.wide($0) },
            one("a polygon, 2dsphere", .corners, ["a": "2dsphere"], upTo: 8_000) {
                ["_id": 1, "a": .document(Sample.polygon($0))]
            },
            Road(once: "index: change one element of a multikey array", .elements, upTo: 32_000) {
                n in
                let items = try await Sample.collection()
                try items.createIndex(["a": 1])
                try await items.insertOne(["_id": 1, "a": Sample.array(n)])
                return Trip { try await items.updateOne(["_id": 1], ["$set": ["a.0": -1]]) }
            },
            Road(once: "index: insert under many indexes", .indexes, from: 4, upTo: 60) { n in
                let items = try await Sample.collection()
                for name in Sample.names(n) { try items.createIndex([name: 1]) }
                let documents = (0..<50).map { number in
                    BSONDocument([("_id", .int(number))] + Sample.fields(60).map { ($0, $1) })
                }
                return Trip { try await items.insertMany(documents) }
            },
            Road(once: "index: unique index, insertMany", .documents, upTo: 16_000) { n in
                let (items, documents) = (try await Sample.collection(), Sample.documents(n))
                try items.createIndex(["shuffled": 1], ["unique": true])
                return Trip { try await items.insertMany(documents) }
            },
            Road(once: "index: deleteMany by an index", .documents, upTo: 16_000) { n in
                let items = try await Sample.collection(Sample.documents(n))
                try items.createIndex(["half": 1])
                return Trip { try await items.deleteMany(["half": 1]) }
            },
            Road(once: "index: dropIndex", .documents, upTo: 16_000) { n in
                let items = try await Sample.collection(Sample.documents(n))
                let name = try items.createIndex(["n": 1])
                return Trip { try items.dropIndex(name) }
            },
        ]
    }

    private static func indexed(
        _ name: String, _ keys: BSONDocument, _ growth: Road.Growth = .documents,
        upTo: Int = 16_000,
        _ run: @escaping (DocumentCollection<BSONDocument>, Int) async throws -> Void
    ) -> Road {
        Road("index: \(name)", growth, upTo: upTo) { n in
            let items = try await Sample.collection(Sample.documents(n))
            try items.createIndex(keys)
            return Trip { try await run(items, n) }
        }
    }

    private static var using: [Road] {
        [
            indexed("find a range", ["n": 1]) { items, n in
                _ = try items.find(["n": ["$gte": .int(n / 2)]]).fetch()
            },
            indexed("sort by an index", ["shuffled": 1]) { items, _ in
                _ = try items.find().sort(["shuffled": 1]).fetch()
            },
            indexed("$in of many values", ["n": 1], .values) { items, n in
                _ = try items.find(["n": ["$in": Sample.array(n)]]).fetch()
            },
            indexed("$in of many values, sorted", ["n": 1, "shuffled": 1], .values, upTo: 8_000) {
                items, n in
                _ = try items.find(["n": ["$in": Sample.array(n)]]).sort(["shuffled": 1]).fetch()
            },
            indexed("$or of many equalities", ["n": 1], .branches, upTo: 8_000) { items, n in
                _ = try items.find(["$or": Sample.array(n) { ["n": .int($0)] }]).fetch()
            },
            indexed("$nin of many values", ["n": 1], .values, upTo: 8_000) { items, n in
                _ = try items.find(["n": ["$nin": Sample.array(n)]]).fetch()
            },
            indexed("count by an index", ["n": 1]) { items, n in
                _ = try items.find(["n": ["$gte": .int(n / 2)]]).count()
            },
            indexed("distinct by an index", ["shuffled": 1]) { items, _ in
                _ = try items.find().distinct("shuffled")
            },
            indexed("$text search", ["text": "text"], upTo: 8_000) { items, _ in
                _ = try items.find(["$text": ["$search": "item"]]).fetch()
            },
            indexed("$text search of many words", ["text": "text"], .words, upTo: 4_000) {
                items, n in
                let words = (0..<n).map { "\($0)" }.joined(separator: " ")
                _ = try items.find(["$text": ["$search": .string(words)]]).fetch()
            },
            indexed("prefix regex", ["text": 1]) { items, _ in
                _ = try items.find(["text": ["$regex": "^item 1"]]).fetch()
            },
        ]
    }
}
