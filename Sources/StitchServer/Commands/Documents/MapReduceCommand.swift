internal import BSONStore

/// Runs `mapReduce` as the equivalent pipeline.
///
/// Source: the server's `mr_common.cpp`; MongoDB manual, "mapReduce".
enum MapReduceCommand {
    static let definition = CommandDefinition(
        "mapReduce", aliases: ["mapreduce"],
        [.takesReadConcern, .takesWriteConcern, .writesResults],
        fields: [
            "map": .any, "reduce": .any, "finalize": .any, "out": .any, "query": .document,
            "sort": .document, "limit": .number, "collation": .document, "scope": .document,
            "jsMode": .bool, "verbose": .bool, "bypassDocumentValidation": .bool,
        ], required: ["map", "reduce", "out"],
        privileges: .arguments(orElse: .read), underRules: .refused, gateway: .upstream,
        statements: nil, cursor: .none,
        .parsed { call, _ in
            let request = Result<MapReduceRequest, any Error> { try MapReduceRequest(call) }
            return ParsedCommand(needs: needs(request, call), fault: request.fault) {
                try run(request, call, $0)
            }
        })

    private static func needs(
        _ request: Result<MapReduceRequest, any Error>, _ call: CommandCall
    ) -> [AccessNeed] {
        var needs = [AccessNeed(.read, on: call.database)]
        if case .success(let request) = request,
            let target = request.output.target(from: call.database)
        {
            needs.append(AccessNeed(.write, to: target))
        }
        return needs + Authorization.needsForNamed(call)
    }

    private static func run(
        _ request: Result<MapReduceRequest, any Error>, _ call: CommandCall, _ backend: StoreBackend
    ) throws -> CommandOutcome {
        let namespace = try call.collection()
        let request = try request.get()
        let isView = try backend.read(call) { try $0.isView(namespace) }
        guard !isView else {
            throw CommandFailure(166, "mapReduce on a view is not supported")
        }
        let aggregate = call.standing(
            for: request.aggregate(namespace), as: AggregateCommand.definition.signature,
            givenName: AggregateCommand.definition.name)
        // The parsed output is the one that was authorized.
        let documents = try AggregateCommand.documents(
            ParsedAggregate(aggregate, backend), aggregate, backend,
            failing: "MapReduce internal error"
        )
        return .reply([request.output.replyField: request.output.reply(documents)])
    }
}

/// The parsed arguments of a `mapReduce`.
struct MapReduceRequest: Sendable {
    let output: MapReduceOutput
    private let call: CommandCall
    private let map: BSONValue
    private let reduce: BSONValue
    private let finalize: BSONValue?

    /// - Throws: 2 (BadValue) for an invalid script, and the errors of the output.
    init(_ call: CommandCall) throws(CommandFailure) {
        self.call = call
        map = try Self.script(call["map"] ?? .null, "map")
        reduce = try Self.script(call["reduce"] ?? .null, "reduce")
        finalize = try call["finalize"].map { value throws(CommandFailure) in
            try Self.script(value, "finalize")
        }
        output = try MapReduceOutput(call["out"] ?? .null)
        if let limit = call["limit"]?.wholeNumber, limit < 0 {
            throw CommandFailure(
                .badValue, "BSON field 'limit' value must be >= 0, actual value '\(limit)'")
        }
    }

    private static func script(
        _ value: BSONValue, _ name: String
    ) throws(CommandFailure) -> BSONValue {
        switch value {
        case .string, .javascript: return value
        default: throw CommandFailure(.badValue, "'\(name)' must be of string or code type")
        }
    }

    /// Returns the equivalent `aggregate` command.
    func aggregate(_ namespace: Namespace) -> BSONDocument {
        let scope = BSONValue.document(call.document("scope") ?? [:])
        var stages: [BSONValue] = []
        if let query = call.document("query"), !query.isEmpty {
            stages.append(["$match": .document(query)])
        }
        if let sort = call.document("sort"), !sort.isEmpty {
            stages.append(["$sort": .document(sort)])
        }
        if let limit = call["limit"]?.wholeNumber, limit > 0 {
            stages.append(["$limit": .int64(Int64(limit))])
        }
        stages += [
            [
                "$project": [
                    "_id": 0,
                    "emits": ["$_internalJsEmit": ["this": "$$ROOT", "eval": map, "scope": scope]],
                ]
            ],
            ["$unwind": "$emits"],
            [
                "$group": [
                    "_id": "$emits.k",
                    "value": [
                        "$_internalJsReduce": ["data": "$emits", "eval": reduce, "scope": scope]
                    ],
                ]
            ],
        ]
        if let finalize { stages.append(Self.applying(finalize, ["$_id", "$value"], scope)) }
        stages.append(["$sort": ["_id": 1]])
        stages += output.stages(namespace, reduce: reduce, finalize: finalize, scope: scope)
        var command: BSONDocument = [
            "aggregate": .string(namespace.collection), "pipeline": .array(BSONArray(stages)),
            "cursor": [:],
        ]
        for name in ["collation", "bypassDocumentValidation", "readConcern", "writeConcern"] {
            if let value = call[name] { command.append(name, value) }
        }
        return command
    }

    /// Returns the stage that replaces a value by a script's result.
    static func applying(
        _ script: BSONValue, _ arguments: BSONValue, _ scope: BSONValue
    ) -> BSONValue {
        let function: BSONDocument = [
            "body": script, "args": arguments, "lang": "js", "_internalScope": scope,
        ]
        return ["$project": ["value": ["$function": .document(function)]]]
    }
}

/// The destination of a `mapReduce`'s results.
struct MapReduceOutput: Sendable {
    private enum Kind: String, Sendable, CaseIterable {
        case inline
        case replace
        case merge
        case reduce
    }

    private var kind = Kind.replace
    private var collection = ""
    private var database: String?

    /// Reads `out`: a name, or a document such as `{merge: "totals"}`.
    ///
    /// - Throws: 2 (BadValue) for other values.
    init(_ value: BSONValue) throws(CommandFailure) {
        switch value {
        case .string(let name): collection = name
        case .document(let document): try read(document)
        default:
            throw CommandFailure(.badValue, "'out' must be either a string or an object")
        }
        guard kind == .inline || !collection.isEmpty else {
            throw CommandFailure(
                .invalidNamespace, "Invalid namespace specified: the name is empty")
        }
        guard !collection.utf8.contains(0) else {
            throw CommandFailure(
                .invalidNamespace, "Invalid namespace specified: the name has a null character")
        }
    }

    private mutating func read(_ document: BSONDocument) throws(CommandFailure) {
        var found: Kind?
        for (key, value) in document {
            if let kind = Kind(rawValue: key) {
                guard found == nil else {
                    throw CommandFailure(.badValue, "'out' cannot name two kinds of output")
                }
                found = kind
                try read(kind, value)
            } else if key == "db" {
                guard let name = value.stringValue else {
                    throw CommandFailure(.badValue, "'db' must be of type string")
                }
                try DatabaseName.check(name)
                database = name
            } else if key != "sharded" && key != "nonAtomic" {
                throw CommandFailure(.badValue, "'out' has an unknown field '\(key)'")
            }
        }
        guard let found else {
            throw CommandFailure(
                .badValue, "'out' requires one of 'inline', 'replace', 'merge' or 'reduce'")
        }
        kind = found
    }

    private mutating func read(_ kind: Kind, _ value: BSONValue) throws(CommandFailure) {
        switch (kind, value) {
        case (.inline, _):
            guard value.wholeNumber == 1 else {
                throw CommandFailure(.badValue, "'inline' takes only numeric '1'")
            }
        case (_, .string(let name)): collection = name
        default:
            throw CommandFailure(.badValue, "'\(kind.rawValue)' supports only string type")
        }
    }

    /// Whether the reply holds the results.
    var isInline: Bool { kind == .inline }

    /// Returns the collection for the results; `nil` if the reply holds them.
    ///
    /// - Parameter database: the database of the command.
    func target(from database: String) -> Namespace? {
        isInline ? nil : Namespace(self.database ?? database, collection)
    }

    /// Returns the stages that write the results.
    func stages(
        _ namespace: Namespace, reduce: BSONValue, finalize: BSONValue?, scope: BSONValue
    ) -> [BSONValue] {
        guard let name = self.target(from: namespace.database) else { return [] }
        let target: BSONValue = [
            "db": .string(name.database), "coll": .string(name.collection),
        ]
        switch kind {
        case .inline: return []
        case .replace: return [["$out": target]]
        case .merge:
            return [["$merge": ["into": target, "whenMatched": "replace"]]]
        case .reduce:
            var pipeline = [
                MapReduceRequest.applying(
                    reduce, ["$_id", ["$value", "$$new.value"]], scope)
            ]
            if let finalize {
                pipeline.append(MapReduceRequest.applying(finalize, ["$_id", "$value"], scope))
            }
            return [
                ["$merge": ["into": target, "whenMatched": .array(BSONArray(pipeline))]]
            ]
        }
    }

    /// The field of the reply for the results, or for their collection.
    var replyField: String { isInline ? "results" : "result" }

    func reply(_ documents: [BSONDocument]) -> BSONValue {
        if isInline { return .array(BSONArray(documents.map { .document($0) })) }
        guard let database else { return .string(collection) }
        return ["db": .string(database), "collection": .string(collection)]
    }
}
