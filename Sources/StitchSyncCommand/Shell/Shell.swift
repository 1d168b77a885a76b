#if CommandLine
    import BSONScript
    import BSONStore

    #if canImport(Darwin)
        internal import Darwin
    #else
        internal import Glibc
    #endif

    /// A shell in MongoDB's language; it is used by one thread.
    final class Shell {
        /// The names of the scripts.
        let session: ScriptSession
        /// Where the commands run.
        let server: any ShellServer
        /// The connection of the beginning.
        private var link: ShellLink?
        /// The functions that are written in the shell's language.
        private(set) var library: ShellLibrary
        private var timers: ShellTimers?
        /// The settings that scripts change by `config.set`.
        private var limits = ShellInspector.Limits()
        private var batchSize = 20
        /// Opens a further connection, for `connect` and `Mongo`.
        private let connect: (String) throws -> (any ShellServer, database: String?)
        private let console: Console
        private let format: ShellFormat
        private let style: TextStyle
        /// Whether scripts asked for tables by `config.set`.
        private var showsTables = false
        /// The cursor whose next documents `it` shows.
        private var last: ShellCursor?
        private var warnings: [String] = []
        /// Whether a script has asked to end the shell.
        private(set) var exitCode: Int32?

        /// The version of MongoDB's shell whose language this is.
        private static let version = "2.3.0"

        init(
            _ server: any ShellServer, database: String, format: ShellFormat,
            stackBytesMax: Int, console: Console = .standard,
            style: TextStyle = TextStyle(.never, on: .output),
            connect: @escaping (String) throws -> (any ShellServer, database: String?) = { _ in
                throw ScriptError("MongoshInvalidInputError", "there is no other connection here")
            }
        ) throws {
            self.server = server
            self.format = format
            self.console = console
            self.style = style
            var options = ScriptOptions.shell
            options.stackBytesMax = stackBytesMax
            self.connect = connect
            session = ScriptSession(options: options)
            library = ShellLibrary(session)
            timers = ShellTimers(session)
            session.define("db", .host(ShellDatabase(database, firstLink)))
            defineFunctions()
            defineConnections()
            try library.load()
        }

        /// The database that the name `db` stands for.
        private var here: ShellDatabase {
            session.value("db")?.host as? ShellDatabase ?? ShellDatabase("test", firstLink)
        }

        /// The name of the current database.
        var database: String { here.name }

        private var firstLink: ShellLink {
            if let link { return link }
            let made = ShellLink(self, server)
            link = made
            return made
        }

        /// Runs a command on the current connection and returns the reply.
        ///
        /// - Throws: a `ScriptError` for a reply whose `ok` is 0.
        private func run(_ command: BSONDocument, on database: String) throws -> BSONDocument {
            try here.link.run(command, on: database)
        }

        /// Returns the error that a reply holds, or an entry of `writeErrors`.
        static func error(of reply: BSONDocument, name: String) -> ScriptError {
            var fields: BSONDocument = ["errorResponse": .document(ShellDatabase.shown(reply))]
            fields.take(
                [
                    "index", "ok", "code", "codeName", "keyPattern", "keyValue", "errInfo",
                    "errorLabels",
                ], from: reply)
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

        /// What completes statements, by the names of the current database.
        var completion: ShellCompletion {
            ShellCompletion(
                databases: { [unowned self] in
                    let reply = try run(["listDatabases": 1, "nameOnly": true], on: "admin")
                    return reply.documents("databases").map { $0.text("name") }
                },
                collections: { [unowned self] in
                    try here.collections(database).map { $0.text("name") }
                },
                sample: { [unowned self] name in
                    let reply = try run(["find": .string(name), "limit": 10], on: database)
                    guard case .document(let cursor)? = reply["cursor"] else { return [] }
                    return cursor.documents("firstBatch")
                })
        }

        /// Notes at the first write to a synced collection that its changes are pending.
        func notePending(
            _ command: BSONDocument, on database: String, at server: any ShellServer
        ) throws {
            guard let (name, target) = command.first(where: { _ in true }),
                SyncedWrites.isWrite(name), case .string(let collection) = target,
                !database.isEmpty, !collection.isEmpty
            else { return }
            let namespace = Namespace(database, collection)
            let note = "note: \(namespace) is synced; its changes are pending until the next sync"
            guard !warnings.contains(note), try server.isSynced(namespace) else { return }
            warnings.append(note)
            try console.warn(note)
        }

        // MARK: Statements

        /// Runs what a person has typed and shows the result.
        ///
        /// - Returns: whether it succeeded.
        func enter(_ text: String) throws(CommandError) -> Bool {
            do {
                if try runWord(text) { return true }
                try show(evaluate(text))
                return true
            } catch let error as CommandError {
                throw error
            } catch {
                guard exitCode == nil else { return true }
                try console.warn(self.text(of: error))
                if let hint = ShellHint.hint(for: text) { try console.warn(hint) }
                return false
            }
        }

        /// Runs a file.
        ///
        /// - Returns: whether it succeeded.
        func runFile(_ path: String) throws -> Bool {
            let text = try Self.script(at: path)
            return try atFile(path) { try runScript(text, showsResult: false) }
        }

        /// Runs steps while the names `__filename` and `__dirname` stand for a script's file.
        private func atFile<R>(_ path: String, _ steps: () throws -> R) rethrows -> R {
            let names = ["__filename", "__dirname"]
            let before = names.map { session.value($0) ?? .undefined }
            let file = Descriptor.absolute(path)
            let folder = file.lastIndex(of: "/").map { String(file[..<$0]) } ?? ""
            for (name, value) in zip(names, [file, folder.isEmpty ? "/" : folder]) {
                session.define(name, .string(value))
            }
            defer { for (name, value) in zip(names, before) { session.define(name, value) } }
            return try steps()
        }

        /// Runs a script and shows the value of its last statement if asked to.
        ///
        /// - Returns: whether it succeeded.
        func runScript(_ text: String, showsResult: Bool) throws(CommandError) -> Bool {
            if showsResult { return try enter(text) }
            do {
                _ = try evaluate(text)
                return true
            } catch {
                guard exitCode == nil else { return true }
                try console.warn(self.text(of: error))
                return false
            }
        }

        /// Returns an error as MongoDB's shell shows it.
        func text(of error: any Error) -> String {
            switch error {
            case let error as ScriptError:
                let code = error.fields.text("codeName")
                let name = code.isEmpty ? error.name : "\(error.name)[\(code)]"
                let isOfScript =
                    error.fields["code"] == nil && error.line != nil
                    && !error.name.hasPrefix("Mongo")
                let place =
                    isOfScript && (error.line ?? 1) > 1
                    ? " (line \(error.line ?? 1), column \(error.column ?? 1))" : ""
                let message = EngineText.translated(error.message)
                let title = console.error.isTerminal ? style(name, .red) : name
                return (message.isEmpty ? title : "\(title): \(message)") + place
                    + details()
            case let error as StoreError where error.code == .interrupted:
                return "MongoshInterruptedError: \(error.message)"
            case let error as StoreError:
                return "MongoshRuntimeError: \(EngineText.translated(error.message))"
            default: return EngineText.translated("\(error)")
            }
        }

        /// Returns the parts of the last error that MongoDB's shell shows below it.
        private func details() -> String {
            guard case .error(_, let properties) = ScriptShape(session.lastThrown) else {
                return ""
            }
            var text = ""
            for (name, title) in [
                ("errInfo", "Additional information"), ("result", "Result"),
                ("writeErrors", "Write Errors"),
            ] {
                guard let value = properties.first(where: { $0.name == name })?.value,
                    value.isTrue
                else { continue }
                text += "\n\(title): \(ShellInspector.text(value, limits))"
            }
            return text
        }

        /// Runs a text; the value of `{…}` alone is an object, as in MongoDB's shell.
        private func evaluate(_ text: String) throws -> ScriptValue {
            var trimmed = text[...]
            while trimmed.first?.isWhitespace == true { trimmed.removeFirst() }
            while trimmed.last?.isWhitespace == true { trimmed.removeLast() }
            if trimmed.hasPrefix("{"), trimmed.hasSuffix("}") {
                do {
                    return try session.evaluate("(\(trimmed))")
                } catch let error as ScriptError where error.name == "SyntaxError" {
                    // It is a block.
                }
            }
            return try session.evaluate(text)
        }

        /// Runs a line that is no JavaScript, such as `show dbs`; returns whether it was one.
        private func runWord(_ text: String) throws -> Bool {
            var words = text.split { $0.isWhitespace || $0 == ";" }.map(String.init)
            guard let first = words.first, text.utf8.count < 200 else { return false }
            words.removeFirst()
            switch (first, words.count) {
            case ("use", 1): try console.say(use(words[0]))
            case ("use", 0), ("show", 0):
                throw ScriptError(
                    "MongoshInvalidInputError",
                    "[COMMON-10001] Missing required argument at position 0 (\(first))")
            case ("show", 1...2): try show(what: words[0], words.dropFirst().first)
            case ("it", 0): try showMore()
            case ("exit", 0), ("quit", 0), (".exit", 0): exitCode = 0
            case ("cls", 0): try console.output.write(Array("\u{1b}[H\u{1b}[2J".utf8))
            case ("help", 0): try console.say(Self.help)
            default: return false
            }
            return true
        }

        /// Changes the current database and returns what a person reads about it.
        private func use(_ name: String) -> String {
            let before = here
            session.define("db", .host(ShellDatabase(name, before.link)))
            return before.name.hasSameBytes(as: name)
                ? "already on db \(name)" : "switched to db \(name)"
        }

        // MARK: Results

        /// Shows the result of a statement.
        private func show(_ value: ScriptValue) throws {
            if case .undefined = value { return }
            switch value.host {
            case let cursor as ShellCursor:
                last = nil
                try showBatch(of: cursor)
            case nil where isTable:
                guard let lines = try table(of: value) else { return try console.say(text(value)) }
                for line in lines { try console.say(line) }
            case let explained as ShellExplainedCursor: try show(explained.plan())
            default: try console.say(text(value))
            }
        }

        /// Returns a value as it is shown.
        func text(_ value: ScriptValue, isFull: Bool = false) throws -> String {
            if case .string(let text) = value, format.isShell { return text }
            if let cursor = value.host as? ShellCursor {
                return try text(.list(session.items(of: .host(cursor))), isFull: true)
            }
            switch format {
            case .shell, .table:
                var limits = limits
                limits.isColoured = style.isColoured
                if isFull { limits.elementsMax = .max }
                return ShellInspector.text(value, limits)
            case .relaxed: return try session.stored(value).extendedJSON(.relaxed)
            case .canonical: return try session.stored(value).extendedJSON(.canonical)
            }
        }

        private func showBatch(of cursor: ShellCursor) throws {
            var items: [ScriptValue] = []
            while items.count < batchSize, let item = try cursor.item() { items.append(item) }
            let isBlank = items.isEmpty && format.isShell
            if cursor.isTable || isTable, let lines = try table(of: .list(items)) {
                for line in lines { try console.say(line) }
            } else {
                try console.say(isBlank ? "" : text(.list(items), isFull: true))
            }
            let isOver = try cursor.isExhausted || items.count < batchSize || !cursor.hasNext()
            last = isOver ? nil : cursor
            if !isOver, format.isShell {
                try console.say("Type \"it\" for more")
            }
        }

        private var isTable: Bool {
            switch format {
            case .table: true
            case .shell: showsTables
            case .relaxed, .canonical: false
            }
        }

        /// The largest number of characters of a cell; longer values are cut.
        private static let cellMax = 60

        /// Returns a list of documents as the lines of a table; `nil` for other values, such as
        /// documents without fields and objects that contain themselves.
        private func table(of value: ScriptValue) throws -> [String]? {
            guard case .list(let items) = ScriptShape(value), !items.isEmpty else { return nil }
            var documents: [BSONDocument] = []
            for item in items {
                guard case .object = ScriptShape(item), let document = storedDocument(item)
                else { return nil }
                documents.append(document)
            }
            guard documents.contains(where: { !$0.isEmpty }) else { return nil }
            var lines = DocumentTable(documents, cellMax: Self.cellMax).lines
            if let title = lines.first { lines[0] = style(title, .bold) }
            return lines
        }

        private func storedDocument(_ value: ScriptValue) -> BSONDocument? {
            do {
                return try session.stored(value).documentValue
            } catch {
                return nil
            }
        }

        private func showMore() throws {
            guard let last else { return try console.say("no cursor") }
            try showBatch(of: last)
        }

        private func show(what: String, _ detail: String?) throws {
            let here = here
            switch what {
            case "dbs", "databases":
                // Only the server itself writes to its own database.
                let reply = try run(["listDatabases": 1], on: "admin").documents("databases")
                    .filter { detail == "all" || detail == "--all" || !Self.isOwn($0.text("name")) }
                let rows = reply.map { ($0.text("name"), Self.size($0.number("sizeOnDisk"))) }
                let width = rows.map(\.0.count).max() ?? 0
                let sizes = rows.map(\.1.count).max() ?? 0
                for (name, size) in rows {
                    let space = width - name.count + sizes - size.count
                    try console.say(name + String(repeating: " ", count: space + 2) + size)
                }
            case "collections", "tables":
                let all = try here.collections(database)
                let width = all.map { $0.text("name").count }.max() ?? 0
                for collection in all {
                    let (name, type) = (collection.text("name"), collection.text("type"))
                    let mark =
                        switch type {
                        case "collection", "": ""
                        case "timeseries": "[time-series]"
                        default: "[\(type)]"
                        }
                    let space = String(repeating: " ", count: width - name.count + 2)
                    try console.say(mark.isEmpty ? name : name + space + mark)
                }
            case "users":
                let users = try run(["usersInfo": 1], on: database)["users"] ?? []
                try console.say(text(session.value(users), isFull: true))
            case "roles":
                let roles = try run(["rolesInfo": 1, "showBuiltinRoles": true], on: database)
                try console.say(text(session.value(roles["roles"] ?? []), isFull: true))
            case "profile", "log", "logs":
                try show(
                    library.call(
                        "show",
                        [.host(here), .string(what)] + (detail.map { [.string($0)] } ?? [])))
            default:
                throw ScriptError(
                    "MongoshInvalidInputError",
                    "[COMMON-10001] '\(what)' is not a valid argument for \"show\".")
            }
        }

        private static func isOwn(_ database: String) -> Bool {
            database.hasSameBytes(as: ServerDatabase.journals)
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
                return .string(self.use(try ShellArguments(values, session).text(0, "database")))
            }
            for name in ["print", "printjson"] {
                session.define(name) { [unowned self] values in try self.print(values) }
            }
            session.define("console", .host(ShellConsole(self)))
            session.define("__inspect") { [unowned self] values in
                .string(ShellInspector.text(values.first ?? .undefined, limits))
            }
            session.define("__write") { [unowned self] values in
                let text = values.first?.text ?? ""
                try values.count > 1 ? console.warn(text) : console.say(text)
                return .undefined
            }
            session.define("__extendedJSON") { [unowned self] values in
                let isRelaxed = values.count < 2 || values[1].isTrue
                let stored = try session.stored(values.first ?? .undefined)
                return .string(stored.extendedJSON(isRelaxed ? .relaxed : .canonical))
            }
            session.define("__parseExtendedJSON") { [unowned self] values in
                let text = values.first?.text ?? ""
                do throws(BSONError) {
                    let document = try BSONDocument(extendedJSON: "{\"v\":\(text)}")
                    return session.value(document["v"] ?? .null)
                } catch {
                    throw ScriptError("SyntaxError", "invalid Extended JSON: \(error)")
                }
            }
            session.define("__environment") { values in
                values.first.flatMap { getenv($0.text) }.map { .string(String(cString: $0)) }
                    ?? .undefined
            }
            session.define("__configure") { [unowned self] values in
                self.configure(values.first?.text ?? "", values.dropFirst().first ?? .undefined)
                return .undefined
            }
            session.define("passwordPrompt") { _ in .string(try ShellPassword.asked()) }
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
                _ = try atFile(path) { try session.evaluate(Self.script(at: path)) }
                return .bool(true)
            }
        }

        private func defineConnections() {
            session.define("Mongo") { [unowned self] values in
                guard let uri = values.first?.text else { return .host(ShellMongo(firstLink)) }
                return .host(ShellMongo(ShellLink(self, try connect(uri).0)))
            }
            session.define("connect") { [unowned self] values in
                let uri = try ShellArguments(values, session).text(0, "connectionString")
                let (server, name) = try connect(uri)
                return .host(ShellDatabase(name ?? "test", ShellLink(self, server)))
            }
        }

        /// Changes a setting that Swift reads.
        private func configure(_ name: String, _ value: ScriptValue) {
            let count = value.number.isNaN ? 0 : max(0, min(value.number, 1e9))
            switch name {
            case "displayBatchSize": batchSize = max(1, Int(count))
            case "displayTable": showsTables = value.isTrue
            case "inspectDepth": limits.depthMax = Int(count)
            case "inspectCompact":
                limits.compactLevels =
                    if case .bool(let value) = value { value ? 3 : 0 } else { Int(count) }
            default: break
            }
        }

        /// Writes values as `print` does.
        func print(_ values: [ScriptValue]) throws -> ScriptValue {
            var parts: [String] = []
            for value in values {
                parts.append(try text(value))
            }
            try console.say(parts.joined(separator: " "))
            return .undefined
        }

        /// Returns the text of a script file.
        ///
        /// - Throws: `CommandError` if it cannot be read.
        static func script(at path: String) throws -> String {
            try Descriptor.text(of: path)
        }

        private static let help = """
            use NAME                  change the current database
            show dbs                  list the databases; `show dbs all` with the server's own
            show collections          list the collections of the current database
            show users                list the users of the current database
            db.NAME.find({…})         show documents of a collection; `it` shows the next 20
            db.NAME.find({…}).table() show them as a table; config.set("displayTable", true) for all
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
            try shell.library.method(name, of: "console", .host(self))
        }
    }
#endif
