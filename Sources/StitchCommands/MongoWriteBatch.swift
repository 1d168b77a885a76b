internal import BSONStore
internal import StitchSync

/// An execution of a batch of independent conditional writes, which determines the outcome of
/// each.
struct MongoWriteBatch {
    private let writes: [RemoteWrite]
    private let server: any MongoServer
    private let namespace: Namespace
    private var outcomes: [RemoteWriteOutcome?]
    /// The error that stopped the batch.
    private var failure: RemoteError?

    init(_ writes: [RemoteWrite], server: any MongoServer, namespace: Namespace) {
        self.writes = writes
        self.server = server
        self.namespace = namespace
        outcomes = Array(repeating: nil, count: writes.count)
    }

    /// Sends all writes, and reads documents again only where the totals leave the outcome
    /// open.
    ///
    /// A connection failure becomes the outcome of every write whose outcome is unknown.
    mutating func sendAll() async -> [RemoteWriteOutcome] {
        let commands = MongoWriteCommand.commands(
            writes, writes.indices, inBulk: await isInBulk()
        ) { write in
            let statement = MongoWriteCommand.statement(write, MongoWriteFilter.filter(write))
            return statement.byteCount <= MongoWriteCommand.statementBytesMax ? statement : nil
        }
        // No command has a statement that is too large.
        let sent = commands.flatMap { $0.statements.map(\.index) }
        var unclear = Set(writes.indices).subtracting(sent)
        for command in commands {
            unclear.formUnion(await send(command))
        }
        if !unclear.isEmpty { await clearUp(unclear.sorted()) }
        await findOwnInserts()
        let failure = failure ?? RemoteError(.retryable, "nothing is known of the write")
        return outcomes.map { $0 ?? .failed(failure) }
    }

    /// Returns whether one command holds all kinds of writes.
    ///
    /// Writes of one kind have a command of their own, which costs a server less.
    private mutating func isInBulk() async -> Bool {
        if let usesBulkWrite = server.usesBulkWrite { return usesBulkWrite }
        guard Set(writes.map { MongoWriteCommand.Kind($0.action) }).count > 1 else { return false }
        do throws(MongoFailure) {
            return try await server.takesBulkWrite()
        } catch {
            failure = error.remoteError
            return false
        }
    }

    /// Sends a command; returns the writes whose outcome is still unclear.
    private mutating func send(_ command: MongoWriteCommand) async -> [Int] {
        guard failure == nil else { return [] }
        do throws(MongoFailure) {
            let reply = try await server.run(
                command.request(namespace), on: command.database(namespace), .write)
            let answer = command.answer(reply)
            for (index, outcome) in answer.outcomes { outcomes[index] = outcome }
            return answer.unclear
        } catch {
            let reason = error.remoteError
            guard reason.errorClass == .rejected else {
                failure = reason
                return []
            }
            // One statement may have made the command fail for the others; a missing right concerns them
            // all.
            guard command.statements.count > 1, reason.code != StoreError.Code.unauthorized.rawValue
            else {
                for statement in command.statements {
                    outcomes[statement.index] = .failed(reason)
                }
                return []
            }
            var unclear: [Int] = []
            for statement in command.statements {
                unclear += await send(command.alone(statement))
            }
            return unclear
        }
    }

    /// Reads documents whose writes may not have found the expected state.
    ///
    /// MongoDB's comparison of documents depends on field order, ours does not: if a document
    /// is as expected by our rules, the write is repeated with exactly the read document as its
    /// condition.
    private mutating func clearUp(_ unclear: [Int]) async {
        guard let found = await read(unclear, projection: nil) else { return }
        var again: [Int: BSONDocument] = [:]
        for index in unclear {
            let write = writes[index]
            guard let document = found[index] else {
                outcomes[index] = .notMatched
                continue
            }
            if Self.wrote(write, document) {
                outcomes[index] = .applied
            } else if case .insert = write.action {
                outcomes[index] = .duplicateKey
            } else if write.condition.holds(for: document) {
                again[index] = document
            } else {
                outcomes[index] = .notMatched
            }
        }
        if !again.isEmpty { await sendAgain(again) }
    }

    /// Reads the documents that inserts met: an earlier copy of the request may have inserted them.
    private mutating func findOwnInserts() async {
        let duplicates = outcomes.indices.filter { outcomes[$0] == .duplicateKey }
        guard !duplicates.isEmpty,
            let found = await read(duplicates, projection: [DocumentVersion.fieldName: 1])
        else { return }
        for index in duplicates where found[index].map({ Self.wrote(writes[index], $0) }) ?? false {
            outcomes[index] = .applied
        }
    }

    private mutating func sendAgain(_ read: [Int: BSONDocument]) async {
        var unclear: [Int] = []
        for index in read.keys.sorted() {
            guard let document = read[index] else { continue }
            let write = writes[index]
            var body = MongoWriteCommand.statement(
                write, MongoWriteFilter.filter(write, asRead: document))
            if body.byteCount > MongoWriteCommand.statementBytesMax {
                body = MongoWriteCommand.statement(write, MongoWriteFilter.versionFilter(write))
            }
            for command in MongoWriteCommand.commands(writes, [index], statement: { _ in body }) {
                unclear += await send(command)
            }
        }
        guard !unclear.isEmpty,
            let found = await self.read(unclear, projection: [DocumentVersion.fieldName: 1])
        else { return }
        for index in unclear {
            let isOurs = found[index].map { Self.wrote(writes[index], $0) } ?? false
            outcomes[index] = isOurs ? .applied : .notMatched
        }
    }

    /// Whether the document has the version of the write's own attempt.
    private static func wrote(_ write: RemoteWrite, _ document: BSONDocument) -> Bool {
        VersionField(of: document).version?.operation == write.operation.value
    }

    private mutating func read(
        _ indices: [Int], projection: BSONDocument?
    ) async -> [Int: BSONDocument]? {
        guard failure == nil else { return nil }
        let ids = indices.map { writes[$0].documentID }
        var query = MongoQuery(namespace, filter: ["_id": ["$in": .array(BSONArray(ids))]])
        query.projection = projection
        do throws(MongoFailure) {
            let documents = Dictionary(
                try await query.run(server).map { (BSONKey.encode($0["_id"] ?? .null), $0) },
                uniquingKeysWith: { $1 })
            return Dictionary(
                uniqueKeysWithValues: zip(indices, ids).compactMap { index, id in
                    documents[BSONKey.encode(id)].map { (index, $0) }
                })
        } catch {
            failure = error.remoteError
            return nil
        }
    }
}
