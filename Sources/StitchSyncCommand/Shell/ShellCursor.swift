#if CommandLine
    import BSONScript
    import BSONStore

    /// The results of a query, which are read when they are needed.
    final class ShellCursor: ScriptHost {
        private let link: ShellLink
        private var shell: Shell { link.shell }
        private let database: String
        private let collection: String
        private var command: BSONDocument
        private var function: ScriptValue?
        private var batch: ArraySlice<BSONDocument> = []
        private var id: Int64?
        private var isClosed = false
        /// Whether the documents are shown as a table.
        private(set) var isTable = false

        /// Creates a cursor for a command that answers with one: `find`, `aggregate` or `list…`.
        init(_ command: BSONDocument, on database: String, of collection: String, _ link: ShellLink)
        {
            self.command = command
            self.database = database
            self.collection = collection
            self.link = link
        }

        var text: String { "[object Cursor]" }

        /// The session whose scripts use the cursor.
        var session: ScriptSession { shell.session }

        private var isFind: Bool { command.contains(key: "find") }

        /// Returns the next document; `nil` at the end.
        ///
        /// - Parameter waits: whether empty batches are followed by further requests.
        func next(waits: Bool = true) throws -> BSONDocument? {
            while batch.isEmpty {
                guard !isClosed else { return nil }
                if let id {
                    guard id != 0 else { return nil }
                    var more: BSONDocument = [
                        "getMore": .int64(id), "collection": .string(collection),
                    ]
                    more.take(["batchSize"], from: command)
                    take(try link.run(more, on: database).document("cursor"), "nextBatch")
                } else {
                    try open()
                }
                guard waits else { break }
            }
            return batch.popFirst()
        }

        /// Sends the query, so that a stream of changes begins now.
        func open() throws {
            take(try link.run(request, on: database).document("cursor"), "firstBatch")
        }

        /// The command as the server runs it.
        private var request: BSONDocument {
            guard !isFind, let size = command["batchSize"] else { return command }
            var request = command.leavingOut("batchSize")
            request.set("cursor", to: .document(["batchSize": size]))
            return request
        }

        private func take(_ cursor: BSONDocument, _ name: String) {
            id = if case .int64(let id)? = cursor["id"] { id } else { 0 }
            batch = cursor.documents(name)[...]
        }

        /// Returns the next document as scripts see it; `nil` at the end.
        func item(waits: Bool = true) throws -> ScriptValue? {
            guard let document = try next(waits: waits) else { return nil }
            let value = shell.session.value(.document(document))
            guard let function else { return value }
            return try shell.session.call(function, [value])
        }

        /// Whether the server has no more documents.
        var isExhausted: Bool { batch.isEmpty && (isClosed || id == 0) }

        /// Whether a document follows.
        func hasNext() throws -> Bool {
            guard let document = try next() else { return false }
            batch = [document] + batch
            return true
        }

        func items() throws -> (() throws -> ScriptValue?)? { { try self.item() } }

        func stored() throws(StoreError) -> BSONValue { .document([:]) }

        func property(_ name: String) throws -> ScriptValue? {
            if let index = Int(name), index >= 0 {
                let all = try all()
                return index < all.count ? all[index] : .undefined
            }
            if let method = try shell.library.method(name, of: "cursor", .host(self)) {
                return method
            }
            let session = session
            return method(name).map { method in
                .native(name) { [unowned session] values in
                    try method(ShellArguments(values, session))
                }
            }
        }

        private typealias Method = (ShellArguments) throws -> ScriptValue

        private func method(_ name: String) -> Method? {
            if let option = option(name) { return option }
            switch name {
            case "toArray": return { _ in .list(try self.all()) }
            case "forEach": return { try self.forEach($0.function(0)) }
            case "map":
                return { arguments in
                    self.function = try arguments.function(0)
                    return .host(self)
                }
            case "next":
                return { _ in
                    guard let item = try self.item() else { return .null }
                    return item
                }
            case "tryNext": return { _ in try self.item(waits: false) ?? .null }
            case "hasNext": return { _ in .bool(try self.hasNext()) }
            case "count": return { _ in try self.count(bounded: false) }
            case "size": return { _ in try self.count(bounded: true) }
            case "itcount":
                return { _ in
                    var count = 0.0
                    while try self.next() != nil { count += 1 }
                    return .number(count)
                }
            case "explain": return { try self.explain($0) }
            case "pretty": return { _ in .host(self) }
            case "table":
                return { _ in
                    self.isTable = true
                    return .host(self)
                }
            case "close":
                return { _ in
                    try self.close()
                    return .undefined
                }
            case "isClosed": return { _ in .bool(self.isClosed) }
            case "isExhausted": return { _ in .bool(self.isExhausted) }
            case "objsLeftInBatch": return { _ in .number(Double(self.batch.count)) }
            case "toString": return { _ in .string(self.text) }
            default: return nil
            }
        }

        /// The methods that change the query, with the fields of the command that they set.
        private func option(_ name: String) -> Method? {
            let field: String
            switch name {
            case "sort", "limit", "skip", "projection", "min", "max", "returnKey", "showRecordId",
                "tailable", "noCursorTimeout", "allowPartialResults":
                guard isFind else { return nil }
                field = name
            case "project":
                guard isFind else { return nil }
                field = "projection"
            case "hint", "collation", "batchSize", "maxTimeMS", "comment", "let": field = name
            case "allowDiskUse": field = name
            case "readConcern":
                return { arguments in
                    self.command.set(
                        "readConcern", to: .document(["level": try arguments.value(0) ?? .null]))
                    return .host(self)
                }
            case "readPref", "maxAwaitTimeMS", "addOption": return { _ in .host(self) }
            default: return nil
            }
            return { arguments in
                guard self.id == nil else {
                    throw ScriptError("MongoCursorInUseError", "Cursor is already initialized")
                }
                var value = try arguments.value(0) ?? .bool(true)
                if field == "limit", case .int32(let count) = value, count < 0 {
                    self.command.set("singleBatch", to: .bool(true))
                    value = .int32(count == .min ? .max : -count)
                }
                self.command.set(field, to: value)
                return .host(self)
            }
        }

        private func all() throws -> [ScriptValue] {
            var all: [ScriptValue] = []
            while let item = try item() { all.append(item) }
            return all
        }

        private func forEach(_ function: ScriptValue) throws -> ScriptValue {
            while let item = try item() {
                let answer = try shell.session.call(function, [item])
                if case .bool(false) = answer { break }
            }
            return .undefined
        }

        private func count(bounded: Bool) throws -> ScriptValue {
            var count: BSONDocument = ["count": .string(collection)]
            count.append("query", .document(command.document("filter")))
            count.take(["hint", "collation", "maxTimeMS", "comment"], from: command)
            count.take(["limit", "skip"], from: command)
            return .number(try link.run(count, on: database).number("n"))
        }

        /// Asks the server for the plan of the query.
        func explain(_ arguments: ShellArguments) throws -> ScriptValue {
            var explain: BSONDocument = ["explain": .document(request)]
            switch try arguments.value(0) {
            case .string(let verbosity)?: explain.append("verbosity", .string(verbosity))
            case .bool(true)?: explain.append("verbosity", .string("allPlansExecution"))
            default: explain.append("verbosity", .string("queryPlanner"))
            }
            return shell.session.value(.document(try link.run(explain, on: database)))
        }

        /// Closes the cursor at the server.
        func close() throws {
            isClosed = true
            batch = []
            guard let id, id != 0 else { return }
            self.id = 0
            _ = try link.run(
                [
                    "killCursors": .string(collection),
                    "cursors": .array([.int64(id)]),
                ], on: database)
        }
    }
#endif
