internal import BSONStore

/// A command on users: it runs on an excerpt with the users that it concerns, who are in the
/// upstream.
struct UserWrite {
    let backend: GatewayBackend
    let call: CommandCall
    let definition: CommandDefinition
    let concerned: ConcernedUsers

    /// The number of runs after which others are said to change the users too often.
    private static let runsMax = 10

    /// Runs the command and returns its outcome.
    ///
    /// - Throws: the command's errors, the upstream's errors, 112 (WriteConflict).
    func run() throws -> CommandOutcome {
        for _ in 0..<Self.runsMax {
            var part = CollectionPart(namespace: User.namespace, definition: nil)
            let link = backend.link.serving(call.connection)
            try link.find(GatewayDatabase.users, query, for: call) { part.documents.append($0) }
            for filter in [guests(of: part.documents), accounts(of: part.documents)] {
                guard let filter else { continue }
                let known = Set(part.documents.compactMap { User($0).map { Name($0.id) } })
                try link.find(
                    GatewayDatabase.users, UpstreamQuery(filter: filter), for: call
                ) { document in
                    if let user = User(document), !known.contains(Name(user.id)) {
                        part.documents.append(document)
                    }
                }
            }
            let (outcome, changes) = try backend.excerpts.withExcerpt([part]) { excerpt in
                let store = excerpt.backend(backend.services, under: nil)
                let outcome = try definition.parse(call.withoutTransaction, store).answer(store)
                return (outcome, try excerpt.changes())
            }
            let writer = UpstreamWriter(
                link: link, call: call, isConditional: true, hasCollation: { _ in false })
            switch try writer.send(changes) {
            case .done:
                if !changes.isEmpty { backend.services.server.userGeneration.withLock { $0 += 1 } }
                return outcome
            case .stopped(let index, _):
                try takeBack(changes.prefix(index), link)
            }
        }
        throw CommandFailure(112, "other clients changed the users again and again; try again")
    }

    /// Returns the filter of the anonymous users whom users were before; `nil` if there are no others
    /// than those given.
    private func guests(of documents: [BSONDocument]) -> BSONDocument? {
        let known = Set(documents.compactMap { User($0).map { Name($0.id) } })
        let ids = documents.compactMap { User($0)?.guestID }
            .filter { !known.contains(Name($0)) }
        guard !ids.isEmpty else { return nil }
        return ["_id": ["$in": .array(BSONArray(ids.map { .string($0) }))]]
    }

    /// Returns the filter of the accounts as which anonymous users registered; `nil` where the command
    /// does not ask for them.
    private func accounts(of documents: [BSONDocument]) -> BSONDocument? {
        guard concerned == .callerAndNamed else { return nil }
        let ids = documents.compactMap { User($0)?.registeredAccountID }
        return ids.isEmpty ? nil : ["userId": ["$in": .array(BSONArray(ids))]]
    }

    /// Removes the marks of registrations of which only the mark was stored.
    ///
    /// - Parameter landed: the changes that were made before one that was not.
    private func takeBack(_ landed: ArraySlice<StoreChange>, _ link: UpstreamLink) throws {
        for change in landed {
            guard let mark = change.after.flatMap(User.init), let account = mark.registeredAs else {
                continue
            }
            let own: BSONDocument = [
                "_id": ["$eq": .string(mark.id)], "registeredAs": ["$eq": .string(account)],
            ]
            _ = try link.run(
                [
                    "delete": .string(GatewayDatabase.users.collection),
                    "deletes": [["q": .document(own), "limit": 1]],
                    "writeConcern": ["w": "majority"],
                ], on: GatewayDatabase.users.database, repeatedAs: .write, for: call)
        }
    }

    private var query: UpstreamQuery {
        var query = UpstreamQuery(filter: filter)
        // A former name's record, which is stored before its user is removed, is read after the user.
        if concerned == .named { query.sort = ["_id": 1] }
        return query
    }

    private var callerID: String {
        call.connection.state.withLock { $0.user }?.storedID ?? User.id("", "")
    }

    /// The users that the command concerns.
    private var filter: BSONDocument {
        let name = call.target.stringValue
        switch concerned {
        case .ofDatabase:
            let database = BSONValue.string(call.database)
            return ["$or": [["db": database], [FormerName.databaseField: database]]]
        case .caller:
            return ["_id": .string(callerID)]
        case .callerAndNamed:
            let ids = [callerID, User.id(name ?? "", call.database)].map { BSONValue.string($0) }
            return ["_id": ["$in": .array(BSONArray(ids))]]
        case .selected where name == nil: return [:]
        case .selected:
            return ["_id": .string(User.id(name ?? "", call.database))]
        case .named:
            let id = BSONValue.string(User.id(name ?? "", call.database))
            return ["_id": ["$in": [id, FormerName.id(name ?? "", call.database)]]]
        }
    }
}

/// The deletion of an account whose user and documents are in the upstream.
struct UpstreamAccountDeletion {
    let backend: GatewayBackend
    let call: CommandCall

    private var services: StoreBackend { backend.services }

    /// Deletes the account.
    ///
    /// - Throws: the errors of ``AccountDeletion``, and the upstream's.
    func run() throws -> CommandOutcome {
        let link = backend.link.serving(call.connection)
        return try AccountDeletion(call) { try services.users.records.user($0) }.run { step in
            switch step {
            case .delete(let selection):
                return try delete(selection.namespace, selection.filter, limit: 0, link)
            case .handOver(let selection, let heir):
                let set: BSONDocument = [selection.field: .string(heir)]
                let update: BSONDocument = [
                    "q": .document(selection.filter), "u": ["$set": .document(set)],
                    "multi": true, "collation": ["locale": "simple"],
                ]
                return try write(
                    [
                        "update": .string(selection.namespace.collection),
                        "updates": [.document(update)], "bypassDocumentValidation": true,
                    ], on: selection.namespace.database, link)
            case .removeUser(let user):
                defer { services.server.userGeneration.withLock { $0 += 1 } }
                return try remove(user, link)
            case .endGuest(let guest):
                defer { services.server.userGeneration.withLock { $0 += 1 } }
                return try end(guest, link)
            }
        }
    }

    /// Removes the user after it has recorded the name, as ``FormerName`` does in a store.
    private func remove(_ user: User, _ link: UpstreamLink) throws -> Int {
        if let record = FormerName.record(of: user) {
            _ = try change(
                ["_id": ["$eq": record["_id"] ?? .null]],
                ["$set": [FormerName.databaseField: .string(user.database)]], upsert: true, link)
        }
        if let id = user.guestID {
            _ = try change(["_id": ["$eq": .string(id)]], Self.endAsDeleted, upsert: false, link)
        }
        return try delete(
            GatewayDatabase.users,
            ["_id": ["$eq": .string(user.id)], "userId": ["$eq": user.accountID ?? .null]],
            limit: 1, link)
    }

    /// Stores that an anonymous user has ended.
    ///
    /// - Returns: 0 if the user had ended before.
    private func end(_ guest: User, _ link: UpstreamLink) throws -> Int {
        do {
            return try write(
                [
                    "insert": .string(GatewayDatabase.users.collection),
                    "documents": [.document(guest.stored)],
                ], on: GatewayDatabase.users.database, link, .write)
        } catch let fault as CommandFailure where fault.code == 11_000 {
            let stored = try services.users.user(guest.name, guest.database)
            guard let account = stored?.registeredAs,
                try services.users.ending(of: stored) == nil
            else { return 0 }
            // The mark of a registration without its account.
            return try change(
                ["_id": ["$eq": .string(guest.id)], "registeredAs": ["$eq": .string(account)]],
                Self.endAsDeleted, upsert: false, link)
        }
    }

    /// The update that does as ``User/endAsDeleted()``.
    private static let endAsDeleted: BSONDocument = [
        "$set": ["deleted": true], "$unset": ["registeredAs": "", "registeredAt": ""],
    ]

    /// Changes one document of the users, and returns how many matched.
    private func change(
        _ query: BSONDocument, _ update: BSONDocument, upsert: Bool, _ link: UpstreamLink
    ) throws -> Int {
        let statement: BSONDocument = [
            "q": .document(query), "u": .document(update), "upsert": .bool(upsert),
        ]
        return try write(
            [
                "update": .string(GatewayDatabase.users.collection),
                "updates": [.document(statement)],
            ], on: GatewayDatabase.users.database, link)
    }

    private func delete(
        _ namespace: Namespace, _ filter: BSONDocument, limit: Int32, _ link: UpstreamLink
    ) throws -> Int {
        let delete: BSONDocument = [
            "q": .document(filter), "limit": .int32(limit), "collation": ["locale": "simple"],
        ]
        return try write(
            ["delete": .string(namespace.collection), "deletes": [.document(delete)]],
            // Writes of several documents are not retryable, and safe to send again.
            on: namespace.database, link, limit == 1 ? .write : .read)
    }

    private func write(
        _ command: BSONDocument, on database: String, _ link: UpstreamLink,
        _ kind: UpstreamCommandKind = .read
    ) throws -> Int {
        var command = command
        command.append("writeConcern", ["w": "majority"])
        let reply = try link.run(command, on: database, repeatedAs: kind, for: call)
        let failed =
            reply["writeErrors"]?.arrayValue?.compactMap(\.documentValue).first
            ?? reply["writeConcernError"]?.documentValue
        if let failed {
            throw CommandFailure(
                Int32(clamping: failed["code"]?.int64Value ?? 8),
                failed["errmsg"]?.stringValue ?? "the write was refused")
        }
        return reply["n"]?.wholeNumber ?? 0
    }
}

/// A pipeline with `$merge`: it reads from the upstream, and merges into the target's documents in an
/// excerpt.
struct MergeNeeds {
    private let write: GatewayWrite
    private let stages: [BSONValue]
    private let merge: BSONValue
    /// The collection that it writes.
    let target: Namespace

    /// Reads a command; `nil` for one that has no target, which the command itself reports.
    init?(_ write: GatewayWrite) {
        let call = write.call
        stages = Array(call.array("pipeline") ?? [])
        guard let merge = stages.last?.documentValue?["$merge"] else { return nil }
        let into = merge.documentValue?["into"] ?? merge
        guard let name = into.stringValue ?? into.documentValue?["coll"]?.stringValue else {
            return nil
        }
        target = Namespace(into.documentValue?["db"]?.stringValue ?? call.database, name)
        (self.write, self.merge) = (write, merge)
    }

    /// Collects the needs.
    func needs() throws -> WriteNeeds {
        var needs = WriteNeeds()
        needs.addIndexes()
        for namespace in write.call.namedCollections + [target] { needs.add(namespace) }
        if write.call.namedCollections.dropFirst().contains(target) {
            needs.add(.all, in: target)
        } else if write.call.namedCollections.first == target {
            let conditions = stages.prefix { $0.documentValue?["$match"] != nil }
                .compactMap { $0.documentValue?["$match"] }
            needs.add(
                ClientQuery(
                    filter: conditions.isEmpty ? [:] : ["$and": .array(BSONArray(conditions))],
                    collation: write.call.document("collation"),
                    variables: write.call.document("let")),
                in: target)
        }
        guard merge.documentValue?["on"] == nil else {
            // Which documents are there decides about each result: all that may be are needed.
            needs.add(.all, in: target)
            return needs
        }
        needs.add(ids: try write.resultIDs(of: Array(stages.dropLast())), in: target)
        return needs
    }
}
