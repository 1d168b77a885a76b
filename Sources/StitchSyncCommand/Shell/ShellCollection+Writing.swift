#if CommandLine
    import BSONScript
    import BSONStore

    /// The methods of a collection that write.
    extension ShellCollection {
        func writing(_ name: String) -> Method? {
            switch name {
            case "insertOne":
                return { arguments in
                    let (document, id) = Self.identified(try arguments.required(0, "document"))
                    _ = try self.write(
                        ["insert": .string(self.name), "documents": [.document(document)]],
                        try arguments.document(1, "options"))
                    return self.answer(["insertedId": id])
                }
            case "insertMany": return { try self.insertMany($0) }
            case "insert":
                return { arguments in
                    self.shell.deprecate(
                        "Collection.insert()", for: "insertOne, insertMany, or bulkWrite")
                    return try self.insertMany(arguments)
                }
            case "updateOne": return { try self.update($0, isMulti: false) }
            case "updateMany": return { try self.update($0, isMulti: true) }
            case "replaceOne": return { try self.update($0, isMulti: false, isReplacement: true) }
            case "update":
                return { arguments in
                    self.shell.deprecate(
                        "Collection.update()", for: "updateOne, updateMany, or bulkWrite")
                    let options = try arguments.document(2, "options")
                    return try self.update(
                        arguments, isMulti: options?.isTrue("multi") ?? false)
                }
            case "deleteOne": return { try self.delete($0, limit: 1) }
            case "deleteMany": return { try self.delete($0, limit: 0) }
            case "remove":
                return { arguments in
                    self.shell.deprecate(
                        "Collection.remove()",
                        for: "deleteOne, deleteMany, findOneAndDelete, or "
                            + "bulkWrite")
                    let options = try arguments.value(1)?.documentValue
                    let isOne = options?.isTrue("justOne") ?? arguments.isTrue(1)
                    return try self.delete(arguments, limit: isOne ? 1 : 0)
                }
            case "save":
                return { _ in
                    throw ShellArguments.invalid(
                        "Collection.save() is deprecated. Use insertOne, insertMany, updateOne, or "
                            + "updateMany.")
                }
            case "findOneAndUpdate", "findOneAndReplace":
                return { arguments in
                    let isReplacement = name == "findOneAndReplace"
                    let update = try arguments.requiredValue(
                        1, isReplacement ? "replacement" : "update")
                    try Self.check(update, isReplacement: isReplacement)
                    return try self.findAndModify(
                        arguments, ["update": update], try arguments.document(2, "options") ?? [:])
                }
            case "findOneAndDelete":
                return { arguments in
                    try self.findAndModify(
                        arguments, ["remove": .bool(true)],
                        try arguments.document(1, "options") ?? [:])
                }
            case "findAndModify":
                return { arguments in
                    var command: BSONDocument = ["findAndModify": .string(self.name)]
                    let options = try arguments.required(0, "options")
                    guard options["query"]?.documentValue != nil else {
                        throw ShellArguments.invalid("Missing required property: query")
                    }
                    for (name, value) in options { command.append(name, value) }
                    return self.shell.session.value(try self.run(command)["value"] ?? .null)
                }
            default: return nil
            }
        }

        /// Returns a document with an `_id`, and the `_id`.
        static func identified(_ document: BSONDocument) -> (BSONDocument, BSONValue) {
            if let id = document["_id"] { return (document, id) }
            let id = BSONValue.objectID(BSONObjectID())
            var result: BSONDocument = ["_id": id]
            for (name, value) in document { result.append(name, value) }
            return (result, id)
        }

        /// Runs a command that writes, with the options that all such commands have.
        ///
        /// - Throws: the first error of a write, as well as those of the command.
        func write(_ command: BSONDocument, _ options: BSONDocument?) throws -> BSONDocument {
            var command = command
            command.take(
                ["ordered", "writeConcern", "comment", "bypassDocumentValidation", "let"],
                from: options)
            let reply = try run(command)
            if let error = reply.documents("writeErrors").first {
                throw Shell.error(of: error, name: "MongoServerError")
            }
            if case .document(let error)? = reply["writeConcernError"] {
                throw Shell.error(of: error, name: "MongoWriteConcernError")
            }
            return reply
        }

        /// Returns the result of a write as scripts see it.
        func answer(_ fields: BSONDocument) -> ScriptValue {
            var answer: BSONDocument = ["acknowledged": .bool(true)]
            for (name, value) in fields { answer.append(name, value) }
            return shell.session.value(.document(answer))
        }

        private func insertMany(_ arguments: ShellArguments) throws -> ScriptValue {
            let list: [BSONValue]
            switch try arguments.value(0) {
            case .array(let documents)?: list = documents.values
            case .document(let document)?: list = [.document(document)]
            default: throw ShellArguments.invalid("Missing required argument: documents")
            }
            var ids: BSONDocument = [:]
            var documents: [BSONValue] = []
            for (index, value) in list.enumerated() {
                guard case .document(let document) = value else {
                    throw ShellArguments.invalid("document \(index) must be an object")
                }
                let (identified, id) = Self.identified(document)
                documents.append(.document(identified))
                ids.append(String(index), id)
            }
            var command: BSONDocument = [
                "insert": .string(name), "documents": .array(BSONArray(documents)),
            ]
            command.take(
                ["ordered", "writeConcern", "comment", "bypassDocumentValidation"],
                from: try arguments.document(1, "options"))
            let reply = try run(command)
            if !reply.documents("writeErrors").isEmpty {
                return try shell.library.call(
                    "failInsert",
                    [
                        shell.session.value(.document(reply)),
                        shell.session.value(.array(BSONArray(documents))),
                    ])
            }
            return answer(["insertedIds": .document(ids)])
        }

        /// Checks that an update has operators, or that a replacement has none.
        static func check(_ update: BSONValue, isReplacement: Bool) throws {
            let hasOperators: Bool
            switch update {
            case .document(let document):
                hasOperators = document.first { name, _ in name.hasBytePrefix("$") } != nil
            case .array: hasOperators = true
            default: throw ShellArguments.invalid("the update must be an object or an array")
            }
            if isReplacement, hasOperators {
                throw ScriptError(
                    "MongoInvalidArgumentError",
                    "Replacement document must not contain atomic operators")
            }
            if !isReplacement, !hasOperators {
                throw ScriptError(
                    "MongoInvalidArgumentError", "Update document requires atomic operators")
            }
        }

        private func update(
            _ arguments: ShellArguments, isMulti: Bool, isReplacement: Bool = false
        ) throws -> ScriptValue {
            let filter = try arguments.required(0, "filter")
            let change = try arguments.requiredValue(1, isReplacement ? "replacement" : "update")
            try Self.check(change, isReplacement: isReplacement)
            let options = try arguments.document(2, "options")
            var update: BSONDocument = ["q": .document(filter), "u": change]
            if isMulti { update.append("multi", .bool(true)) }
            update.take(["upsert", "collation", "arrayFilters", "hint", "sort"], from: options)
            let reply = try write(
                ["update": .string(name), "updates": [.document(update)]], options)
            let upserted = reply.documents("upserted").first?["_id"]
            let matched = reply.number("n") - (upserted == nil ? 0 : 1)
            return answer([
                "insertedId": upserted ?? .null, "matchedCount": .double(matched),
                "modifiedCount": .double(reply.number("nModified")),
                "upsertedCount": .int32(upserted == nil ? 0 : 1),
            ])
        }

        private func delete(_ arguments: ShellArguments, limit: Int32) throws -> ScriptValue {
            let options = try arguments.value(1)?.documentValue
            var delete: BSONDocument = [
                "q": .document(try arguments.required(0, "filter")), "limit": .int32(limit),
            ]
            delete.take(["collation", "hint"], from: options)
            let reply = try write(
                ["delete": .string(name), "deletes": [.document(delete)]], options)
            return answer(["deletedCount": .double(reply.number("n"))])
        }

        private func findAndModify(
            _ arguments: ShellArguments, _ change: BSONDocument, _ options: BSONDocument
        ) throws -> ScriptValue {
            var command: BSONDocument = [
                "findAndModify": .string(name),
                "query": .document(try arguments.required(0, "filter")),
            ]
            for (field, value) in change { command.append(field, value) }
            let isNew =
                options.text("returnDocument") == "after"
                || options.isTrue("returnNewDocument") || options.isTrue("new")
            if isNew { command.append("new", .bool(true)) }
            if let fields = options["projection"] { command.append("fields", fields) }
            command.take(
                [
                    "sort", "upsert", "arrayFilters", "collation", "hint", "maxTimeMS", "comment",
                    "let", "writeConcern", "bypassDocumentValidation",
                ], from: options)
            return shell.session.value(try run(command)["value"] ?? .null)
        }
    }
#endif
