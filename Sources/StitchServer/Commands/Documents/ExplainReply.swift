internal import BSONStore

/// The reply that explains a command.
struct ExplainReply {
    private let call: CommandCall
    private let verbosity: ExplainVerbosity

    init(_ call: CommandCall, _ verbosity: ExplainVerbosity) {
        self.call = call
        self.verbosity = verbosity
    }

    /// Returns the reply for another command than `aggregate`.
    ///
    /// - Throws: the errors of parsing the command; 20 for one that cannot be explained.
    func reply(_ backend: StoreBackend) throws -> BSONDocument {
        switch call.name {
        case "find": return try query(backend, try FindQuery(call))
        case "count": return try counting(backend)
        case "distinct":
            return try query(
                backend, FindQuery(filter: try filter(call.document("query"), call.body)),
                as: .distinct(call.string("key") ?? ""))
        case "findAndModify", "update", "delete": return try writing(backend)
        default:
            throw CommandFailure(
                .illegalOperation, "Cannot explain cmd: \(call.name)")
        }
    }

    private func filter(
        _ query: BSONDocument?, _ options: BSONDocument
    ) throws -> Filter {
        try CommandCall.filter(
            query, variables: call.document("let"), collation: options["collation"])
    }

    private func query(
        _ backend: StoreBackend, _ query: FindQuery, as command: ExplainedCommand = .find
    ) throws -> BSONDocument {
        let namespace = try call.collection()
        return complete(
            try backend.read(call) {
                try $0.checkCollation(call.document("collation"), of: namespace)
                return try $0.explain(
                    namespace, filter: query.filter, options: query.options,
                    verbosity: verbosity, command: command)
            })
    }

    private func counting(_ backend: StoreBackend) throws -> BSONDocument {
        let options = try FindOptions(
            skip: try call.count("skip") ?? 0, limit: CountCommand.limit(call),
            hint: try call.hint())
        return try query(
            backend,
            FindQuery(filter: try filter(call.document("query"), call.body), options: options),
            as: .count)
    }

    private func writing(_ backend: StoreBackend) throws -> BSONDocument {
        let write = try ExplainWriteReply(call)
        let namespace = try call.collection()
        return complete(
            try backend.read(call) { try write.explained(namespace, verbosity, $0) })
    }

    /// Returns the reply for a pipeline.
    func aggregation(
        _ parsed: ParsedAggregate, _ backend: StoreBackend
    ) throws -> BSONDocument {
        let namespace = try parsed.namespace.get()
        let request = try parsed.request.get()
        // A change stream has no plan. As in MongoDB, the error is that its stage is unknown.
        if case .pipeline = parsed.work {
            _ = try parsed.pipeline
        } else {
            _ = try request.pipeline(for: call)
        }
        let (leading, rest) = request.leading()
        let query = try FindQuery(leading, call)
        var explained = try backend.read(call) {
            try $0.checkCollation(call.document("collation"), of: namespace)
            return try $0.explain(
                namespace, filter: query.filter, options: query.options, verbosity: verbosity)
        }
        guard !rest.isEmpty else { return complete(explained) }
        var cursor: BSONDocument = [:]
        for key in ["queryPlanner", "executionStats"] {
            if let part = explained[key] { cursor.append(key, part) }
        }
        var stages: [BSONValue] = [["$cursor": .document(cursor)]]
        stages += try rest.map { .document(try shown($0)) }
        explained = ["explainVersion": "1", "stages": .array(BSONArray(stages))]
        return complete(explained)
    }

    /// Returns a stage as the server shows it: a filter is shown as it was parsed.
    private func shown(_ stage: BSONDocument) throws -> BSONDocument {
        guard let query = stage["$match"]?.documentValue else { return stage }
        return ["$match": .document(try filter(query, call.body).explained)]
    }

    private func complete(_ explained: BSONDocument) -> BSONDocument {
        var reply = explained
        var command = BSONDocument()
        for (key, value) in call.body where !key.hasBytePrefix("$") || key == "$db" {
            command.append(key, value)
        }
        reply.append("command", .document(command))
        reply.append(
            "serverInfo",
            [
                "host": .string(call.connection.local), "port": .int32(0),
                "version": .string(call.server.settings.version.text),
                "gitVersion": "stitchsync",
            ])
        reply.append("serverParameters", [:])
        return reply
    }
}
