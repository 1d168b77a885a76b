#if CommandLine
    import BSONScript
    import BSONStore

    /// A shell in MongoDB's language; it is used by one thread.
    final class Shell {
        /// The names of the scripts.
        let session: ScriptSession
        /// Where the commands run.
        let server: any ShellServer
        /// The name of the current database.
        private(set) var database: String
        private let console: Console
        private let format: ShellFormat
        /// The cursor whose next documents `it` shows.
        private var last: ShellCursor?
        private var warnings: [String] = []
        /// Whether a script has asked to end the shell.
        private(set) var exitCode: Int32?

        /// The number of documents that are shown at once.
        static let batchSize = 20
        /// The version of MongoDB's shell whose language this is.
        private static let version = "2.3.0"

        init(
            _ server: any ShellServer, database: String, format: ShellFormat,
            stackBytesMax: Int, console: Console = .standard
        ) {
            self.server = server
            self.database = database
            self.format = format
            self.console = console
            var options = ScriptOptions.shell
            options.stackBytesMax = stackBytesMax
            session = ScriptSession(options: options)
            use(database)
            defineFunctions()
        }

        /// Runs a command and returns the reply.
        ///
        /// - Throws: a `ScriptError` for a reply whose `ok` is 0.
        func run(_ command: BSONDocument, on database: String) throws -> BSONDocument {
            let reply = try server.run(command, on: database)
            guard reply.number("ok") == 1 else {
                throw Self.error(of: reply, name: "MongoServerError")
            }
            return reply
        }

        /// Returns the error that a reply holds, or an entry of `writeErrors`.
        static func error(of reply: BSONDocument, name: String) -> ScriptError {
            var fields: BSONDocument = [:]
            fields.take(
                ["code", "codeName", "keyPattern", "keyValue", "errInfo", "errorLabels"],
                from: reply)
            return ScriptError(name, reply.text("errmsg"), fields: fields)
        }

        /// Warns about a method that has a better one, the first time.
        func deprecate(_ method: String, for better: String) {
            let warning = "DeprecationWarning: \(method) is deprecated. Use \(better)."
            guard !warnings.contains(warning) else { return }
            warnings.append(warning)
            do throws(CommandError) {
                try console.warn(warning)
            } catch {
                // Standard error is closed: the warning has no reader.
            }
        }

        // MARK: Statements

        /// Runs what a person has typed and shows the result.
        ///
        /// - Returns: whether it succeeded.
        func enter(_ text: String) throws(CommandError) -> Bool {
            do {
                if try runWord(text) { return true }
                try show(session.evaluate(text))
                return true
            } catch let error as CommandError {
                throw error
            } catch {
                guard exitCode == nil else { return true }
                try console.warn(Self.text(of: error))
                return false
            }
        }

        /// Runs a script and shows the value of its last statement if asked to.
        ///
        /// - Returns: whether it succeeded.
        func runScript(_ text: String, showsResult: Bool) throws(CommandError) -> Bool {
            if showsResult { return try enter(text) }
            do {
                _ = try session.evaluate(text)
                return true
            } catch {
                guard exitCode == nil else { return true }
                try console.warn(Self.text(of: error))
                return false
            }
        }

        /// Returns an error as MongoDB's shell shows it.
        static func text(of error: any Error) -> String {
            switch error {
            case let error as ScriptError:
                let code = error.fields.text("codeName")
                let name = code.isEmpty ? error.name : "\(error.name)[\(code)]"
                let isOfScript = error.fields["code"] == nil && error.line != nil
                let place =
                    isOfScript && (error.line ?? 1) > 1
                    ? " (line \(error.line ?? 1), column \(error.column ?? 1))" : ""
                return (error.message.isEmpty ? name : "\(name): \(error.message)") + place
            case let error as StoreError: return "MongoshRuntimeError: \(error.message)"
            default: return "\(error)"
            }
        }

        /// Runs a line that is no JavaScript, such as `show dbs`; returns whether it was one.
        private func runWord(_ text: String) throws -> Bool {
            var words = text.split { $0.isWhitespace || $0 == ";" }.map(String.init)
            guard let first = words.first, text.utf8.count < 200 else { return false }
            words.removeFirst()
            switch (first, words.count) {
            case ("use", 1):
                use(words[0])
                try console.say("switched to db \(database)")
            case ("show", 1): try show(what: words[0])
            case ("it", 0): try showMore()
            case ("exit", 0), ("quit", 0): exitCode = 0
            case ("cls", 0): try console.output.write(Array("\u{1b}[H\u{1b}[2J".utf8))
            case ("help", 0): try console.say(Self.help)
            default: return false
            }
            return true
        }

        /// Changes the current database.
        private func use(_ name: String) {
            database = name
            session.define("db", .host(ShellDatabase(name, self)))
        }

        // MARK: Results

        /// Shows the result of a statement.
        private func show(_ value: ScriptValue) throws {
            if case .undefined = value { return }
            switch value.host {
            case let cursor as ShellCursor:
                last = cursor
                try showBatch(of: cursor)
            case let explained as ShellExplainedCursor: try show(explained.plan())
            default: try console.say(text(value))
            }
        }

        private func text(_ value: ScriptValue, isFull: Bool = false) throws -> String {
            if case .string(let text) = value, format == .shell { return text }
            if let host = value.host { return host.text }
            let stored = try session.stored(value)
            return switch format {
            case .shell: ShellInspector.text(stored, isFull: isFull)
            case .relaxed: stored.extendedJSON(.relaxed)
            case .canonical: stored.extendedJSON(.canonical)
            }
        }

        private func showBatch(of cursor: ShellCursor) throws {
            var items: [ScriptValue] = []
            while items.count < Self.batchSize, let item = try cursor.item() { items.append(item) }
            let isBlank = items.isEmpty && format == .shell
            try console.say(isBlank ? "" : text(.list(items), isFull: true))
            let isOver = try cursor.isExhausted || items.count < Self.batchSize || !cursor.hasNext()
            if isOver {
                last = nil
            } else if format == .shell {
                try console.say("Type \"it\" for more")
            }
        }

        private func showMore() throws {
            guard let last else { return try console.say("no cursor") }
            try showBatch(of: last)
        }

        private func show(what: String) throws {
            let here = ShellDatabase(database, self)
            switch what {
            case "dbs", "databases":
                let reply = try run(["listDatabases": 1], on: "admin").documents("databases")
                let rows = reply.map { ($0.text("name"), Self.size($0.number("sizeOnDisk"))) }
                let width = rows.map(\.0.count).max() ?? 0
                let sizes = rows.map(\.1.count).max() ?? 0
                for (name, size) in rows {
                    let space = width - name.count + sizes - size.count
                    try console.say(name + String(repeating: " ", count: space + 2) + size)
                }
            case "collections", "tables":
                for collection in try here.collections(database) {
                    let type = collection.text("type")
                    let mark = type == "collection" || type.isEmpty ? "" : "  [\(type)]"
                    try console.say(collection.text("name") + mark)
                }
            case "users":
                let users = try run(["usersInfo": 1], on: database)["users"] ?? []
                try console.say(text(session.value(users), isFull: true))
            case "roles":
                let roles = try run(["rolesInfo": 1, "showBuiltinRoles": true], on: database)
                try console.say(text(session.value(roles["roles"] ?? []), isFull: true))
            default:
                throw ScriptError(
                    "MongoshInvalidInputError",
                    "'\(what)' is not a valid argument for \"show\"; use dbs, collections, users or "
                        + "roles")
            }
        }

        /// Returns a size as `show dbs` writes it.
        private static func size(_ bytes: Double) -> String {
            var (amount, unit) = (bytes, "B")
            for next in ["KiB", "MiB", "GiB", "TiB"] where amount >= 1_024 {
                (amount, unit) = (amount / 1_024, next)
            }
            guard unit != "B" else { return "\(Int(amount)) B" }
            let hundredths = Int((amount * 100).rounded())
            let rest = hundredths % 100
            return "\(hundredths / 100).\(rest < 10 ? "0" : "")\(rest) \(unit)"
        }

        // MARK: Functions

        private func defineFunctions() {
            session.define("use") { [unowned self] values in
                self.use(try ShellArguments(values, session).text(0, "database"))
                return .string("switched to db \(database)")
            }
            for name in ["print", "printjson"] {
                session.define(name) { [unowned self] values in try self.print(values) }
            }
            session.define("console", .host(ShellConsole(self)))
            for name in ["exit", "quit"] {
                session.define(name) { [unowned self] values in
                    exitCode = values.first.map { Int32(clamping: Int($0.number)) } ?? 0
                    throw StoreError(.interrupted, "the shell ends")
                }
            }
            session.define("version") { _ in .string(Self.version) }
            session.define("help") { _ in .string(Self.help) }
            session.define("load") { [unowned self] values in
                let path = try ShellArguments(values, session).text(0, "path")
                _ = try session.evaluate(Self.script(at: path))
                return .bool(true)
            }
        }

        /// Writes values as `print` does.
        func print(_ values: [ScriptValue]) throws -> ScriptValue {
            var parts: [String] = []
            for value in values {
                if let cursor = value.host as? ShellCursor {
                    let items = try session.items(of: .host(cursor))
                    parts.append(try text(.list(items), isFull: true))
                } else {
                    parts.append(try text(value))
                }
            }
            try console.say(parts.joined(separator: " "))
            return .undefined
        }

        /// Returns the text of a script file.
        ///
        /// - Throws: `CommandError` if it cannot be read.
        static func script(at path: String) throws -> String {
            let descriptor = try Descriptor.reading(path)
            defer { descriptor.close() }
            var bytes: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 65_536)
            while true {
                let count = try buffer.withUnsafeMutableBytes { try descriptor.read(into: $0) }
                guard count > 0 else { break }
                bytes += buffer[..<count]
            }
            return String(decoding: bytes, as: UTF8.self)
        }

        private static let help = """
            use NAME                  change the current database
            show dbs                  list the databases
            show collections          list the collections of the current database
            show users                list the users of the current database
            db.NAME.find({…})         show documents of a collection; `it` shows the next 20
            db.NAME.insertOne({…})    insert a document
            db.NAME.updateOne({…}, {$set: {…}})
            db.NAME.deleteOne({…})
            load("FILE.js")           run a script
            exit                      end the shell (also Ctrl-D)
            Docs/SHELL.md lists the differences from mongosh.
            """
    }

    /// The object `console` of scripts.
    private final class ShellConsole: ScriptHost {
        private unowned let shell: Shell

        init(_ shell: Shell) { self.shell = shell }

        var text: String { "Object [console] {}" }

        func property(_ name: String) throws -> ScriptValue? {
            guard ["log", "info", "debug", "warn", "error"].contains(name) else { return nil }
            return .native(name) { [unowned shell] values in try shell.print(values) }
        }
    }
#endif
