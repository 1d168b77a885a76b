#if CommandLine
    import BSONStore

    /// The texts that complete what a person has typed of a statement.
    ///
    /// Names of databases, collections and fields are those of the place where commands run.
    struct ShellCompletion {
        /// Returns the names of databases.
        let databases: () throws -> [String]
        /// Returns the names of the current database's collections.
        let collections: () throws -> [String]
        /// Returns some documents of a collection.
        let sample: (String) throws -> [BSONDocument]

        /// The names that statements begin with.
        private static let words = [
            "db", "use", "show", "it", "exit", "quit", "help", "cls", "load", "print", "printjson",
            "sleep", "tojson", "rs", "sh", "EJSON", "ObjectId", "ISODate", "Long", "Int32",
            "Double", "Decimal128", "UUID", "Binary", "Timestamp", "MinKey", "MaxKey", "DBRef",
            "JSON", "Math", "Object", "Array", "Date", "Map", "Set", "Promise", "const", "let",
            "var", "function", "async", "await", "return", "console", "connect", "Mongo", "version",
        ]
        private static let shown = [
            "dbs", "databases", "collections", "tables", "users", "roles", "profile", "log", "logs",
        ]
        private static let cursorMethods = [
            "allowDiskUse", "batchSize", "close", "collation", "comment", "count", "explain",
            "forEach", "hasNext", "hint", "isExhausted", "itcount", "limit", "map", "max",
            "maxTimeMS", "min", "next", "pretty", "projection", "readConcern", "returnKey",
            "showRecordId", "size", "skip", "sort", "table", "toArray", "tryNext",
        ]
        private static let stages = [
            "$addFields", "$bucket", "$bucketAuto", "$changeStream", "$collStats", "$count",
            "$densify", "$documents", "$facet", "$fill", "$geoNear", "$graphLookup", "$group",
            "$indexStats", "$limit", "$lookup", "$match", "$merge", "$out", "$project", "$redact",
            "$replaceRoot", "$replaceWith", "$sample", "$set", "$setWindowFields", "$skip", "$sort",
            "$sortByCount", "$unionWith", "$unset", "$unwind",
        ]
        private static let operators = [
            "$all", "$and", "$elemMatch", "$eq", "$exists", "$expr", "$gt", "$gte", "$in",
            "$jsonSchema", "$lt", "$lte", "$mod", "$ne", "$nin", "$nor", "$not", "$or", "$regex",
            "$size", "$type",
        ]
        private static let updates = [
            "$addToSet", "$bit", "$currentDate", "$inc", "$max", "$min", "$mul", "$pop", "$pull",
            "$push", "$rename", "$set", "$setOnInsert", "$unset",
        ]

        /// Returns the texts that may follow; none if the place cannot be asked.
        func callAsFunction(_ text: String) -> LineEditor.Completion {
            do {
                return try completion(of: text)
            } catch {
                // A key answers nothing rather than an error in the middle of a line.
                return LineEditor.Completion()
            }
        }

        private func completion(of text: String) throws -> LineEditor.Completion {
            let words = text.split(separator: " ", omittingEmptySubsequences: false)
            if words.count == 2, let verb = words.first, let part = words.last {
                if verb == "use" { return Self.matching(part, try databases()) }
                if verb == "show" { return Self.matching(part, Self.shown) }
            }
            let path = Self.path(at: text)
            if path.hasPrefix("db.") { return try members(path) }
            if path.hasPrefix("."), text.dropLast(path.count).hasSuffix(")") {
                return Self.matching(path.dropFirst(), Self.cursorMethods)
            }
            if let call = Self.bracket(text, path.count) { return try argument(path, of: call) }
            guard !path.contains(".") else { return LineEditor.Completion() }
            return Self.matching(path[...], Self.words)
        }

        /// Completes a name behind `db.`.
        private func members(_ path: String) throws -> LineEditor.Completion {
            let part = path.dropFirst(3)
            let names = try collections()
            // The longest collection whose name the path begins with.
            let collection = names.filter { part.hasPrefix($0 + ".") }.max { $0.count < $1.count }
            var candidates = names.filter { $0.allSatisfy(Self.isOfPath) }
            candidates += part.contains(".") ? [] : ShellDatabase.methods
            if let collection {
                candidates += ShellCollection.methods.map { "\(collection).\($0)" }
            } else if let point = part.firstIndex(of: ".") {
                candidates += ShellCollection.methods.map { "\(part[..<point]).\($0)" }
            }
            return Self.matching(part, candidates)
        }

        /// Completes a field or an operator in the arguments of a call.
        private func argument(
            _ path: String, of call: (collection: String, method: String)
        ) throws -> LineEditor.Completion {
            if path.hasPrefix("$") {
                let names =
                    call.method == "aggregate"
                    ? Self.stages + Self.operators
                    : call.method.hasPrefix("update") || call.method.hasSuffix("Update")
                        ? Self.updates + Self.operators : Self.operators
                return Self.matching(path[...], names)
            }
            var fields: Set<String> = []
            for document in try sample(call.collection) {
                Self.collect(document, "", &fields)
            }
            return Self.matching(path[...], Array(fields))
        }

        private static func collect(
            _ document: BSONDocument, _ prefix: String, _ fields: inout Set<String>
        ) {
            for (name, value) in document {
                fields.insert(prefix + name)
                if case .document(let inner) = value, prefix.utf8.count < 64 {
                    collect(inner, "\(prefix)\(name).", &fields)
                }
            }
        }

        private static func matching(
            _ part: Substring, _ names: [String]
        ) -> LineEditor.Completion {
            LineEditor.Completion(
                length: part.unicodeScalars.count,
                candidates: Set(names.filter { $0.hasPrefix(part) }).sorted())
        }

        // MARK: The text

        private static func isOfPath(_ character: Character) -> Bool {
            character.isLetter || character.isNumber || "_$.".contains(character)
        }

        /// Returns the names and points at the end of a text.
        private static func path(at text: String) -> String {
            String(text.reversed().prefix(while: isOfPath).reversed())
        }

        /// Returns the collection and the method of the call in whose arguments a text ends.
        ///
        /// - Parameter length: the number of last characters that are left out.
        private static func bracket(
            _ text: String, _ length: Int
        ) -> (collection: String, method: String)? {
            var rest = text.dropLast(length)
            var depth = 0
            while let last = rest.popLast() {
                switch last {
                case ")", "]", "}": depth += 1
                case "[", "{": depth = max(0, depth - 1)
                case "(":
                    guard depth == 0 else {
                        depth -= 1
                        continue
                    }
                    let path = Self.path(at: String(rest))
                    guard path.hasPrefix("db."), let point = path.lastIndex(of: ".") else {
                        continue
                    }
                    let name = path[..<point].dropFirst(3)
                    guard !name.isEmpty else { return nil }
                    return (String(name), String(path[path.index(after: point)...]))
                default: continue
                }
            }
            return nil
        }
    }
#endif
