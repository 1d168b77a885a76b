#if CommandLine
    import BSONScript
    import BSONStore

    /// A collection as scripts see it, such as `db.products`.
    final class ShellCollection: ScriptHost {
        let link: ShellLink
        var shell: Shell { link.shell }
        let database: String
        let name: String

        init(_ name: String, of database: String, _ link: ShellLink) {
            self.name = name
            self.database = database
            self.link = link
        }

        var text: String { "\(database).\(name)" }

        func property(_ name: String) throws -> ScriptValue? {
            guard !ShellDatabase.isReserved(name) else { return nil }
            if let method = try shell.library.method(name, of: "collection", .host(self)) {
                return method
            }
            guard let method = reading(name) ?? writing(name) ?? managing(name) else {
                return .host(ShellCollection("\(self.name).\(name)", of: database, link))
            }
            let session = shell.session
            return .native(name) { [unowned session] values in
                try method(ShellArguments(values, session))
            }
        }

        /// The names that a person may complete.
        static let methods = [
            "aggregate", "bulkWrite", "count", "countDocuments", "createIndex", "createIndexes",
            "deleteMany", "deleteOne", "distinct", "drop", "dropIndex", "dropIndexes",
            "estimatedDocumentCount", "explain", "find", "findOne", "findOneAndDelete",
            "findOneAndReplace", "findOneAndUpdate", "getIndexes", "insertMany", "insertOne",
            "renameCollection", "replaceOne", "stats", "updateMany", "updateOne", "validate",
            "watch",
        ]

        typealias Method = (ShellArguments) throws -> ScriptValue

        /// Runs a command on the collection and returns the reply.
        func run(_ command: BSONDocument) throws -> BSONDocument {
            try link.run(command, on: database)
        }

        /// Runs a command on the collection and returns the reply as scripts see it.
        func reply(_ command: BSONDocument) throws -> ScriptValue {
            shell.session.value(.document(ShellDatabase.shown(try run(command))))
        }

        private func managing(_ name: String) -> Method? {
            switch name {
            case "createIndex": return { try self.createIndexes([$0.required(0, "keys")], $0) }
            case "createIndexes":
                return { arguments in
                    let keys = try arguments.list(0, "keyPatterns") ?? []
                    return try self.createIndexes(keys.compactMap(\.documentValue), arguments)
                }
            case "getIndexes", "getIndices", "getIndexKeys":
                return { _ in
                    let cursor = ShellCursor(
                        ["listIndexes": .string(self.name), "cursor": [:]], on: self.database,
                        of: self.name, self.link)
                    var all: [ScriptValue] = []
                    while let index = try cursor.next() {
                        all.append(
                            self.shell.session.value(
                                name == "getIndexKeys"
                                    ? index["key"] ?? .null : .document(index)))
                    }
                    return .list(all)
                }
            case "dropIndex", "dropIndexes":
                return { arguments in
                    // A variable without a value must not drop every index.
                    let isAll = name == "dropIndexes" && arguments.count == 0
                    let index =
                        isAll ? .string("*") : try arguments.requiredValue(0, "index")
                    return try self.reply([
                        "dropIndexes": .string(self.name), "index": index,
                    ])
                }
            case "drop":
                return { _ in
                    _ = try self.run(["drop": .string(self.name)])
                    return .bool(true)
                }
            case "renameCollection":
                return { arguments in
                    let target = try arguments.text(0, "newName")
                    return self.shell.session.value(
                        .document(
                            ShellDatabase.shown(
                                try self.link.run(
                                    [
                                        "renameCollection": .string(self.text),
                                        "to": .string("\(self.database).\(target)"),
                                        "dropTarget": try arguments.value(1) ?? .bool(false),
                                    ], on: "admin"))))
                }
            case "stats":
                return { _ in try self.reply(["collStats": .string(self.name)]) }
            case "dataSize", "storageSize", "totalIndexSize", "totalSize":
                return { _ in
                    let stats = try self.run(["collStats": .string(self.name)])
                    let field = name == "dataSize" ? "size" : name
                    return .number(stats.number(field))
                }
            case "validate":
                return { arguments in
                    var command: BSONDocument = ["validate": .string(self.name)]
                    command.take(["full", "repair"], from: try arguments.document(0, "options"))
                    return try self.reply(command)
                }
            case "convertToCapped":
                return { arguments in
                    try self.reply([
                        "convertToCapped": .string(self.name),
                        "size": try arguments.value(0) ?? .null,
                    ])
                }
            case "getName": return { _ in .string(self.name) }
            case "getFullName", "toString": return { _ in .string(self.text) }
            case "getDB": return { _ in .host(ShellDatabase(self.database, self.link)) }
            case "getMongo": return { _ in .host(ShellMongo(self.link)) }
            case "getCollection":
                return { arguments in
                    .host(
                        ShellCollection(
                            "\(self.name).\(try arguments.text(0, "name"))", of: self.database,
                            self.link))
                }
            case "runCommand":
                return { arguments in
                    var command: BSONDocument = [
                        try arguments.text(0, "command"): .string(self.name)
                    ]
                    for (name, value) in try arguments.document(1, "options") ?? [:] {
                        command.append(name, value)
                    }
                    return try self.reply(command)
                }
            default: return nil
            }
        }

        private func createIndexes(
            _ keys: [BSONDocument], _ arguments: ShellArguments
        ) throws -> ScriptValue {
            let options = try arguments.document(1, "options") ?? [:]
            let indexes = keys.map { key in
                var index: BSONDocument = ["key": .document(key)]
                index.append("name", options["name"] ?? .string(Self.indexName(key)))
                for (name, value) in options where name != "name" {
                    index.append(name, value)
                }
                return BSONValue.document(index)
            }
            _ = try run([
                "createIndexes": .string(name), "indexes": .array(BSONArray(indexes)),
            ])
            let names = indexes.map { ScriptValue.string($0.documentValue?.text("name") ?? "") }
            let isOne = try arguments.value(0)?.documentValue != nil
            return isOne ? names[0] : .list(names)
        }

        /// Returns the name that MongoDB's shell gives to an index.
        private static func indexName(_ key: BSONDocument) -> String {
            key.map { name, value in
                if case .string(let kind) = value { return "\(name)_\(kind)" }
                return "\(name)_\(value.intValue.map(String.init) ?? value.extendedJSON(.relaxed))"
            }.joined(separator: "_")
        }
    }
#endif
