public import BSONStore
extension SyncCollection {
    @discardableResult
    public func insertOne(_ document: Document) async throws -> BSONValue {
        try await insertMany([document])[0]
    }
    @discardableResult
    public func insertMany(_ documents: [Document]) async throws -> [BSONValue] {
        let encoded = try documents.map { try coding.encode($0, nil).withoutVersion }
        let ids = try await write { sync in
            try encoded.map { document in
                let stored = try sync.transaction.insert(sync.namespace, document)
                try sync.noteLocalWrite(before: nil, after: stored)
                return stored.documentID
            }
        }
        engine.wake()
        return ids
    }
    public func findOne(id: BSONValue) async throws -> Document? {
        try engine.store.read { transaction in
            try transaction.get(namespace, id: id)
        }.map(coding.decode)
    }
    public func updateOne(_ filter: BSONDocument, _ update: BSONDocument) async throws {
        let id = filter["_id"]!
        try await write { sync in
            guard let before = try sync.local(id) else { return }
            var after = before
            for (k, v) in update["$set"]?.documentValue ?? [:] { try after.set(path: k, to: v) }
            for (k, _) in update["$unset"]?.documentValue ?? [:] { _ = after.removeValue(atPath: k) }
            if after == before { return }
            try sync.setLocal(id, to: after)
            try sync.noteLocalWrite(before: before, after: after)
        }
        engine.wake()
    }
    @discardableResult
    public func deleteOne(_ filter: BSONDocument) async throws -> Int {
        let id = filter["_id"]!
        let n = try await write { sync in
            guard let before = try sync.local(id) else { return 0 }
            try sync.setLocal(id, to: nil)
            try sync.noteLocalWrite(before: before, after: nil)
            return 1
        }
        engine.wake()
        return n
    }
}
