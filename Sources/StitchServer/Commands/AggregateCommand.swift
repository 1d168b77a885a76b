internal import BSONStore

/// Runs a pipeline.
///
/// Source: MongoDB manual, "aggregate"; the server's `aggregate_command.idl`.
enum AggregateCommand {
    static let rule = CommandRule(
        "aggregate", [.inTransaction, .stable, .takesReadConcern, .takesWriteConcern],
        fields: [
            "pipeline": .array, "explain": .flag, "allowDiskUse": .bool, "cursor": .document,
            "bypassDocumentValidation": .flag, "collation": .document, "hint": .hint,
            "let": .document, "needsMerge": .bool, "fromMongos": .bool, "fromRouter": .any,
            "exchange": .document, "runtimeConstants": .document, "isMapReduceCommand": .bool,
            "collectionUUID": .any, "requestReshardingResumeToken": .bool,
            "encryptionInformation": .document, "querySettings": .document,
            "includeQueryStatsMetrics": .flag,
        ], .store(run))

    private static func run(_ call: CommandCall, _ store: StoreBackend) throws -> CommandOutcome {
        let namespace = try target(call)
        let stages = try stages(call)
        guard call["cursor"] != nil || call.flag("explain") else {
            throw CommandFault(
                .failedToParse,
                "The 'cursor' option is required, except for aggregate with the explain argument")
        }
        let batchSize = try CursorArgument.batchSize(call)
        let pipeline = try Pipeline(
            stages,
            options: PipelineOptions(
                let: call.document("let"), collation: try call.collation(),
                allowDiskUse: call["allowDiskUse"]?.isTrue ?? true))
        var documents: [BSONDocument] = []
        let gather: (ReadTransaction) throws -> Void = { transaction in
            documents = try transaction.aggregate(namespace, pipeline)
        }
        if pipeline.writes {
            try store.write(call) { try gather($0) }
        } else {
            try store.read(call, gather)
        }
        return try store.open(
            ListSource(documents), namespace, call, batchSize: batchSize)
    }

    /// The collection, or the name that stands for the whole database.
    private static func target(_ call: CommandCall) throws(CommandFault) -> Namespace {
        guard call.target.stringValue == nil else { return try call.collection() }
        guard let number = call.target.wholeNumber else {
            throw CommandFault(
                .failedToParse,
                "Invalid command format: the 'aggregate' field must specify a collection name or 1")
        }
        guard number == 1 else {
            throw CommandFault(
                .failedToParse,
                "Invalid command format: the 'aggregate' field must specify a collection name or 1")
        }
        return Namespace(call.database, "$cmd.aggregate")
    }

    private static func stages(_ call: CommandCall) throws(CommandFault) -> BSONArray {
        guard let stages = call.array("pipeline") else {
            throw CommandFault(
                40414, "BSON field 'aggregate.pipeline' is missing but a required field")
        }
        return stages
    }
}
