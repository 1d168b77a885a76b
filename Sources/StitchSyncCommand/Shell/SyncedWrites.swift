#if CommandLine
    import BSONStore
    import StitchSync

    /// Commands that write to a synced collection, through the engine, so that it uploads them.
    struct SyncedWrites: Sendable {
        private let collection: SyncCollection<BSONDocument>
        private let check: @Sendable (BSONDocument) throws -> Void

        /// Prepares writes to a collection.
        ///
        /// - Parameter check: throws the server's error of a command that has an invalid form.
        init(
            _ collection: SyncCollection<BSONDocument>,
            check: @escaping @Sendable (BSONDocument) throws -> Void
        ) {
            self.collection = collection
            self.check = check
        }

        /// Whether a command writes documents.
        static func isWrite(_ command: String) -> Bool {
            ["insert", "update", "delete", "findAndModify", "findandmodify"].contains(command)
        }

        /// Runs a command that writes and returns a server's reply.
        func run(_ command: BSONDocument) async throws -> BSONDocument {
            do {
                try check(command)
                switch command.keys.first {
                case "insert":
                    return try await write(
                        command.documents("documents").map { .insertOne($0) }, command)
                case "update":
                    return try await write(command.documents("updates").map(Self.update), command)
                case "delete":
                    return try await write(command.documents("deletes").map(Self.delete), command)
                default: return try await findAndModify(command)
                }
            } catch let error as StoreError {
                return [
                    "ok": 0, "errmsg": .string(error.message),
                    "code": .int32(Int32(error.code.rawValue)),
                ]
            } catch let error as SyncError {
                return ["ok": 0, "errmsg": .string("\(error)")]
            }
        }

        /// Whether a flag is set, as a server reads it.
        private static func flag(_ value: BSONValue?, default: Bool = false) -> Bool {
            guard let value, value.type != .null, value.type != .undefined else { return `default` }
            return value.isTrue
        }

        private static func options(_ write: BSONDocument) throws -> BulkWrite.Options {
            let collation = write.document("collation")
            return BulkWrite.Options(
                upsert: flag(write["upsert"]), arrayFilters: write.documents("arrayFilters"),
                collation: collation.isEmpty ? nil : try Collation(collation))
        }

        private static func update(_ update: BSONDocument) throws -> BulkWrite {
            try checkFields(update, ["q", "u", "upsert", "multi", "arrayFilters", "collation"])
            let (filter, options) = (update.document("q"), try options(update))
            let change = update["u"] ?? .null
            if flag(update["multi"]) {
                return .updateMany(filter, change, options: options)
            }
            if case .document(let document) = change,
                document.first(where: { $0.0.hasBytePrefix("$") }) == nil
            {
                return .replaceOne(filter, document, options: options)
            }
            return .updateOne(filter, change, options: options)
        }

        private static func delete(_ delete: BSONDocument) throws -> BulkWrite {
            try checkFields(delete, ["q", "limit", "collation"])
            let options = try options(delete)
            return flag(delete["limit"])
                ? .deleteOne(delete.document("q"), options: options)
                : .deleteMany(delete.document("q"), options: options)
        }

        /// Refuses options that the engine does not have.
        private static func checkFields(_ document: BSONDocument, _ known: [String]) throws {
            for (name, _) in document where !known.contains(name) {
                throw unknown(name)
            }
        }

        private static func unknown(_ option: String) -> StoreError {
            StoreError(
                .invalidOptions, "\(option) cannot be used on a synced collection; leave it out")
        }

        private func write(_ writes: [BulkWrite], _ command: BSONDocument) async throws
            -> BSONDocument
        {
            guard command["let"] == nil else { throw Self.unknown("let") }
            let result = try await collection.bulkWrite(
                writes, ordered: Self.flag(command["ordered"], default: true))
            let count =
                result.insertedCount + result.matchedCount + result.deletedCount
                + result.upsertedIDs.count
            var reply: BSONDocument = ["n": .int32(Int32(clamping: count))]
            if command["update"] != nil {
                reply.append("nModified", .int32(Int32(clamping: result.modifiedCount)))
                let upserted = result.upsertedIDs.sorted { $0.key < $1.key }
                if !upserted.isEmpty {
                    reply.append(
                        "upserted",
                        .array(
                            BSONArray(
                                upserted.map {
                                    .document(["index": .int32(Int32($0.key)), "_id": $0.value])
                                })))
                }
            }
            if !result.errors.isEmpty {
                let errors = result.errors.map { error in
                    BSONValue.document([
                        "index": .int32(Int32(error.index)),
                        "code": .int32(Int32(error.error.code.rawValue)),
                        "errmsg": .string(error.error.message),
                    ])
                }
                reply.append("writeErrors", .array(BSONArray(errors)))
            }
            reply.append("ok", 1)
            return reply
        }

        private func findAndModify(_ command: BSONDocument) async throws -> BSONDocument {
            try Self.checkFields(
                command,
                [
                    "findAndModify", "findandmodify", "query", "sort", "update", "remove", "new",
                    "fields", "upsert", "arrayFilters", "writeConcern", "comment", "maxTimeMS",
                    "lsid", "bypassDocumentValidation",
                ])
            let filter = command.document("query")
            let (order, fields) = (command.document("sort"), command.document("fields"))
            let sort = order.isEmpty ? nil : try SortOrder(order)
            let projection = fields.isEmpty ? nil : try Projection(fields)
            if Self.flag(command["remove"]) {
                let removed = try await collection.findOneAndDelete(filter, sort: sort)
                let shown = try removed.map { document in
                    try projection?.apply(to: document, matching: Filter(filter)) ?? document
                }
                return Self.reply(["n": removed == nil ? 0 : 1], shown)
            }
            let returnsAfter = Self.flag(command["new"])
            if returnsAfter, projection?.isPositional == true {
                throw StoreError(
                    .badValue, "cannot use a positional projection and return the new document")
            }
            let options = FindOneAndOptions(
                sort: sort, projection: projection, upsert: Self.flag(command["upsert"]),
                returnsAfter: returnsAfter)
            let update = try Update(
                command["update"] ?? .null, arrayFilters: command.documents("arrayFilters"))
            let (document, result) = try await collection.findOneAndChange(
                filter, update, options: options)
            var last: BSONDocument = [
                "n": result.matchedCount > 0 || result.upsertedID != nil ? 1 : 0,
                "updatedExisting": .bool(result.matchedCount > 0),
            ]
            if let id = result.upsertedID { last.append("upserted", id) }
            return Self.reply(last, document)
        }

        private static func reply(_ last: BSONDocument, _ value: BSONDocument?) -> BSONDocument {
            [
                "lastErrorObject": .document(last),
                "value": value.map(BSONValue.document) ?? .null, "ok": 1,
            ]
        }
    }
#endif
