internal import BSONStore
internal import StitchSync

/// Groups conditional writes into as few commands as they fit in, and reads the replies; pure.
struct MongoWriteCommand: Sendable, Hashable {
    /// Which command carries the statements.
    enum Kind: String, Sendable, CaseIterable {
        case insert, update, delete
        /// Carries statements of all kinds, and tells of each of them (MongoDB 8.0).
        case bulkWrite
    }

    /// One write as the command says it.
    struct Statement: Sendable, Hashable {
        /// The write's place in the batch.
        let index: Int
        /// The command that would carry it alone.
        let kind: Kind
        let body: BSONDocument
    }

    let kind: Kind
    private(set) var statements: [Statement] = []

    /// Statements of one command; MongoDB takes 100,000.
    static let statementsMax = 10_000
    /// Bytes of the statements of one command, which is one document of at most 16 MiB.
    static let bytesMax = 12 * 1024 * 1024
    /// A statement beyond this cannot be sent: a document of 16 MiB and 16 KiB for what is around.
    static let statementBytesMax = 16 * 1024 * 1024 + 8 * 1024

    /// Returns the command for a collection.
    func command(_ namespace: Namespace) -> BSONDocument {
        let name = BSONValue.string(namespace.collection)
        let (target, list): (BSONValue, String) =
            switch kind {
            case .insert: (name, "documents")
            case .update: (name, "updates")
            case .delete: (name, "deletes")
            case .bulkWrite: (1, "ops")
            }
        let items = statements.map { kind == .bulkWrite ? $0.operation : $0.body }
        var command: BSONDocument = [
            kind.rawValue: target, "ordered": false, "writeConcern": ["w": "majority"],
            list: .array(BSONArray(items.map { .document($0) })),
        ]
        if kind == .bulkWrite {
            command.append("nsInfo", [["ns": .string(namespace.description)]])
        }
        return command
    }

    /// Returns the database that the command goes to.
    func database(_ namespace: Namespace) -> String {
        kind == .bulkWrite ? "admin" : namespace.database
    }
}

extension MongoWriteCommand {
    /// Returns the commands for some writes of a batch, in the order of kinds.
    ///
    /// - Parameters:
    ///   - inBulk: whether one command carries all kinds.
    ///   - statement: makes the statement of a write; `nil` leaves it out.
    static func commands(
        _ writes: [RemoteWrite], _ indices: some Sequence<Int>, inBulk: Bool = false,
        statement: (RemoteWrite) -> BSONDocument? = { statement($0, MongoWriteFilter.filter($0)) }
    ) -> [MongoWriteCommand] {
        var commands: [MongoWriteCommand] = []
        var open: [Kind: (command: MongoWriteCommand, bytes: Int)] = [:]
        for index in indices {
            guard let body = statement(writes[index]) else { continue }
            let own = Kind(writes[index].action)
            let kind = inBulk ? .bulkWrite : own
            var current = open[kind] ?? (MongoWriteCommand(kind: kind), 0)
            if !current.command.statements.isEmpty,
                current.bytes + body.byteCount > bytesMax
                    || current.command.statements.count >= statementsMax
            {
                commands.append(current.command)
                current = (MongoWriteCommand(kind: kind), 0)
            }
            current.command.statements.append(Statement(index: index, kind: own, body: body))
            current.bytes += body.byteCount
            open[kind] = current
        }
        return commands + Kind.allCases.compactMap { open[$0]?.command }
    }

    /// How a write is said with a filter.
    static func statement(_ write: RemoteWrite, _ filter: BSONDocument) -> BSONDocument {
        switch write.action {
        case .insert(let document): document
        case .delete: ["q": .document(filter), "limit": 1]
        case .replace(let document):
            ["q": .document(filter), "u": .document(document), "multi": false, "upsert": false]
        case .update(let set, let unset):
            [
                "q": .document(filter), "u": .document(update(set, unset)), "multi": false,
                "upsert": false,
            ]
        }
    }

    private static func update(_ set: BSONDocument, _ unset: [String]) -> BSONDocument {
        var update = BSONDocument()
        if !set.isEmpty { update.append("$set", .document(set)) }
        if !unset.isEmpty {
            update.append("$unset", .document(BSONDocument(unset.map { ($0, "") })))
        }
        return update
    }
}

extension MongoWriteCommand.Statement {
    /// The statement as `bulkWrite` says it, of the first collection named there.
    fileprivate var operation: BSONDocument {
        switch kind {
        case .insert, .bulkWrite: ["insert": 0, "document": .document(body)]
        case .update:
            [
                "update": 0, "filter": body["q"] ?? [:], "updateMods": body["u"] ?? [:],
                "multi": false, "upsert": false,
            ]
        case .delete: ["delete": 0, "filter": body["q"] ?? [:], "multi": false]
        }
    }
}

extension MongoWriteCommand.Kind {
    /// The command that carries an action.
    init(_ action: RemoteWrite.Action) {
        switch action {
        case .insert: self = .insert
        case .update, .replace: self = .update
        case .delete: self = .delete
        }
    }
}

extension MongoWriteCommand {
    /// What a reply says of the command's writes.
    struct Answer: Sendable, Hashable {
        /// The outcomes that are certain, by the writes' places in the batch.
        var outcomes: [Int: RemoteWriteOutcome] = [:]
        /// Writes of which only the total is known, and it is less than it could be.
        var unclear: [Int] = []
    }

    /// Reads a reply: the totals first, which mostly settle everything.
    func answer(_ reply: BSONDocument) -> Answer {
        var answer = Answer()
        if let failure = Self.writeConcernFailure(reply) {
            // Carried out here, perhaps to be undone: nobody knows.
            for statement in statements { answer.outcomes[statement.index] = .failed(failure) }
            return answer
        }
        for error in reply["writeErrors"]?.arrayValue?.compactMap(\.documentValue) ?? [] {
            guard let place = error["index"]?.int64Value, statements.indices.contains(Int(place))
            else { continue }
            let statement = statements[Int(place)]
            answer.outcomes[statement.index] = outcome(of: error, statement.kind)
        }
        if kind == .bulkWrite { return bulkAnswer(reply) }
        let rest = statements.map(\.index).filter { answer.outcomes[$0] == nil }
        if reply["n"]?.int64Value == Int64(rest.count) {
            for index in rest { answer.outcomes[index] = .applied }
        } else {
            answer.unclear = rest
        }
        return answer
    }

    /// Reads the outcomes that `bulkWrite` tells one by one.
    ///
    /// Those of a second batch, which only very many failures make, are found out by reading.
    private func bulkAnswer(_ reply: BSONDocument) -> Answer {
        var answer = Answer()
        let results = reply["cursor"]?.documentValue?["firstBatch"]?.arrayValue
        for result in results?.compactMap(\.documentValue) ?? [] {
            guard let place = result["idx"]?.int64Value, statements.indices.contains(Int(place))
            else { continue }
            let statement = statements[Int(place)]
            if result["ok"]?.int64Value != 1 {
                answer.outcomes[statement.index] = outcome(of: result, statement.kind)
            } else if result["n"]?.int64Value == 1 {
                answer.outcomes[statement.index] = .applied
            }
        }
        answer.unclear = statements.map(\.index).filter { answer.outcomes[$0] == nil }
        return answer
    }

    private static func writeConcernFailure(_ reply: BSONDocument) -> RemoteError? {
        guard let error = reply["writeConcernError"]?.documentValue else { return nil }
        return RemoteError(
            .retryable, code: Int(error["code"]?.int64Value ?? 0),
            error["errmsg"]?.stringValue ?? "the write concern was not met")
    }

    private func outcome(of error: BSONDocument, _ kind: Kind) -> RemoteWriteOutcome {
        let code = Int(error["code"]?.int64Value ?? 0)
        let message = error["errmsg"]?.stringValue ?? "a write error without words"
        if kind == .insert, code == 11_000 || code == 11_001, Self.isAboutID(error, message) {
            return .duplicateKey
        }
        // A path leads through a value that somebody else put there: not what we knew.
        if kind == .update, Self.pathCodes.contains(code) { return .notMatched }
        let details = error["errInfo"]?.documentValue
        if code == 13, let write = CompensatingWrite(reason: message, details: details) {
            return .failed(RemoteError(write))
        }
        return .failed(
            RemoteError(
                MongoErrorClass.decide(code: code, labels: [], message: message), code: code,
                message))
    }

    /// PathNotViable, and TypeMismatch of `$set` on an invalid document.
    private static let pathCodes: Set<Int> = [28]

    private static func isAboutID(_ error: BSONDocument, _ message: String) -> Bool {
        if let pattern = error["keyPattern"]?.documentValue {
            return pattern.map(\.key) == ["_id"]
        }
        return message.contains("index: _id_ ") || message.contains("$_id_ ")
    }
}

extension MongoWriteCommand {
    /// Returns the command with one of its statements only.
    func alone(_ statement: Statement) -> MongoWriteCommand {
        var command = MongoWriteCommand(kind: kind)
        command.statements = [statement]
        return command
    }
}
