#if CommandLine
    import BSONScript
    import BSONStore

    /// The methods of a collection that read.
    extension ShellCollection {
        func reading(_ name: String) -> Method? {
            switch name {
            case "find": return { .host(try self.find($0)) }
            case "findOne":
                return { arguments in
                    let cursor = try self.find(arguments, limit: 1)
                    return try cursor.item() ?? .null
                }
            case "aggregate":
                return { arguments in
                    let cursor = try self.aggregate(arguments)
                    guard case .array? = try arguments.value(0),
                        try arguments.document(1, "options")?.isTrue("explain") == true
                    else { return .host(cursor) }
                    return try cursor.explain(ShellArguments([], self.shell.session))
                }
            case "countDocuments": return { try self.countDocuments($0) }
            case "estimatedDocumentCount":
                return { _ in
                    .number(try self.run(["count": .string(self.name)]).number("n"))
                }
            case "count":
                return { arguments in
                    self.shell.deprecate(
                        "Collection.count()", for: "countDocuments or estimatedDocumentCount")
                    var command: BSONDocument = ["count": .string(self.name)]
                    command.append(
                        "query", .document(try arguments.document(0, "query") ?? [:]))
                    command.take(
                        ["limit", "skip", "hint", "collation", "maxTimeMS"],
                        from: try arguments.document(1, "options"))
                    return .number(try self.run(command).number("n"))
                }
            case "distinct":
                return { arguments in
                    var command: BSONDocument = [
                        "distinct": .string(self.name),
                        "key": .string(try arguments.text(0, "field")),
                    ]
                    command.append(
                        "query", .document(try arguments.document(1, "query") ?? [:]))
                    command.take(
                        ["collation", "maxTimeMS", "hint", "comment"],
                        from: try arguments.document(2, "options"))
                    return self.shell.session.value(try self.run(command)["values"] ?? [])
                }
            case "isCapped":
                return { _ in
                    let stats = try self.run(["collStats": .string(self.name)])
                    return .bool(stats["capped"]?.boolValue ?? false)
                }
            case "explain":
                return { arguments in
                    .host(ShellExplainer(self, try arguments.value(0)))
                }
            case "watch":
                return { arguments in
                    .host(
                        try ShellDatabase.watch(
                            .string(self.name), of: self.name, on: self.database, arguments,
                            self.link))
                }
            default: return nil
            }
        }

        func find(_ arguments: ShellArguments, limit: Int32? = nil) throws -> ShellCursor {
            var command: BSONDocument = ["find": .string(name)]
            command.append("filter", .document(try arguments.document(0, "filter") ?? [:]))
            if let fields = try arguments.document(1, "projection") {
                command.append("projection", .document(fields))
            }
            let options = try arguments.document(2, "options")
            command.take(
                [
                    "sort", "skip", "hint", "collation", "batchSize", "maxTimeMS", "comment",
                    "let", "min", "max", "returnKey", "showRecordId", "allowDiskUse",
                ], from: options)
            if command["projection"] == nil { command.take(["projection"], from: options) }
            if let limit {
                command.append("limit", .int32(limit))
                command.append("singleBatch", .bool(true))
            } else {
                command.take(["limit"], from: options)
            }
            return ShellCursor(command, on: database, of: name, link)
        }

        func aggregate(_ arguments: ShellArguments) throws -> ShellCursor {
            try ShellDatabase.aggregate(
                .string(name), of: name, on: database, arguments, link)
        }

        private func countDocuments(_ arguments: ShellArguments) throws -> ScriptValue {
            let options = try arguments.document(1, "options") ?? [:]
            var stages: [BSONValue] = [
                .document(["$match": .document(try arguments.document(0, "query") ?? [:])])
            ]
            for name in ["skip", "limit"] {
                if let value = options[name] { stages.append(.document(["$\(name)": value])) }
            }
            stages.append(["$group": ["_id": 1, "n": ["$sum": 1]]])
            var command: BSONDocument = [
                "aggregate": .string(name), "pipeline": .array(BSONArray(stages)), "cursor": [:],
            ]
            command.take(["hint", "collation", "maxTimeMS", "comment"], from: options)
            let cursor = ShellCursor(command, on: database, of: name, link)
            return .number(try cursor.next()?.number("n") ?? 0)
        }
    }

    /// The object of `db.collection.explain()`, which explains the next call instead of running it.
    final class ShellExplainer: ScriptHost {
        private let collection: ShellCollection
        private let verbosity: BSONValue

        init(_ collection: ShellCollection, _ verbosity: BSONValue?) {
            self.collection = collection
            self.verbosity = verbosity ?? .string("queryPlanner")
        }

        var text: String { "Explainable(\(collection.text))" }

        func property(_ name: String) throws -> ScriptValue? {
            let session = collection.shell.session
            let verbosity = session.value(verbosity)
            let collection = collection
            if let method = try collection.shell.library.method(
                name, of: "explainable", .host(self))
            {
                return method
            }
            switch name {
            case "collection": return .host(collection)
            case "verbosity": return verbosity
            case "find", "aggregate":
                return .native(name) { [unowned session] values in
                    let arguments = ShellArguments(values, session)
                    let cursor =
                        try name == "find"
                        ? collection.find(arguments) : collection.aggregate(arguments)
                    let explain = ShellArguments([verbosity], session)
                    // A query can be refined before it is shown.
                    return try name == "find"
                        ? .host(ShellExplainedCursor(cursor, explain)) : cursor.explain(explain)
                }
            default: return nil
            }
        }
    }

    /// A query of `explain().find(…)`.
    final class ShellExplainedCursor: ScriptHost {
        private let cursor: ShellCursor
        private let arguments: ShellArguments

        init(_ cursor: ShellCursor, _ arguments: ShellArguments) {
            self.cursor = cursor
            self.arguments = arguments
        }

        var text: String { "[object Cursor]" }

        /// Returns the plan.
        func plan() throws -> ScriptValue { try cursor.explain(arguments) }

        func property(_ name: String) throws -> ScriptValue? {
            if ["finish", "next"].contains(name) { return .native(name) { _ in try self.plan() } }
            guard let method = try cursor.property(name) else { return nil }
            let session = cursor.session
            return .native(name) { [unowned session] values in
                _ = try session.call(method, values)
                return .host(self)
            }
        }
    }
#endif
