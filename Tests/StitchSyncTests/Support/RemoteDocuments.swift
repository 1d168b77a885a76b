import BSONStore
import StitchCommands
import Testing

@testable import StitchMongo
@testable import StitchSync

/// Reads and writes a world's remote documents by another way than sync does.
protocol RemoteDocuments: Sendable {
    /// The document as the remote has it, with its version.
    func document(_ id: BSONValue) throws -> BSONDocument?
    /// Puts a document in the place of the one with its id.
    func put(_ document: BSONDocument) throws
    /// Deletes a document.
    func remove(_ id: BSONValue) throws
    /// Drops the collection.
    func drop() throws
    /// Makes a unique index.
    func makeUnique(_ keys: BSONDocument, _ options: BSONDocument) throws
    /// Makes the collection, with a default collation that ignores case.
    func createIgnoringCase() throws
    /// How many documents a filter matches.
    func count(_ filter: BSONDocument) throws -> Int
    /// How many changes there were, `nil` where that cannot be told.
    func changeCount() throws -> Int?
    /// Ends the way.
    func close()
}

extension RemoteDocuments {
    /// Makes a unique index of a field.
    func makeUnique(_ field: String) throws { try makeUnique([field: 1], [:]) }
}

/// Goes to the remote's file.
struct StoredRemoteDocuments: RemoteDocuments {
    let store: DocumentStore
    let namespace: Namespace

    func document(_ id: BSONValue) throws -> BSONDocument? {
        try store.read { try $0.get(namespace, id: id) }
    }

    func put(_ document: BSONDocument) throws {
        try store.write { try $0.put(namespace, document) }
    }

    func remove(_ id: BSONValue) throws {
        _ = try store.write { try $0.remove(namespace, id: id) }
    }

    func count(_ filter: BSONDocument) throws -> Int {
        try store.read { try $0.count(namespace, filter: filter) }
    }

    func drop() throws { _ = try store.dropCollection(namespace) }

    func makeUnique(_ keys: BSONDocument, _ options: BSONDocument) throws {
        var options = options
        options["unique"] = true
        _ = try store.collection(namespace).createIndex(keys, options)
    }

    func createIgnoringCase() throws {
        _ = try store.createCollection(
            namespace, ["collation": ["locale": "en", "strength": 2]])
    }

    /// Those of documents: the feed also tells of collections.
    func changeCount() throws -> Int? {
        try store.read { transaction in
            try transaction.changes(after: 0, limit: 10_000).changes.count {
                $0.kind.isOfDocument && $0.namespace.database == namespace.database
            }
        }
    }

    func close() { store.close() }
}

#if MongoRemote
    /// Goes to a server by commands of its own.
    struct ServedRemoteDocuments: RemoteDocuments {
        let pool: MongoClientPool
        let namespace: Namespace

        init(uri: String, _ namespace: Namespace) throws {
            pool = try MongoClientPool(
                uri: uri,
                settings: .init(
                    applicationName: "StitchSync tests", serverSelectionTimeout: .seconds(60),
                    socketTimeout: .seconds(60), clients: .undivided(8)),
                onTopologyChange: { _ in })
            self.namespace = namespace
        }

        private func run(
            _ command: BSONDocument, _ kind: MongoCommandKind = .write
        ) throws -> BSONDocument {
            try pool.withClient { (client) throws(MongoFailure) in
                try client.run(command, on: namespace.database, kind)
            }
        }

        private func find(_ filter: BSONDocument) throws -> [BSONDocument] {
            let command: BSONDocument = [
                "find": .string(namespace.collection), "filter": .document(filter),
                "batchSize": .int32(100_000), "readConcern": ["level": "majority"],
            ]
            let reply = try run(command, .read)
            let cursor = reply["cursor"]?.documentValue
            #expect(cursor?["id"]?.int64Value == 0, "a batch holds all documents of a test")
            return cursor?["firstBatch"]?.arrayValue?.compactMap(\.documentValue) ?? []
        }

        func document(_ id: BSONValue) throws -> BSONDocument? { try find(["_id": id]).first }

        func makeUnique(_ keys: BSONDocument, _ options: BSONDocument) throws {
            var index: BSONDocument = ["key": .document(keys), "name": "unique", "unique": true]
            for (name, value) in options { index[name] = value }
            _ = try run([
                "createIndexes": .string(namespace.collection),
                "indexes": [.document(index)],
            ])
        }

        func createIgnoringCase() throws {
            _ = try run([
                "create": .string(namespace.collection),
                "collation": ["locale": "en", "strength": 2],
            ])
        }

        func put(_ document: BSONDocument) throws {
            _ = try run([
                "update": .string(namespace.collection),
                "updates": [
                    [
                        "q": ["_id": document["_id"] ?? .null], "u": .document(document),
                        "upsert": true,
                    ]
                ],
                "writeConcern": ["w": "majority"],
            ])
        }

        func remove(_ id: BSONValue) throws {
            _ = try run([
                "delete": .string(namespace.collection),
                "deletes": [["q": ["_id": id], "limit": 1]], "writeConcern": ["w": "majority"],
            ])
        }

        func count(_ filter: BSONDocument) throws -> Int { try find(filter).count }

        func drop() throws { _ = try run(["drop": .string(namespace.collection)]) }

        func changeCount() throws -> Int? { nil }

        func close() {
            do {
                _ = try run(["dropDatabase": 1])
            } catch {
                Issue.record(error, "the test's database stays")
            }
        }
    }
#endif
