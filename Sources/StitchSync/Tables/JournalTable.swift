internal import BSONStore

/// The tables of the journal in one transaction.
struct JournalTable {
    let connection: SQLiteConnection

    /// Stores a conflict in place of an earlier one of the same document.
    func add(_ conflict: JournaledConflict) throws {
        let insert = try connection.prepare(
            """
            INSERT OR REPLACE INTO sync_conflicts(collection, key, entry)
            SELECT id, ?2, ?3 FROM sync_collections WHERE namespace = ?1
            """)
        insert.bind(1, conflict.namespace.description)
        insert.bind(2, keyOf: conflict.documentID)
        insert.bind(3, conflict.entry)
        try insert.run()
    }

    /// Stores a pass.
    func add(_ pass: JournaledPass) throws {
        let insert = try connection.prepare("INSERT INTO sync_passes(entry) VALUES (?)")
        insert.bind(1, pass.entry)
        try insert.run()
    }

    /// Removes all but the newest entries.
    func trim(conflictsMax: Int, passesMax: Int) throws {
        for (table, limit) in [("sync_conflicts", conflictsMax), ("sync_passes", passesMax)] {
            let delete = try connection.prepare(
                """
                DELETE FROM \(table) WHERE id <=
                    (SELECT id FROM \(table) ORDER BY id DESC LIMIT 1 OFFSET ?)
                """)
            delete.bind(1, Int64(limit))
            try delete.run()
        }
    }

    private static let deleteConflict = FixedStatement(
        "DELETE FROM sync_conflicts WHERE collection = ?1 AND key = ?2")

    /// Removes the conflict of a document that leaves the device.
    func forget(_ id: BSONValue, in collection: Int64) throws {
        let delete = try connection.prepare(Self.deleteConflict)
        delete.bind(1, collection)
        delete.bind(2, keyOf: id)
        try delete.run()
    }

    /// Returns all stored conflicts, the oldest first.
    func conflicts() throws -> [JournaledConflict] {
        let select = try connection.prepare(
            """
            SELECT namespace, entry FROM sync_conflicts
            JOIN sync_collections ON sync_collections.id = collection ORDER BY sync_conflicts.id
            """)
        var found: [JournaledConflict] = []
        while try select.step() {
            let namespace = try Namespace(parsing: select.string(0))
            let entry = try select.document(at: 1, named: "conflict")
            guard let conflict = JournaledConflict(entry, .journal, in: namespace) else {
                throw SyncError.unreadable("conflict")
            }
            found.append(conflict)
        }
        return found
    }

    /// Returns all stored passes, the oldest first.
    func passes() throws -> [JournaledPass] {
        let select = try connection.prepare("SELECT entry FROM sync_passes ORDER BY id")
        var found: [JournaledPass] = []
        while try select.step() {
            let entry = try select.document(at: 0, named: "pass")
            guard let pass = JournaledPass(entry) else { throw SyncError.unreadable("pass") }
            found.append(pass)
        }
        return found
    }
}

// MARK: - Entries

extension JournaledConflict {
    fileprivate var entry: BSONDocument {
        var entry: BSONDocument = [
            "_id": documentID, "at": .datetime(time), "landed": .bool(mayHaveLanded),
            "answer": .string(answer.name),
        ]
        switch answer {
        case .use(let document): entry.append("used", .document(document))
        case .failed(let reason): entry.append("reason", .string(reason))
        case .useLocal, .useRemote, .delete, .waits: break
        }
        for (key, edition) in [("base", base), ("local", local), ("remote", remote)] {
            if let edition { entry.append(key, .document(edition)) }
        }
        if let baseVersion { entry.append("baseVersion", baseVersion) }
        if let remoteVersion { entry.append("remoteVersion", remoteVersion) }
        return entry
    }
}

extension JournaledConflict.Answer {
    /// Converts a handler's resolution.
    init(_ resolution: ConflictResolution<BSONDocument>) {
        switch resolution {
        case .useLocal: self = .useLocal
        case .useRemote: self = .useRemote
        case .use(let document): self = .use(document)
        case .delete: self = .delete
        }
    }
}

extension JournaledPass {
    /// The stored counts, by their names.
    private static let counts:
        [(name: String, any WritableKeyPath<SyncPassReport, Int> & Sendable)] = [
            ("taken", \.taken), ("removed", \.removed), ("evicted", \.evicted),
            ("uploaded", \.uploaded), ("conflicts", \.conflicts), ("paused", \.paused),
            ("reverted", \.reverted), ("answered", \.answered), ("overtaken", \.overtaken),
            ("sets", \.subscriptionSets),
        ]

    fileprivate var entry: BSONDocument {
        var entry: BSONDocument = ["at": .datetime(time)]
        for (name, path) in Self.counts where report[keyPath: path] != 0 {
            entry.append(name, .int64(Int64(report[keyPath: path])))
        }
        if !report.errors.isEmpty {
            let names = report.errors.map { BSONValue.string($0.rawValue) }
            entry.append("errors", .array(BSONArray(names)))
        }
        return entry
    }

    fileprivate init?(_ entry: BSONDocument) {
        guard case .datetime(let time) = entry["at"] else { return nil }
        self.time = time
        var report = SyncPassReport()
        for (name, path) in Self.counts {
            report[keyPath: path] = Int(clamping: entry[name]?.int64Value ?? 0)
        }
        report.errors = (entry["errors"]?.arrayValue.map(Array.init) ?? []).compactMap {
            $0.stringValue.flatMap(SyncError.Code.init)
        }
        self.report = report
    }
}
