internal import BSONStore

/// The documents that the statements of a writing command need.
struct StatementNeeds {
    let call: CommandCall
    let list: StatementList
    /// Whether inserts need the documents that have their ids: in a client's transaction, which an
    /// upstream ends when it refuses a write.
    let loadsTakenIDs: Bool
    /// Whether all documents are needed that the user sees: the upstream refused a query, and the
    /// command itself is to say which, and why.
    var isWide = false

    /// The kind of one statement.
    private enum Kind {
        case insert, update, delete

        /// Reads the first field of a statement in a mixed list; that of an invalid one is an update,
        /// which the command itself refuses.
        init(_ name: String) {
            switch name {
            case "insert": self = .insert
            case "delete": self = .delete
            default: self = .update
            }
        }
    }

    /// Collects what some statements read.
    ///
    /// - Throws: the errors of the command's arguments, which the command itself reports.
    func needs(_ statements: [BSONDocument]) throws -> WriteNeeds {
        switch list {
        case .inserts: try needs(statements, .insert)
        case .updates: try needs(statements, .update)
        case .deletes: try needs(statements, .delete)
        case .mixed: try mixedNeeds(statements)
        }
    }

    private func needs(_ statements: [BSONDocument], _ kind: Kind) throws -> WriteNeeds {
        var needs = WriteNeeds()
        let namespace = try call.collection()
        needs.add(namespace)
        for statement in statements { add(statement, kind, namespace, &needs) }
        return needs
    }

    private func mixedNeeds(_ statements: [BSONDocument]) throws -> WriteNeeds {
        var needs = WriteNeeds()
        let namespaces = try BulkWriteCommand.namespaces(call)
        for statement in statements {
            guard let (name, place) = statement.firstElement, let index = place.wholeNumber,
                namespaces.indices.contains(index)
            else { continue }
            add(statement, Kind(name), namespaces[index], &needs)
        }
        return needs
    }

    private func add(
        _ statement: BSONDocument, _ kind: Kind, _ namespace: Namespace,
        _ needs: inout WriteNeeds
    ) {
        guard kind != .insert else {
            needs.add(namespace)
            let document = list == .inserts ? statement : statement["document"]?.documentValue
            if loadsTakenIDs, let id = document?["_id"] { needs.add(ids: [id], in: namespace) }
            return
        }
        guard isValid(statement, kind) else {
            // The command itself reports it, without any documents.
            needs.add(namespace)
            return
        }
        guard !isWide else {
            needs.add(.all, in: namespace)
            return
        }
        let filter = (statement["q"] ?? statement["filter"])?.documentValue ?? [:]
        let variables = UpdateStatement.variables(of: statement, beside: call.document("let"))
        if statement["hint"] != nil || WriteNeeds.namesIndexes(filter) { needs.addIndexes() }
        let isMulti =
            list == .deletes
            ? statement["limit"]?.wholeNumber != 1 : statement["multi"]?.isTrue ?? false
        needs.add(
            ClientQuery(
                filter: filter, collation: statement["collation"]?.documentValue,
                variables: variables, sort: statement["sort"]?.documentValue,
                limit: isMulti ? 0 : 1),
            in: namespace)
    }

    /// Whether the part of an update or delete can be read that selects documents.
    private func isValid(_ statement: BSONDocument, _ kind: Kind) -> Bool {
        let isMixed = list == .mixed
        let result = Result {
            let query: BSONDocument
            if kind == .delete {
                let read = try isMixed ? DeleteStatement(bulk: statement) : .init(statement)
                query = read.query
            } else {
                let read = try isMixed ? UpdateStatement(bulk: statement) : .init(statement)
                query = read.query
            }
            let collation = try CommandCall.collation(statement["collation"])
            let variables = UpdateStatement.variables(
                of: statement, beside: call.document("let"))
            _ = try CommandCall.filter(
                query, variables: variables, collation: statement["collation"])
            if let sort = statement["sort"]?.documentValue {
                _ = try SortOrder(sort, collation: collation)
            }
        }
        return result.value != nil
    }

    /// Adds what an upstream refused a write for: the documents that have its keys.
    ///
    /// - Parameter after: the document that was not written.
    static func add(
        conflictOf fault: CommandFailure, _ after: BSONDocument?, in namespace: Namespace,
        to needs: inout WriteNeeds
    ) {
        needs.addIndexes()
        if let id = after?["_id"] { needs.add(ids: [id], in: namespace) }
        guard fault.details["keyValue"] != nil else { return }
        needs.add(conflict: conflict(fault, after), in: namespace)
    }

    /// Returns the filter for the documents that have the keys for which an upstream refused a
    /// write.
    static func conflict(_ fault: CommandFailure, _ after: BSONDocument?) -> BSONDocument {
        let keys = fault.details["keyValue"]?.documentValue ?? ["_id": after?["_id"] ?? .null]
        var filter = BSONDocument()
        for (field, key) in keys { filter.append(field, ["$eq": key]) }
        return filter
    }
}

extension WriteNeeds {
    /// Whether a query uses an operator that needs an index.
    static func namesIndexes(_ filter: BSONDocument) -> Bool {
        filter.contains { name, value in
            CommandCall.indexOperators.contains(name)
                || (value.documentValue.map(namesIndexes) ?? false)
                || (value.arrayValue?.contains { $0.documentValue.map(namesIndexes) ?? false }
                    ?? false)
        }
    }
}

/// The reply of a writing command, put together from runs of parts of its statements.
struct StatementTally {
    private let list: StatementList
    private var total = 0
    private var modified = 0
    private var upserted: [(index: Int, entry: BSONDocument)] = []
    private var errors: [(index: Int, entry: BSONDocument)] = []
    private var counts: [Name: Int] = [:]
    private var room = WriteErrorRoom()
    /// The last reply, of which everything else is taken.
    private var last = BSONDocument()

    init(_ list: StatementList) { self.list = list }

    private static let bulkCounts = [
        "nErrors", "nInserted", "nMatched", "nModified", "nUpserted", "nDeleted",
    ]

    /// Whether a statement was refused.
    private(set) var hasErrors = false

    /// Adds the reply to some statements.
    ///
    /// - Parameter indices: the statements' indexes in the client's command.
    mutating func add(_ reply: BSONDocument, at indices: [Int]) {
        last = reply
        if list == .mixed {
            for name in Self.bulkCounts {
                counts[name, default: 0] += Self.count(reply[name])
            }
            add(reply["cursor"]?.documentValue?["firstBatch"], "idx", indices, to: \.errors)
            return
        }
        total += Self.count(reply["n"])
        modified += Self.count(reply["nModified"])
        add(reply["upserted"], "index", indices, to: \.upserted)
        add(reply["writeErrors"], "index", indices, to: \.errors)
    }

    /// A count in a reply, which may be an upstream's and anything.
    private static func count(_ value: BSONValue?) -> Int {
        Int(Int32(clamping: max(0, value?.wholeNumber ?? 0)))
    }

    private mutating func add(
        _ list: BSONValue?, _ field: String, _ indices: [Int],
        to path: WritableKeyPath<StatementTally, [(index: Int, entry: BSONDocument)]>
    ) {
        for entry in list?.arrayValue?.compactMap(\.documentValue) ?? [] {
            guard let place = entry[field]?.wholeNumber, indices.indices.contains(place) else {
                continue
            }
            var moved = entry
            moved.set(field, to: .int32(Int32(clamping: indices[place])))
            // The results of `bulkWrite` are those of writes that succeeded, too.
            if path == \.errors, entry["ok"] != 1.0 {
                hasErrors = true
                moved = room.fitted(moved)
            }
            self[keyPath: path].append((indices[place], moved))
        }
    }

    /// Adds documents that a statement changed before it had to be run again.
    mutating func add(changed: Int, deleted: Int) {
        total += changed + deleted
        modified += changed
        if list == .mixed {
            counts["nMatched", default: 0] += changed
            counts["nModified", default: 0] += changed
            counts["nDeleted", default: 0] += deleted
        }
    }

    /// Adds the error of one statement.
    mutating func add(_ fault: CommandFailure, at index: Int) {
        hasErrors = true
        if list == .mixed {
            counts["nErrors", default: 0] += 1
            errors.append((index, room.fitted(fault.bulkWriteError(at: index))))
        } else {
            errors.append((index, room.fitted(fault.writeError(at: index))))
        }
    }

    /// Subtracts deletes that found nothing to delete.
    mutating func subtract(missedDeletes count: Int) { total -= count }

    /// The reply to the client.
    var reply: BSONDocument {
        let entries = errors.sorted { $0.index < $1.index }.map { BSONValue.document($0.entry) }
        if list == .mixed {
            var cursor =
                last["cursor"]?.documentValue ?? [
                    "id": 0, "ns": "admin.$cmd.bulkWrite",
                ]
            cursor.set("firstBatch", to: .array(BSONArray(entries)))
            var reply: BSONDocument = ["cursor": .document(cursor)]
            for name in Self.bulkCounts {
                reply.append(name, .int32(Int32(clamping: counts[name] ?? 0)))
            }
            return reply
        }
        var reply: BSONDocument = ["n": .int32(Int32(clamping: total))]
        if list == .updates {
            if !upserted.isEmpty {
                let sorted = upserted.sorted { $0.index < $1.index }
                reply.append(
                    "upserted", .array(BSONArray(sorted.map { BSONValue.document($0.entry) })))
            }
            reply.append("nModified", .int32(Int32(clamping: modified)))
        }
        if !entries.isEmpty { reply.append("writeErrors", .array(BSONArray(entries))) }
        return reply
    }
}
