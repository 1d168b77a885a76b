internal import BSONStore
internal import StitchSync

/// An application of writes that exchange values of unique indexes, in one transaction.
///
/// A server checks a unique index after each statement, and an error ends its transaction. So the
/// first updates give each document a value of its own, and the others its final values. All updates go in
/// one command, and inserts, which are rare here, in a second one: others that wait for a transaction end
/// it soon (Docs/SERVER.md, "Transactions and retryable writes").
struct MongoExchange {
    let writes: [RemoteWrite]
    /// The paths of the unique indexes' fields.
    let paths: [String]
    let server: any MongoServer
    let namespace: Namespace

    /// A command of the transaction, and how many statements it has.
    private typealias Command = (document: BSONDocument, statements: Int)

    /// Applies all writes or none.
    ///
    /// - Returns: an outcome for each write; `nil` where the server cannot apply them.
    /// - Throws: a failure after which they may have been applied, or a temporary one.
    func sendTogether() async throws(MongoFailure) -> [RemoteWriteOutcome]? {
        do throws(MongoFailure) {
            // The filters of the statements hold only for what is read here.
            guard let found = try await read() else { return nil }
            let checked = zip(writes, found).map { Self.check($0, $1) }
            guard checked.allSatisfy({ $0 == nil }) else {
                return checked.map { $0 ?? .notMatched }
            }
            guard let commands = commands(found) else { return nil }
            return try await runTogether(commands)
        } catch {
            switch MongoErrorClass.decide(error) {
            case .rejected, .unknown: return nil
            case .retryable, .unauthenticated, .historyLost, .collectionDropped: throw error
            }
        }
    }

    /// Runs commands in one transaction.
    private func runTogether(
        _ commands: [Command]
    ) async throws(MongoFailure) -> [RemoteWriteOutcome] {
        let session = try await server.startSession()
        defer { session.end(killing: nil) }
        do throws(MongoFailure) {
            try await session.startTransaction()
            for command in commands {
                guard try await isApplied(command, in: session) else {
                    await session.abortTransaction()
                    return writes.map { _ in .notMatched }
                }
            }
            try await session.commitTransaction()
            return writes.map { _ in .applied }
        } catch {
            await session.abortTransaction()
            throw error
        }
    }

    /// Runs a command; returns whether each of its statements wrote a document.
    private func isApplied(
        _ command: Command, in session: any MongoSession
    ) async throws(MongoFailure) -> Bool {
        let reply = try await session.run(command.document, on: namespace.database, waits: false)
        try Self.check(reply)
        return reply["n"]?.int64Value == Int64(command.statements)
    }

    /// Returns the commands of the transaction; `nil` where a write does not apply to its document.
    private func commands(_ found: [BSONDocument?]) -> [Command]? {
        var (parked, final, inserted): ([BSONDocument], [BSONDocument], [BSONDocument]) =
            ([], [], [])
        for (write, before) in zip(writes, found) {
            guard let before else {
                inserted.append(MongoWriteCommand.statement(write, [:]))
                continue
            }
            guard let after = Self.result(of: write, on: before) else { return nil }
            let filter = MongoWriteFilter.versionFilter(write)
            let places = Self.places(paths, from: before, to: after)
            let values = places.map { ($0, Self.ownValue(like: before[path: $0], write.operation)) }
            if !values.isEmpty {
                let park = RemoteWrite.Action.update(set: BSONDocument(values), unset: [])
                parked.append(MongoWriteCommand.statement(write.with(park), filter))
            }
            // Paths through an array lead nowhere once a value has taken its place.
            let isWhole = places.contains { !paths.containsBytes(of: $0) }
            final.append(
                MongoWriteCommand.statement(
                    isWhole ? write.with(.replace(after)) : write, filter))
        }
        return [("update", "updates", parked + final), ("insert", "documents", inserted)]
            .filter { !$0.2.isEmpty }
            .map { name, list, statements in
                let document: BSONDocument = [
                    name: .string(namespace.collection), "ordered": true,
                    list: .array(BSONArray(statements.map { .document($0) })),
                ]
                return (document, statements.count)
            }
    }

    /// Returns the documents as they are now; `nil` if they do not fit into a reply.
    private func read() async throws(MongoFailure) -> [BSONDocument?]? {
        let ids = writes.map(\.documentID)
        let cursor = try MongoCursor(
            await server.run(
                [
                    "find": .string(namespace.collection),
                    "filter": ["_id": ["$in": .array(BSONArray(ids))]],
                    "collation": .document(MongoCollation.simple),
                    "batchSize": .int32(Int32(clamping: ids.count + 1)),
                ], on: namespace.database, .read))
        guard cursor.id == 0 else {
            let rest = MongoCursorID(id: cursor.id, namespace: namespace)
            _ = try await server.run(rest.kill, on: namespace.database, .read)
            return nil
        }
        let found = Dictionary(
            cursor.batch.map { (BSONKey.encode($0["_id"] ?? .null), $0) },
            uniquingKeysWith: { $1 })
        return ids.map { found[BSONKey.encode($0)] }
    }

    /// Throws the first error of a reply's statements.
    private static func check(_ reply: BSONDocument) throws(MongoFailure) {
        guard let errors = reply["writeErrors"]?.arrayValue,
            let error = errors.compactMap(\.documentValue).first
        else { return }
        throw MongoFailure(
            kind: .server, code: Int(error["code"]?.int64Value ?? 0),
            message: error["errmsg"]?.stringValue ?? "a write error without words")
    }
}

// MARK: - What to write

extension MongoExchange {
    /// Returns the outcome of a write that cannot be applied to a document; `nil` for one that can.
    private static func check(
        _ write: RemoteWrite, _ found: BSONDocument?
    ) -> RemoteWriteOutcome? {
        if let found, VersionField(of: found).version?.operation == write.operation.value {
            return .applied
        }
        if case .insert = write.action { return found == nil ? nil : .duplicateKey }
        guard let found, write.condition.holds(for: found) else { return .notMatched }
        return nil
    }

    /// Returns the document after a write; `nil` if it does not apply.
    private static func result(
        of write: RemoteWrite, on document: BSONDocument
    ) -> BSONDocument? {
        switch write.action {
        case .insert, .delete: return nil
        case .replace(let after): return after
        case .update(let set, let unset):
            let update = UpdateDescription(updatedFields: set, removedFields: unset)
            do throws(BSONError) {
                return try update.apply(to: document)
            } catch {
                return nil
            }
        }
    }

    /// Returns the paths whose values change, up to the first array or value on them; none is
    /// inside another.
    private static func places(
        _ paths: [String], from before: BSONDocument, to after: BSONDocument
    ) -> [String] {
        var places: [String] = []
        for path in paths.map({ reachable($0, in: before) }).sortedByBytes() {
            let isSame =
                switch (before[path: path], after[path: path]) {
                case (nil, nil): true
                case (let old?, let new?): old.contentEquals(new)
                case (nil, _), (_, nil): false
                }
            if isSame
                || places.contains(where: {
                    path.hasSameBytes(as: $0) || path.hasBytePrefix($0 + ".")
                })
            {
                continue
            }
            places.append(path)
        }
        return places
    }

    private static func reachable(_ path: String, in document: BSONDocument) -> String {
        var reached: [String] = []
        for part in path.dottedParts {
            if !reached.isEmpty {
                let above = document[path: reached.joined(separator: ".")]
                if let above, above.documentValue == nil { break }
            }
            reached.append(part)
        }
        return reached.joined(separator: ".")
    }

    /// Returns a value that no other document has, of the type of another value where there are
    /// enough of them.
    private static func ownValue(like value: BSONValue?, _ operation: OperationID) -> BSONValue {
        let name = operation.value
        var hash = Hasher()
        hash.combine(name)
        let number = Int64(hash.finalize())
        return switch value {
        case .string: .string("\(name.extendedJSON(.relaxed))")
        case .int64: .int64(number)
        case .double: .double(Double(number))
        case .datetime: .datetime(BSONDatetime(milliseconds: number))
        default: name
        }
    }
}

extension RemoteWrite {
    /// Returns the write with another action.
    fileprivate func with(_ action: Action) -> RemoteWrite {
        RemoteWrite(
            documentID: documentID, operation: operation, action: action, condition: condition)
    }
}
