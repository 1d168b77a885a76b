internal import BSONStore
internal import StitchSync

/// A command with as many conditional writes of a batch as fit, and the parser of its reply; pure.
struct MongoWriteCommand: Sendable, Hashable {
    /// The command that holds the statements.
    enum Kind: String, Sendable, CaseIterable {
        case insert, update, delete
        /// Holds statements of all kinds and reports each of them (MongoDB 8.0).
        case bulkWrite
    }

    /// One write as a statement of the command.
    struct Statement: Sendable, Hashable {
        /// The write's index in the batch.
        let index: Int
        /// The kind of command that would hold the write alone.
        let kind: Kind
        let body: BSONDocument
    }

    let kind: Kind
    private(set) var statements: [Statement] = []
    /// The size of the statements in bytes.
    private var byteCount = 0

    init(kind: Kind) { self.kind = kind }

    /// The largest number of statements in a command; MongoDB allows 100,000.
    static let statementsMax = 10_000
    /// The largest size of a command's statements in bytes; a command is a document of at most 16
    /// MiB.
    static let bytesMax = 12 * 1024 * 1024
    /// The largest size of a statement in bytes; MongoDB limits the command to 16 MiB and 16 KiB.
    static let statementBytesMax = 16 * 1024 * 1024 + 8 * 1024

    private mutating func append(_ statement: Statement) {
        statements.append(statement)
        byteCount += statement.body.byteCount
    }

    /// Whether another statement may be added; an empty command takes any.
    private func hasRoom(for body: BSONDocument) -> Bool {
        statements.isEmpty
            || statements.count < Self.statementsMax && byteCount + body.byteCount <= Self.bytesMax
    }

    /// Returns the command for a collection.
    func request(_ namespace: Namespace) -> MongoRequest {
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
        ]
        if kind == .bulkWrite {
            command.append("nsInfo", [["ns": .string(namespace.description)]])
        }
        return MongoRequest(command, list: MongoRequest.List(field: list, documents: items))
    }

    /// Returns the database that the command goes to.
    func database(_ namespace: Namespace) -> String {
        kind == .bulkWrite ? "admin" : namespace.database
    }
}

extension MongoWriteCommand {
    /// Returns the commands for some writes of a batch, grouped by kind.
    ///
    /// - Parameters:
    ///   - inBulk: whether one command holds all kinds.
    ///   - statement: returns the statement of a write; `nil` omits the write.
    static func commands(
        _ writes: [RemoteWrite], _ indices: some Sequence<Int>, inBulk: Bool = false,
        statement: (RemoteWrite) -> BSONDocument? = { statement($0, MongoWriteFilter.filter($0)) }
    ) -> [MongoWriteCommand] {
        var commands: [MongoWriteCommand] = []
        var open: [Kind: MongoWriteCommand] = [:]
        for index in indices {
            guard let body = statement(writes[index]) else { continue }
            let own = Kind(writes[index].action)
            let kind = inBulk ? .bulkWrite : own
            if let full = open[kind], !full.hasRoom(for: body) {
                commands.append(full)
                open[kind] = nil
            }
            // In place: a copy of the command would copy its statements with each append.
            open[kind, default: MongoWriteCommand(kind: kind)]
                .append(Statement(index: index, kind: own, body: body))
        }
        return commands + Kind.allCases.compactMap { open[$0] }
    }

    /// Returns the statement of a write with a filter.
    static func statement(_ write: RemoteWrite, _ filter: BSONDocument) -> BSONDocument {
        switch write.action {
        case .insert(let document): document
        case .delete:
            ["q": .document(filter), "limit": 1, "collation": .document(MongoCollation.simple)]
        case .replace(let document): update(filter, replacement(document))
        case .update(let set, let unset): update(filter, .document(update(set, unset)))
        }
    }

    private static func update(_ filter: BSONDocument, _ update: BSONValue) -> BSONDocument {
        [
            "q": .document(filter), "u": update, "multi": false, "upsert": false,
            "collation": .document(MongoCollation.simple),
        ]
    }

    /// Returns the update that replaces a document.
    ///
    /// MongoDB takes no replacement with a name that begins with `$`, but a pipeline can make one.
    ///
    /// Source: MongoDB's manual, "Field Names with Periods and Dollar Signs".
    private static func replacement(_ document: BSONDocument) -> BSONValue {
        guard document.contains(where: { $0.key.utf8.first == UInt8(ascii: "$") }) else {
            return .document(document)
        }
        return [["$replaceWith": ["$literal": .document(document)]]]
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
    /// The statement in the form of `bulkWrite`, for the first namespace of the command.
    fileprivate var operation: BSONDocument {
        switch kind {
        case .insert, .bulkWrite: ["insert": 0, "document": .document(body)]
        case .update:
            [
                "update": 0, "filter": body["q"] ?? [:], "updateMods": body["u"] ?? [:],
                "multi": false, "upsert": false,
                "collation": .document(MongoCollation.simple),
            ]
        case .delete:
            [
                "delete": 0, "filter": body["q"] ?? [:], "multi": false,
                "collation": .document(MongoCollation.simple),
            ]
        }
    }
}

extension MongoWriteCommand.Kind {
    /// The kind of command for an action.
    init(_ action: RemoteWrite.Action) {
        switch action {
        case .insert: self = .insert
        case .update, .replace: self = .update
        case .delete: self = .delete
        }
    }
}

extension MongoWriteCommand {
    /// The result of a command's writes according to its reply.
    struct Answer: Sendable, Hashable {
        /// The known outcomes, by the writes' indexes in the batch.
        var outcomes: [Int: RemoteWriteOutcome] = [:]
        /// The writes whose outcome is unclear: the total is known, but less than possible.
        var unclear: [Int] = []
    }

    /// Parses a reply: first the totals, which usually settle everything.
    func answer(_ reply: BSONDocument) -> Answer {
        var answer = Answer()
        if let failure = Self.writeConcernFailure(reply) {
            // Executed on this server but possibly rolled back later: the outcome is unknown.
            for statement in statements { answer.outcomes[statement.index] = .failed(failure) }
            return answer
        }
        if kind == .bulkWrite { return bulkAnswer(reply) }
        for error in reply["writeErrors"]?.arrayValue?.compactMap(\.documentValue) ?? [] {
            guard let place = error["index"]?.int64Value, statements.indices.contains(Int(place))
            else { continue }
            let statement = statements[Int(place)]
            answer.outcomes[statement.index] = outcome(of: error, statement.kind)
        }
        let rest = statements.map(\.index).filter { answer.outcomes[$0] == nil }
        if reply["n"]?.int64Value == Int64(rest.count) {
            for index in rest { answer.outcomes[index] = .applied }
        } else {
            answer.unclear = rest
        }
        return answer
    }

    /// Parses the outcomes that `bulkWrite` reports one by one.
    ///
    /// Outcomes in a second batch, which needs very many failures, are determined by reading
    /// documents.
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
        // Another client put a different value on the path: the document is not the expected one.
        if kind == .update, Self.pathCodes.contains(code) { return .notMatched }
        let details = error["errInfo"]?.documentValue
        // The error of a denied write tells why, and becomes a compensating write (231).
        if code == StoreError.Code.unauthorized.rawValue,
            let write = CompensatingWrite(reason: message, details: details)
        {
            return .failed(RemoteError(write))
        }
        if code == 11_000 || code == 11_001, let pattern = error["keyPattern"]?.documentValue {
            return .failed(
                RemoteError(uniquePaths: pattern.map(\.key), code: code, message))
        }
        return .failed(
            RemoteError(
                MongoErrorClass.decide(code: code, labels: [], message: message), code: code,
                message))
    }

    /// The code PathNotViable, for a path through a value that is not a document.
    private static let pathCodes: Set<Int> = [28]

    private static func isAboutID(_ error: BSONDocument, _ message: String) -> Bool {
        if let pattern = error["keyPattern"]?.documentValue {
            return pattern.map(\.key) == ["_id"]
        }
        return message.contains("index: _id_ ") || message.contains("$_id_ ")
    }
}

extension MongoWriteCommand {
    /// Returns the command with only one of its statements.
    func alone(_ statement: Statement) -> MongoWriteCommand {
        var command = MongoWriteCommand(kind: kind)
        command.append(statement)
        return command
    }
}
