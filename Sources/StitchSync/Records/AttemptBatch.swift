internal import BSONStore

/// Attempts that are sent together, stored in one row instead of in each record (rule R3).
///
/// The row is there from before the request until the transaction that settles the answers. Whoever
/// else writes to the collection meanwhile first spreads it over the records, and so does the next
/// pass, when no answer came.
struct AttemptBatch: Sendable {
    /// What an attempt is, given its record.
    enum Kind: UInt64 {
        case insert = 0
        case update = 1
        case delete = 2
    }

    /// One attempt.
    struct Member: Sendable {
        let row: Int64
        let operation: OperationID
        let kind: Kind
    }

    let members: [Member]
    let token: ResumeToken?
}

extension AttemptBatch {
    /// The batch as it is stored: 32 bytes for each member, big-endian.
    fileprivate var document: BSONDocument {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(members.count * 32)
        for member in members {
            let words = [
                UInt64(bitPattern: member.row), member.operation.instance,
                member.operation.sequence, member.kind.rawValue,
            ]
            for word in words {
                withUnsafeBytes(of: word.bigEndian) { bytes.append(contentsOf: $0) }
            }
        }
        var document: BSONDocument = ["attempts": .binary(BSONBinary(bytes))]
        if let token { document.append("token", .document(token.document)) }
        return document
    }

    fileprivate init?(_ document: BSONDocument) {
        guard case .binary(let binary) = document["attempts"], binary.bytes.count % 32 == 0 else {
            return nil
        }
        let words = stride(from: 0, to: binary.bytes.count, by: 8).map { at in
            binary.bytes[at..<at + 8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        }
        var members: [Member] = []
        for at in stride(from: 0, to: words.count, by: 4) {
            guard let kind = Kind(rawValue: words[at + 3]) else { return nil }
            members.append(
                Member(
                    row: Int64(bitPattern: words[at]),
                    operation: OperationID(instance: words[at + 1], sequence: words[at + 2]),
                    kind: kind))
        }
        self.members = members
        token = document["token"]?.documentValue.map(ResumeToken.init)
    }
}

extension SyncRecordTable {
    /// Stores a batch and returns its row.
    func add(_ batch: AttemptBatch, in collection: Int64) throws -> Int64 {
        let insert = try connection.prepare(
            "INSERT INTO sync_attempts(collection, count, batch) VALUES (?, ?, ?)")
        insert.bind(1, collection)
        insert.bind(2, Int64(batch.members.count))
        insert.bind(3, batch.document)
        try insert.run()
        return connection.lastInsertedRowID
    }

    /// The batches that are not settled.
    func attemptBatches(in collection: Int64) throws -> [(row: Int64, batch: AttemptBatch)] {
        let select = try connection.prepare(
            "SELECT id, batch FROM sync_attempts WHERE collection = ? ORDER BY id")
        select.bind(1, collection)
        var found: [(row: Int64, batch: AttemptBatch)] = []
        while try select.step() {
            guard let batch = AttemptBatch(try Self.document(select, 1, "batch")) else {
                throw Self.damaged("batch")
            }
            found.append((select.int64(0), batch))
        }
        return found
    }

    /// Removes a batch; `false` when it is gone.
    func removeAttempts(_ row: Int64) throws -> Bool {
        let delete = try connection.prepare("DELETE FROM sync_attempts WHERE id = ?")
        delete.bind(1, row)
        try delete.run()
        return connection.changedRowCount == 1
    }
}

extension SyncTransaction {
    /// Stores each attempt of the open batches with its record.
    func expandAttemptBatches() throws {
        for (row, batch) in try records.attemptBatches(in: collection.rowID) {
            for member in batch.members {
                guard var record = try records.record(row: member.row)?.record,
                    record.attempt == nil
                else { continue }
                let version = Self.version(after: record.version, member.operation, member.kind)
                record.attempt = Attempt(
                    operation: member.operation,
                    intended: member.kind == .delete ? .absent : .sameAsLocal,
                    version: version.map(VersionField.version) ?? .absent, token: batch.token)
                try save(record)
            }
            _ = try records.removeAttempts(row)
        }
    }

    /// The version that an attempt gives the document; `nil` for a delete.
    static func version(
        after base: VersionField, _ operation: OperationID, _ kind: AttemptBatch.Kind
    ) -> DocumentVersion? {
        switch (kind, base.version) {
        case (.delete, _): nil
        case (.insert, _), (.update, nil): DocumentVersion.first(operation: operation)
        case (.update, let base?): base.next(operation: operation)
        }
    }
}

extension CollectionPass {
    /// Spreads attempts whose answers never came, so that each is settled by evidence.
    func expandAttemptBatches() async throws {
        guard try read({ $1.hasAttempts }) else { return }
        try await write { try $0.expandAttemptBatches() }
    }
}
