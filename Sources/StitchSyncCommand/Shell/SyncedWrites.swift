#if CommandLine
    import BSONStore
    import StitchSync

    /// Commands that write to a synced collection, through the engine, so that it uploads them.
    struct SyncedWrites: Sendable {
        private let collection: SyncCollection<BSONDocument>

        init(_ collection: SyncCollection<BSONDocument>) { self.collection = collection }

        /// Whether a command writes documents.
        static func isWrite(_ command: String) -> Bool {
            ["insert", "update", "delete", "findAndModify", "findandmodify"].contains(command)
        }

        /// Runs a command that writes and returns a server's reply.
        func run(_ command: BSONDocument) async throws -> BSONDocument {
            do {
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

        private static func options(_ write: BSONDocument) throws -> BulkWrite.Options {
            BulkWrite.Options(
                upsert: write["upsert"]?.boolValue ?? false,
                arrayFilters: write.documents("arrayFilters"),
                collation: try write["collation"]?.documentValue.flatMap { try Collation($0) })
        }

        private static func update(_ update: BSONDocument) throws -> BulkWrite {
            try checkFields(update, ["q", "u", "upsert", "multi", "arrayFilters", "collation"])
            let (filter, options) = (update.document("q"), try options(update))
            let change = update["u"] ?? .null
            if update["multi"]?.boolValue == true {
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
            return delete.number("limit") == 1
                ? .deleteOne(delete.document("q"), options: options)
                : .deleteMany(delete.document("q"), options: options)
        }

        /// Refuses options that the engine does not have.
        private static func checkFields(_ document: BSONDocument, _ known: [String]) throws {
            for (name, _) in document where !known.contains(name) {
                throw StoreError(
                    .invalidOptions, "\(name) cannot be used on a synced collection; leave it out")
            }
        }

        private func write(_ writes: [BulkWrite], _ command: BSONDocument) async throws
            -> BSONDocument
        {
            let result = try await collection.bulkWrite(
                writes, ordered: command["ordered"]?.boolValue ?? true)
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
                    "fields", "upsert", "arrayFilters",
                ])
            let filter = command.document("query")
            let sort = try command["sort"]?.documentValue.map { try SortOrder($0) }
            let value: BSONDocument?
            if command["remove"]?.boolValue == true {
                value = try await collection.findOneAndDelete(filter, sort: sort)
            } else {
                let options = FindOneAndOptions(
                    sort: sort,
                    projection: try command["fields"]?.documentValue.map { try Projection($0) },
                    upsert: command["upsert"]?.boolValue ?? false,
                    returnsAfter: command["new"]?.boolValue ?? false,
                    arrayFilters: command.documents("arrayFilters"))
                let update = command.document("update")
                let isReplacement = update.first { $0.0.hasBytePrefix("$") } == nil
                value =
                    isReplacement
                    ? try await collection.findOneAndReplace(filter, update, options: options)
                    : try await collection.findOneAndUpdate(filter, update, options: options)
            }
            return ["value": value.map(BSONValue.document) ?? .null, "ok": 1]
        }
    }
#endif
