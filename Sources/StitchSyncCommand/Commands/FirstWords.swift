#if CommandLine
    import ArgumentParser
    import Foundation

    /// The first words of a command line, with advice for those that other tools know.
    struct FirstWords {
        private let configuration: CommandConfiguration

        /// Takes the configuration of the tool, which knows the commands.
        init(_ configuration: CommandConfiguration) { self.configuration = configuration }

        /// Checks that the words name a command.
        ///
        /// - Throws: `ValidationError` for an unknown command, with what the person may have meant.
        func check(_ arguments: ArraySlice<String>) throws {
            try checkOptions(arguments)
            var subcommands = configuration.subcommands
            var path = "stitchsync"
            for word in arguments {
                guard !subcommands.isEmpty, !word.hasPrefix("-"), word != "help" else { return }
                if let next = subcommands.first(where: { $0.configuration.commandName == word }) {
                    subcommands = next.configuration.subcommands
                    path += " \(word)"
                    continue
                }
                let names = subcommands.filter { $0.configuration.shouldDisplay }
                    .compactMap { $0.configuration.commandName }
                throw ValidationError(unknown(word, path, names))
            }
        }

        private func unknown(_ word: String, _ path: String, _ names: [String]) -> String {
            let isFirst = path == "stitchsync"
            // A suggestion may be run unread, so none deletes anything.
            let harmless = names.filter { !Self.deleting.contains($0) }
            let start = "unknown command '\(word)'"
            if let meant = Self.synonyms[word], harmless.contains(meant) {
                return "\(start); did you mean `\(path) \(meant)`?"
            }
            if isFirst, let option = Self.options[word] {
                return "\(start); did you mean `stitchsync \(option)`?"
            }
            if SessionRemote.isServer(word) || FileManager.default.fileExists(atPath: word) {
                return isFirst
                    ? "\(start); a command comes first: `stitchsync ls \(ShellWord(word))` lists "
                        + "the collections, `stitchsync shell \(ShellWord(word))` opens a shell"
                    : "\(start); a command comes first: \(names.joined(separator: ", "))"
            }
            let nearest = NearestName.of(word, among: harmless)
            return start
                + (nearest.map { "; did you mean `\(path) \($0)`?" }
                    ?? "; `\(path) --help` lists the commands")
        }

        /// - Throws: `ValidationError` for options that MongoDB's tools have and this one has not.
        private func checkOptions(_ arguments: ArraySlice<String>) throws {
            guard let command = arguments.first else { return }
            if ["-v", "-V"].contains(command) {
                throw ValidationError(
                    "unknown option '\(command)'; `stitchsync --version` shows the version")
            }
            guard Self.reading.contains(command) else { return }
            let parts = arguments.flatMap { word -> [String] in
                guard word.hasPrefix("--"), let mark = word.firstIndex(of: "=") else {
                    return [word]
                }
                return [String(word[..<mark]), String(word[word.index(after: mark)...])]
            }
            func value(_ names: String...) -> String? {
                parts.indices.dropLast().first { names.contains(parts[$0]) }.map { parts[$0 + 1] }
            }
            let database = value("--db", "-d")
            let collection = value("--collection", "-c")
            guard database != nil || collection != nil else { return }
            let namespace = "\(database ?? "DATABASE").\(collection ?? "COLLECTION")"
            let file = command == "import" ? " \(ShellWord(value("--file") ?? "FILE"))" : ""
            throw ValidationError(
                "the collection is an argument, not --db and --collection: "
                    + "`stitchsync \(command) STORE \(ShellWord(namespace))\(file)`")
        }

        /// The commands that MongoDB's tools name a collection to by options.
        private static let reading: Set<String> = ["import", "export", "find", "count"]

        /// The commands that are never suggested.
        private static let deleting: Set<String> = ["drop", "delete"]

        /// The words that are options here.
        private static let options = [
            "version": "--version", "rm": "delete --help", "remove": "delete --help",
            "del": "delete --help", "truncate": "delete --help",
        ]

        /// The names that other tools have for commands.
        private static let synonyms = [
            "dump": "export", "mongodump": "export", "mongoexport": "export", "backup": "export",
            "restore": "import", "load": "import", "mongoimport": "import",
            "mongorestore": "import", "query": "find", "select": "find", "get": "find",
            "cat": "find", "put": "insert", "add": "insert", "set": "update", "show": "ls",
            "list": "ls", "tables": "ls", "collections": "ls", "dbs": "ls", "databases": "ls",
            "push": "sync", "pull": "sync", "replicate": "sync", "log": "trace",
            "history": "trace", "mongosh": "shell", "mongo": "shell", "open": "shell",
            "connect": "shell", "sql": "shell", "sqlite3": "shell", "use": "shell",
            "mongod": "serve", "server": "serve", "start": "serve", "run": "serve",
            "check": "verify", "validate": "verify", "vacuum": "compact", "indexes": "index",
            "createIndex": "create", "users": "user", "info": "status",
        ]
    }
#endif
