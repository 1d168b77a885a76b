#if CommandLine
    import BSONScript
    import BSONStore

    /// A database as scripts see it.
    final class ShellDatabase: ScriptHost {
        let name: String
        let link: ShellLink
        private var shell: Shell { link.shell }

        init(_ name: String, _ link: ShellLink) {
            self.name = name
            self.link = link
        }

        var text: String { name }

        /// Whether a property is one that every object may be asked for, and no collection.
        static func isReserved(_ name: String) -> Bool {
            ["toJSON", "then", "valueOf", "constructor", "prototype", "length"].contains(name)
        }

        func property(_ name: String) throws -> ScriptValue? {
            guard !Self.isReserved(name) else { return nil }
            if let method = try shell.library.method(name, of: "database", .host(self)) {
                return method
            }
            guard let method = catalog(name) ?? administration(name) ?? users(name) else {
                return .host(ShellCollection(name, of: self.name, link))
            }
            let session = shell.session
            return .native(name) { [unowned session] values in
                try method(ShellArguments(values, session))
            }
        }

        /// The names that a person may complete.
        static let methods = [
            "adminCommand", "aggregate", "auth", "createCollection", "createUser", "createView",
            "currentOp", "dropDatabase", "dropUser", "getCollection", "getCollectionInfos",
            "getCollectionNames", "getName", "getSiblingDB", "getUser", "getUsers", "hello",
            "killOp", "logout", "runCommand", "serverStatus", "stats", "updateUser", "version",
            "watch",
        ]

        private typealias Method = (ShellArguments) throws -> ScriptValue

        /// Returns a reply without the fields that are only for drivers.
        static func shown(_ reply: BSONDocument) -> BSONDocument {
            var reply = reply
            for name in ["$clusterTime", "operationTime"] { reply.removeValue(forKey: name) }
            return reply
        }

        private func reply(_ command: BSONDocument, on database: String? = nil) throws
            -> ScriptValue
        {
            let reply = try link.run(command, on: database ?? name)
            return shell.session.value(.document(Self.shown(reply)))
        }

        private func catalog(_ name: String) -> Method? {
            switch name {
            case "getName", "toString": return { _ in .string(self.name) }
            case "getCollection":
                return { arguments in
                    .host(
                        ShellCollection(
                            try arguments.text(0, "name"), of: self.name, self.link))
                }
            case "getSiblingDB":
                return { .host(ShellDatabase(try $0.text(0, "database"), self.link)) }
            case "getMongo": return { _ in .host(ShellMongo(self.link)) }
            case "getCollectionNames":
                return { _ in
                    .list(
                        try self.collections(self.name).map { .string($0.text("name")) })
                }
            case "getCollectionInfos":
                return { arguments in
                    let filter = try arguments.document(0, "filter") ?? [:]
                    return .list(
                        try self.collections(self.name, filter).map {
                            self.shell.session.value(.document($0))
                        })
                }
            case "createCollection":
                return { arguments in
                    let command: BSONDocument = ["create": .string(try arguments.text(0, "name"))]
                    return try self.reply(
                        Self.joined(command, try arguments.document(1, "options")))
                }
            case "createView":
                return { arguments in
                    let pipeline: BSONArray
                    switch try arguments.value(2) {
                    case .array(let stages)?: pipeline = stages
                    case .document(let stage)?: pipeline = [.document(stage)]
                    default: pipeline = []
                    }
                    let command: BSONDocument = [
                        "create": .string(try arguments.text(0, "name")),
                        "viewOn": .string(try arguments.text(1, "source")),
                        "pipeline": .array(pipeline),
                    ]
                    return try self.reply(
                        Self.joined(command, try arguments.document(3, "options")))
                }
            case "dropDatabase": return { _ in try self.reply(["dropDatabase": 1]) }
            case "stats":
                return { arguments in
                    try self.reply(["dbStats": 1, "scale": try arguments.value(0) ?? 1])
                }
            case "aggregate":
                return { arguments in
                    .host(
                        try Self.aggregate(
                            1, of: "$cmd.aggregate", on: self.name, arguments, self.link))
                }
            case "watch":
                return { arguments in
                    .host(
                        try Self.watch(
                            1, of: "$cmd.aggregate", on: self.name, arguments, self.link))
                }
            default: return nil
            }
        }

        /// Returns the descriptions of the collections of a database, in the order of their names.
        func collections(_ database: String, _ filter: BSONDocument = [:]) throws -> [BSONDocument]
        {
            let cursor = ShellCursor(
                ["listCollections": 1, "filter": .document(filter), "cursor": [:]], on: database,
                of: "$cmd.listCollections", link)
            var all: [BSONDocument] = []
            while let collection = try cursor.next() { all.append(collection) }
            return all.sorted {
                $0.text("name").utf8.lexicographicallyPrecedes($1.text("name").utf8)
            }
        }

        private func administration(_ name: String) -> Method? {
            switch name {
            case "runCommand", "adminCommand":
                let database = name == "adminCommand" ? "admin" : self.name
                return { arguments in
                    if case .string(let command)? = try arguments.value(0) {
                        return try self.reply([command: 1], on: database)
                    }
                    return try self.reply(arguments.required(0, "command"), on: database)
                }
            case "version":
                return { _ in
                    .string(
                        try self.link.run(["buildInfo": 1], on: "admin")
                            .text("version"))
                }
            case "hello", "isMaster", "serverStatus", "serverBuildInfo", "hostInfo",
                "listCommands", "serverCmdLineOpts":
                let command =
                    name == "serverBuildInfo"
                    ? "buildInfo" : name == "serverCmdLineOpts" ? "getCmdLineOpts" : name
                return { _ in try self.reply([command: 1], on: "admin") }
            case "currentOp":
                return { arguments in
                    let options = try arguments.value(0)?.documentValue
                    return try self.reply(Self.joined(["currentOp": 1], options), on: "admin")
                }
            case "killOp":
                return { arguments in
                    try self.reply(
                        ["killOp": 1, "op": try arguments.value(0) ?? .null], on: "admin")
                }
            case "setProfilingLevel":
                return { arguments in
                    try self.reply(
                        Self.joined(
                            ["profile": try arguments.value(0) ?? .null],
                            try arguments.value(1)?.documentValue))
                }
            case "getProfilingStatus": return { _ in try self.reply(["profile": -1]) }
            default: return nil
            }
        }

        private func users(_ name: String) -> Method? {
            switch name {
            case "auth": return signIn
            case "logout":
                return { _ in try self.result(try self.link.server.signOut()) }
            case "createUser":
                return { arguments in
                    let user = try arguments.required(0, "user")
                    return try self.reply(
                        Self.joined(
                            ["createUser": user["user"] ?? .null], user.leavingOut("user")))
                }
            case "updateUser":
                return { arguments in
                    try self.reply(
                        Self.joined(
                            ["updateUser": .string(try arguments.text(0, "username"))],
                            try arguments.required(1, "update")))
                }
            case "changeUserPassword":
                return { arguments in
                    try self.reply([
                        "updateUser": .string(try arguments.text(0, "username")),
                        "pwd": .string(try arguments.text(1, "password")),
                    ])
                }
            case "dropUser":
                return { arguments in
                    try self.reply(["dropUser": .string(try arguments.text(0, "username"))])
                }
            case "getUsers":
                return { arguments in
                    try self.reply(
                        Self.joined(["usersInfo": 1], try arguments.document(0, "options")))
                }
            case "getUser":
                return { arguments in
                    let reply = try self.link.run(
                        ["usersInfo": .string(try arguments.text(0, "username"))], on: self.name)
                    guard let user = reply.documents("users").first else { return .null }
                    return self.shell.session.value(.document(user))
                }
            case "grantRolesToUser", "revokeRolesFromUser":
                return { arguments in
                    try self.reply([
                        name: .string(try arguments.text(0, "username")),
                        "roles": .array(try arguments.list(1, "roles") ?? []),
                    ])
                }
            default: return nil
            }
        }

        /// Signs in as `db.auth` does: by a name and a password, or by a document with both.
        private func signIn(_ arguments: ShellArguments) throws -> ScriptValue {
            let user: String
            let password: String
            if case .document(let given)? = try arguments.value(0) {
                guard let name = given["user"]?.stringValue else {
                    throw ScriptError(
                        "MongoshInvalidInputError",
                        "db.auth needs the user's name in the field user")
                }
                user = name
                password = try given["pwd"]?.stringValue ?? ShellPassword.asked()
            } else {
                user = try arguments.text(0, "username")
                password =
                    try arguments.count > 1
                    ? arguments.text(1, "password") : ShellPassword.asked()
            }
            let server = link.server
            return try result(try server.signIn(user, password: password, on: name))
        }

        /// Returns the reply to a change of the user.
        private func result(_ reply: BSONDocument) throws -> ScriptValue {
            guard reply.number("ok") == 1 else {
                throw Shell.error(of: reply, name: "MongoServerError")
            }
            return shell.session.value(.document(Self.shown(reply)))
        }

        private static func joined(_ command: BSONDocument, _ more: BSONDocument?) -> BSONDocument {
            var command = command
            for (name, value) in more ?? [:] { command.append(name, value) }
            return command
        }

        /// Returns the results of a pipeline, on a collection or a database.
        static func aggregate(
            _ target: BSONValue, of collection: String, on database: String,
            _ arguments: ShellArguments, _ link: ShellLink
        ) throws -> ShellCursor {
            // Stages may be arguments of their own, without a list.
            var stages: [BSONValue] = []
            var options: BSONDocument?
            if case .array(let list)? = try arguments.value(0) {
                stages = list.values
                options = try arguments.document(1, "options")
            } else {
                for index in 0..<arguments.count {
                    stages.append(.document(try arguments.required(index, "stage")))
                }
            }
            var command: BSONDocument = [
                "aggregate": target, "pipeline": .array(BSONArray(stages)), "cursor": [:],
            ]
            command.take(
                [
                    "allowDiskUse", "batchSize", "bypassDocumentValidation", "collation",
                    "comment", "hint", "let", "maxTimeMS", "readConcern", "writeConcern",
                ], from: options)
            let cursor = ShellCursor(command, on: database, of: collection, link)
            let last = stages.last?.documentValue
            let writes = last?["$out"] != nil || last?["$merge"] != nil
            if writes, options?.isTrue("explain") != true { _ = try cursor.hasNext() }
            return cursor
        }

        /// Returns the changes of a collection or a database from now on.
        static func watch(
            _ target: BSONValue, of collection: String, on database: String,
            _ arguments: ShellArguments, _ link: ShellLink
        ) throws -> ShellCursor {
            let stages = try arguments.list(0, "pipeline") ?? []
            let options = try arguments.document(1, "options") ?? [:]
            var stream: BSONDocument = [:]
            for (name, value) in options where !["batchSize", "collation"].contains(name) {
                stream.append(name, value)
            }
            var command: BSONDocument = [
                "aggregate": target,
                "pipeline": .array(
                    BSONArray([.document(["$changeStream": .document(stream)])] + stages.values)),
                "cursor": [:],
            ]
            command.take(["batchSize", "collation"], from: options)
            let cursor = ShellCursor(command, on: database, of: collection, link)
            // Opened now, so that it shows the changes from now on.
            try cursor.open()
            return cursor
        }
    }
#endif
