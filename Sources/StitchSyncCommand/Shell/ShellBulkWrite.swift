#if CommandLine
    import BSONScript
    import BSONStore

    /// A call of `bulkWrite`.
    struct ShellBulkWrite {
        private let collection: ShellCollection
        private var inserted = 0.0
        private var matched = 0.0
        private var modified = 0.0
        private var deleted = 0.0
        private var insertedIDs: BSONDocument = [:]
        private var upsertedIDs: BSONDocument = [:]

        init(_ collection: ShellCollection) { self.collection = collection }

        /// Runs the writes one after the other.
        func run(_ arguments: ShellArguments) throws -> ScriptValue {
            var writes = self
            return try writes.runAll(
                try arguments.list(0, "operations") ?? [], try arguments.document(1, "options"))
        }

        private mutating func runAll(
            _ operations: BSONArray, _ options: BSONDocument?
        ) throws -> ScriptValue {
            let isOrdered = options?["ordered"]?.boolValue ?? true
            var errors: [BSONDocument] = []
            for (index, operation) in operations.enumerated() {
                guard let (name, value) = operation.documentValue?.first(where: { _ in true }),
                    case .document(let fields) = value
                else { throw ShellArguments.invalid("operation \(index) must be an object") }
                let reply = try collection.run(
                    try command(name, fields, at: index, options))
                if var error = reply.documents("writeErrors").first {
                    error.set("index", to: .int32(Int32(index)))
                    errors.append(error)
                    if isOrdered { break }
                }
                count(reply, of: name, at: index)
            }
            try Self.check(errors)
            return collection.answer([
                "insertedCount": .double(inserted), "insertedIds": .document(insertedIDs),
                "matchedCount": .double(matched), "modifiedCount": .double(modified),
                "deletedCount": .double(deleted),
                "upsertedCount": .int32(Int32(Array(upsertedIDs).count)),
                "upsertedIds": .document(upsertedIDs),
            ])
        }

        /// Throws if there are errors of writes.
        static func check(_ errors: [BSONDocument]) throws {
            guard let first = errors.first else { return }
            var fields: BSONDocument = [:]
            fields.take(["code"], from: first)
            fields.append("writeErrors", .array(BSONArray(errors.map(BSONValue.document))))
            throw ScriptError("MongoBulkWriteError", first.text("errmsg"), fields: fields)
        }

        private mutating func command(
            _ name: String, _ fields: BSONDocument, at index: Int, _ options: BSONDocument?
        ) throws -> BSONDocument {
            let target = BSONValue.string(collection.name)
            var command: BSONDocument
            switch name {
            case "insertOne":
                let given = fields["document"]?.documentValue ?? fields
                let (document, id) = ShellCollection.identified(given)
                insertedIDs.append(String(index), id)
                command = ["insert": target, "documents": [.document(document)]]
            case "updateOne", "updateMany", "replaceOne":
                let isReplacement = name == "replaceOne"
                let change = fields[isReplacement ? "replacement" : "update"] ?? .null
                try ShellCollection.check(change, isReplacement: isReplacement)
                var update: BSONDocument = ["q": fields["filter"] ?? [:], "u": change]
                if name == "updateMany" { update.append("multi", .bool(true)) }
                update.take(["upsert", "collation", "arrayFilters", "hint", "sort"], from: fields)
                command = ["update": target, "updates": [.document(update)]]
            case "deleteOne", "deleteMany":
                var delete: BSONDocument = [
                    "q": fields["filter"] ?? [:], "limit": .int32(name == "deleteOne" ? 1 : 0),
                ]
                delete.take(["collation", "hint"], from: fields)
                command = ["delete": target, "deletes": [.document(delete)]]
            default:
                throw ShellArguments.invalid(
                    "bulkWrite only supports insertOne, updateOne, updateMany, replaceOne, "
                        + "deleteOne and deleteMany, not \(name)")
            }
            command.take(
                ["writeConcern", "comment", "bypassDocumentValidation", "let"], from: options)
            return command
        }

        private mutating func count(_ reply: BSONDocument, of name: String, at index: Int) {
            let count = reply.number("n")
            switch name {
            case "insertOne": inserted += count
            case "deleteOne", "deleteMany": deleted += count
            default:
                let upserted = reply.documents("upserted").first?["_id"]
                if let upserted { upsertedIDs.append(String(index), upserted) }
                matched += count - (upserted == nil ? 0 : 1)
                modified += reply.number("nModified")
            }
        }
    }
#endif
