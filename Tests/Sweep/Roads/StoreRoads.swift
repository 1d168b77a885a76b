import BSONStore

/// The calls of a store and its collections.
enum StoreRoads {
    /// The roads.
    static var all: [Road] { writing + reading + following + keeping }

    private static func filled(
        _ name: String, upTo: Int = 32_000,
        _ run: @escaping (DocumentCollection<BSONDocument>, Int) async throws -> Void
    ) -> Road {
        Road(name, .documents, upTo: upTo) { n in
            let items = try await Sample.collection(Sample.documents(n))
            return Trip { try await run(items, n) }
        }
    }

    private static func changed(
        _ name: String, _ growth: Road.Growth = .documents, upTo: Int = 16_000,
        _ run: @escaping (DocumentCollection<BSONDocument>, Int) async throws -> Void
    ) -> Road {
        Road(once: name, growth, upTo: upTo) { n in
            let items = try await Sample.collection(Sample.documents(n))
            return Trip { try await run(items, n) }
        }
    }

    private static var writing: [Road] {
        [
            Road(once: "store: insertOne", .documents, upTo: 8_000) { n in
                let (items, documents) = (try await Sample.collection(), Sample.documents(n))
                return Trip { for document in documents { try await items.insertOne(document) } }
            },
            Road(once: "store: insertMany", .documents, upTo: 32_000) { n in
                let (items, documents) = (try await Sample.collection(), Sample.documents(n))
                return Trip { try await items.insertMany(documents) }
            },
            Road(once: "store: insertMany unordered, half exist", .documents, upTo: 16_000) { n in
                let documents = Sample.documents(n)
                let items = try await Sample.collection(Array(documents.prefix(n / 2)))
                return Trip {
                    do { try await items.insertMany(documents, ordered: false) } catch {}
                }
            },
            Road(once: "store: bulkWrite of inserts", .writes, upTo: 16_000) { n in
                let items = try await Sample.collection()
                let writes = Sample.documents(n).map { BulkWrite.insertOne($0) }
                return Trip { try await items.bulkWrite(writes) }
            },
            changed("store: bulkWrite of updates", .writes) { items, n in
                try await items.bulkWrite(
                    (0..<n).map { .updateOne(["_id": .int($0)], ["$set": ["n": -1]]) })
            },
            changed("store: bulkWrite of deletes", .writes) { items, n in
                try await items.bulkWrite((0..<n).map { .deleteOne(["_id": .int($0)]) })
            },
            changed("store: updateOne", upTo: 8_000) { items, n in
                for number in 0..<n {
                    try await items.updateOne(["_id": .int(number)], ["$inc": ["n": 1]])
                }
            },
            changed("store: updateMany") { items, _ in
                try await items.updateMany([:], ["$set": ["n": -1]])
            },
            changed("store: replaceOne", upTo: 8_000) { items, n in
                for number in 0..<n {
                    try await items.replaceOne(["_id": .int(number)], ["n": -1])
                }
            },
            changed("store: findOneAndUpdate", upTo: 8_000) { items, n in
                for number in 0..<n {
                    try await items.findOneAndUpdate(
                        ["_id": .int(number)], ["$inc": ["n": 1]])
                }
            },
            changed("store: deleteOne", upTo: 8_000) { items, n in
                for number in 0..<n { try await items.deleteOne(["_id": .int(number)]) }
            },
            changed("store: deleteMany") { items, _ in try await items.deleteMany([:]) },
            changed("store: upserts", .writes, upTo: 8_000) { items, n in
                for number in 0..<n {
                    try await items.updateOne(
                        ["_id": .int(-number - 1)], ["$set": ["n": 1]], upsert: true)
                }
            },
            Road(once: "store: one transaction of writes", .writes, upTo: 16_000) { n in
                let store = try Sample.store()
                return Trip {
                    try await store.write { transaction in
                        for number in 0..<n {
                            try transaction.insert(Sample.namespace, Sample.document(number))
                        }
                    }
                }
            },
            Road(once: "store: savepoints of one transaction", .writes, upTo: 8_000) { n in
                let store = try Sample.store()
                return Trip {
                    try await store.write { transaction in
                        for number in 0..<n {
                            _ = try transaction.savepoint {
                                try transaction.insert(Sample.namespace, Sample.document(number))
                            }
                        }
                    }
                }
            },
            Road(once: "store: insert into a capped collection", .documents, upTo: 16_000) { n in
                let store = try Sample.store()
                try store.createCollection(
                    Sample.namespace, ["capped": true, "size": 1_000_000, "max": 100])
                let (items, documents) = (store.collection(Sample.namespace), Sample.documents(n))
                return Trip { try await items.insertMany(documents) }
            },
            Road(once: "store: writes that trim the history", .writes, upTo: 16_000) { n in
                let items = try Sample.store(history: 100).collection(Sample.namespace)
                let documents = Sample.documents(n)
                return Trip {
                    for document in documents { try await items.insertOne(document) }
                }
            },
            Road(once: "store: deletes that leave tombstones", .writes, upTo: 16_000) { n in
                let items = try Sample.store(history: 10).collection(Sample.namespace)
                try await items.insertMany(Sample.documents(n))
                return Trip { try await items.deleteMany([:]) }
            },
        ]
    }

    private static var reading: [Road] {
        [
            filled("store: find all") { items, _ in _ = try items.find().fetch() },
            filled("store: forEach") { items, _ in try items.find().forEach { _ in } },
            filled("store: findOne(id:)", upTo: 16_000) { items, n in
                for number in 0..<n { _ = try items.findOne(id: .int(number)) }
            },
            filled("store: find by a scan") { items, _ in
                _ = try items.find(["group": 3, "half": 1]).fetch()
            },
            filled("store: sort without an index") { items, _ in
                _ = try items.find().sort(["shuffled": 1]).fetch()
            },
            filled("store: sort and limit") { items, n in
                _ = try items.find().sort(["shuffled": 1]).skip(n / 2).limit(10).fetch()
            },
            filled("store: pages by skip and limit", upTo: 8_000) { items, n in
                // 20 pages, whatever n.
                for page in 0..<20 {
                    _ = try items.find().skip(page * n / 20).limit(n / 20).fetch()
                }
            },
            filled("store: count") { items, _ in _ = try items.find(["half": 1]).count() },
            filled("store: distinct") { items, _ in _ = try items.find().distinct("shuffled") },
            filled("store: distinct of arrays") { items, _ in _ = try items.find().distinct("tags")
            },
            filled("store: explain with execution") { items, _ in
                _ = try items.find(["half": 1]).explain(.executionStats)
            },
        ]
    }

    private static var following: [Road] {
        [
            Road(once: "store: observe, first snapshot and a change", .documents, upTo: 16_000) {
                n in
                let items = try await Sample.collection(Sample.documents(n))
                var snapshots = try items.find().sort(["n": 1]).observe()
                    .makeAsyncIterator()
                return Trip {
                    _ = try await snapshots.next()
                    try await items.updateOne(["_id": 0], ["$set": ["n": .int(n)]])
                    _ = try await snapshots.next()
                }
            },
            Road(once: "store: observe, all documents reversed", .documents, upTo: 8_000) { n in
                let items = try await Sample.collection(Sample.documents(n))
                var snapshots = try items.find().sort(["n": 1]).observe()
                    .makeAsyncIterator()
                _ = try await snapshots.next()
                return Trip {
                    try await items.updateMany([:], ["$mul": ["n": -1]])
                    _ = try await snapshots.next()
                }
            },
            Road(once: "store: observe, every second removed", .documents, upTo: 8_000) { n in
                let items = try await Sample.collection(Sample.documents(n))
                var snapshots = try items.find().observe().makeAsyncIterator()
                _ = try await snapshots.next()
                return Trip {
                    try await items.deleteMany(["half": 1])
                    _ = try await snapshots.next()
                }
            },
            Road("store: followChanges", .events, upTo: 16_000) { n in
                let store = try Sample.store(history: 10 * n)
                try await store.collection(Sample.namespace).insertMany(Sample.documents(n))
                return Trip {
                    var (changes, count) = (store.followChanges(after: 0).makeAsyncIterator(), 0)
                    while count < n, let batch = try await changes.next() {
                        count += batch.changes.count
                    }
                }
            },
            Road("store: changes of another collection", .events, upTo: 16_000) { n in
                let store = try Sample.store(history: 10 * n)
                try await store.collection(Sample.namespace).insertMany(Sample.documents(n))
                let other = Namespace("app", "other")
                return Trip { try store.changes(after: 0, in: other, limit: 10 * n) }
            },
        ]
    }

    private static var keeping: [Road] {
        [
            filled("store: verify", upTo: 16_000) { items, _ in _ = try items.store.verify() },
            filled("store: statistics", upTo: 16_000) { items, _ in
                _ = try items.store.statistics()
            },
            Road(once: "store: backup", .documents, upTo: 32_000) { n in
                let (path, remove) = try Sample.file()
                let items = try await Sample.collection(Sample.documents(n))
                return Trip(end: remove) { try items.store.backup(to: path) }
            },
            Road(once: "store: compact", .documents, upTo: 32_000) { n in
                let (path, remove) = try Sample.file()
                let store = try DocumentStore(at: .file(path))
                try await store.collection(Sample.namespace).insertMany(Sample.documents(n))
                return Trip(end: {
                    store.close(); remove()
                }) { try store.compact() }
            },
            Road(once: "store: expire", .documents, upTo: 16_000) { n in
                let items = try await Sample.collection()
                try items.createIndex(["at": 1], ["expireAfterSeconds": 1])
                try await items.insertMany(
                    (0..<n).map { ["_id": .int($0), "at": .datetime(.init(milliseconds: 0))] })
                return Trip { try items.store.expire(now: .init(milliseconds: 1_000_000)) }
            },
            Road(
                once: "store: createCollection", .collections, upTo: 2_000,
                reason: "SQLite looks through its list of tables for each CREATE TABLE"
            ) { n in
                let store = try Sample.store()
                return Trip {
                    for name in Sample.names(n) { try store.createCollection(.init("app", name)) }
                }
            },
            Road(
                once: "store: first insert into collections", .collections, upTo: 2_000,
                reason: "SQLite looks through its list of tables for each CREATE TABLE"
            ) { n in
                let store = try Sample.store()
                return Trip {
                    for name in Sample.names(n) {
                        try await store.collection(.init("app", name)).insertOne(["_id": 1])
                    }
                }
            },
            Road("store: listCollections", .collections, upTo: 2_000) { n in
                let store = try await collections(n)
                return Trip { try store.listCollections("app") }
            },
            Road("store: statistics of collections", .collections, upTo: 2_000) { n in
                let store = try await collections(n)
                return Trip { try store.statistics() }
            },
            Road("store: verify collections", .collections, upTo: 2_000) { n in
                let store = try await collections(n)
                return Trip { try store.verify() }
            },
            Road(
                once: "store: dropCollection", .collections, upTo: 2_000,
                reason: "SQLite looks through its list of tables for each DROP TABLE"
            ) { n in
                let store = try await collections(n)
                return Trip {
                    for name in Sample.names(n) {
                        _ = try store.dropCollection(.init("app", name))
                    }
                }
            },
            Road(
                once: "store: dropDatabase", .collections, upTo: 2_000,
                reason: "SQLite looks through its list of tables for each DROP TABLE"
            ) { n in
                let store = try await collections(n)
                return Trip { try store.dropDatabase("app") }
            },
            changed("store: renameCollection") { items, _ in
                try items.store.renameCollection(items.namespace, to: .init("app", "renamed"))
            },
            Road("store: open a file", .collections, upTo: 2_000) { n in
                let (path, remove) = try Sample.file()
                let store = try DocumentStore(at: .file(path))
                try await fill(store, n)
                store.close()
                return Trip(end: remove) {
                    let store = try DocumentStore(at: .file(path))
                    _ = try store.collection(.init("app", "f0")).find().count()
                    store.close()
                }
            },
        ]
    }

    private static func collections(_ count: Int) async throws -> DocumentStore {
        let store = try Sample.store()
        try await fill(store, count)
        return store
    }

    private static func fill(_ store: DocumentStore, _ count: Int) async throws {
        try await store.write { transaction in
            for name in Sample.names(count) {
                _ = try transaction.insert(Namespace("app", name), ["_id": 1])
            }
        }
    }
}
