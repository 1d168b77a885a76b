#if CommandLine && Server
    import ArgumentParser
    import BSONStore
    import Foundation
    import Logging
    import StitchServer

    /// The command that serves a store to MongoDB drivers until a signal stops it.
    struct ServeCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "serve",
            abstract: "Serve a store to MongoDB's drivers.",
            discussion: """
                Speaks MongoDB's wire protocol; drivers, mongosh and Compass connect to \
                mongodb://127.0.0.1:PORT. Says `listening on HOST:PORT` once it is ready, and stops \
                on SIGTERM or SIGINT after the commands that run.

                Example:
                  stitchsync serve --db shop.stitch --port 27017

                Exit code: 0 after a stop, 1 when the store cannot be opened or the address cannot be \
                listened on, 64 for a wrong command line.
                """)

        @Option(help: "The store's file; made when it is not there. Without one, a temporary file.")
        var db: String?

        @Option(help: "The port to listen on; 0 for any that is free.")
        var port = 27017

        @Option(help: "The address to listen on.")
        var host = "127.0.0.1"

        @Option(help: "HOST:PORT that clients are told to use, where it differs.")
        var advertise: String?

        @Option(help: "The name of the replica set whose only member the server is.")
        var replicaSet = "rs0"

        @Option(help: "Seconds within which a connection must send its first message.")
        var handshakeTimeout = 10

        @Option(help: "How many connections may be open at once.")
        var maxConnections = 10_000

        @Option(help: "How many transactions of several commands may be open at once.")
        var maxTransactions = 256

        @Option(help: "How many transactions one user, or address, may have open at once.")
        var maxTransactionsPerUser = 64

        @Option(
            help: """
                MiB of the file that are kept in memory: a third for writing, the rest for reading.
                """)
        var cacheMib = 64

        @Flag(
            help: """
                Let only those in who sign in. Until there is a user, the first one can be made from \
                this machine with createUser on the database admin.
                """)
        var auth = false

        @Option(help: "A file with the server's certificate and those above it, in PEM.")
        var tlsCert: String?

        @Option(help: "The file with the certificate's private key, in PEM.")
        var tlsKey: String?

        @Option(
            help: """
                A JSON Web Key Set: who has a token signed by one of its keys signs in with it as the \
                password of PLAIN. Needs TLS.
                """)
        var jwks: String?

        @Option(help: "Who must have issued a token.")
        var jwtIssuer: String?

        @Option(help: "For whom a token must be.")
        var jwtAudience: String?

        @Option(help: "The claim of a token with the roles, such as readWrite@shop.")
        var jwtRolesClaim = "roles"

        @Option(
            help: """
                A folder with the rules of an App Services app: users see and write what their roles \
                allow; who has the role root on admin is not bound. Read again on SIGHUP. Needs --auth.
                """)
        var rules: String?

        @Flag(
            help: """
                Let users under rules send JavaScript: $where, $function and $accumulator. Such a \
                script holds a thread as long as its limits let it.
                """)
        var scriptsUnderRules = false

        @Option(help: "A port of this machine for Prometheus: GET /metrics.")
        var metricsPort: Int?

        @Option(help: "How much is logged to standard error: debug, info, notice, warning.")
        var logLevel = "notice"

        @Option(
            help: """
                A file with a line `option = value` for each option, without the dashes, and `flag = \
                true`; the command line counts for more.
                """)
        var config: String?

        @Flag(help: "Let clients ask for faults (configureFailPoint), for the tests of drivers.")
        var testCommands = false

        func validate() throws {
            guard (tlsCert == nil) == (tlsKey == nil) else {
                throw ValidationError("--tls-cert and --tls-key go together")
            }
            for port in [port, metricsPort].compactMap({ $0 }) {
                // The system would take a larger number modulo 65536, and listen on another port.
                guard (0...65_535).contains(port) else {
                    throw ValidationError("a port is from 0 to 65535, not \(port)")
                }
            }
            guard (4...1_048_576).contains(cacheMib) else {
                throw ValidationError("--cache-mib is from 4 to 1048576, not \(cacheMib)")
            }
            guard rules == nil || auth else {
                throw ValidationError("--rules needs --auth: rules are about who has signed in")
            }
            guard Logger.Level(rawValue: logLevel) != nil else {
                throw ValidationError("--log-level is one of debug, info, notice, warning")
            }
        }

        func run() async throws {
            guard let config else { return try await serve() }
            let lines = try ServeConfiguration.arguments(inFile: config)
            let given = Array(CommandLine.arguments.dropFirst(2))
            let command = try ServeCommand.parse(lines + given)
            try await command.serve()
        }

        private func serve() async throws {
            CrashSignals.endAtOnce()
            MemoryArenas.limit(to: min(4, ProcessInfo.processInfo.activeProcessorCount))
            let stops = StopSignals.stream(hangsUp: rules == nil)
            let book = try rules.map { try ReloadableRules(folder: $0) }
            var settings = settings
            settings.rules = book
            for note in book?.notes ?? [] { settings.log.write(.warning, "rules: \(note)") }
            guard let db else {
                let temporary = try TemporaryStore()
                settings.isTemporary = true
                let result: Result<Void, any Error>
                do {
                    result = .success(
                        try await serve(temporary.path, .normal, settings, until: stops))
                } catch {
                    result = .failure(error)
                }
                try temporary.remove()
                return try result.get()
            }
            try Self.checkFolder(of: db)
            try await serve(db, .full, settings, until: stops)
        }

        private func serve(
            _ path: String, _ durability: DocumentStore.Durability, _ settings: ServerSettings,
            until stops: AsyncStream<Int32>
        ) async throws {
            let isNew = !FileManager.default.fileExists(atPath: path)
            let store = try DocumentStore(
                at: .file(path),
                options: .init(
                    durability: durability, changeHistory: .keep(changesMax: 100_000),
                    cacheKiB: cacheMib * 1_024 / 3))
            let server = try await Server.start(store, settings: settings)
            if let port = server.metricsPort {
                try Console.standard.warn("metrics on 127.0.0.1:\(port)")
            }
            let remark =
                settings.isTemporary
                ? " (temporary store, all of it is gone at the end; --db FILE keeps it)"
                : isNew ? " (new, empty store)" : ""
            try Console.standard.say("listening on \(host):\(server.port)\(remark)")
            for await signal in stops {
                guard let book = settings.rules, StopSignals.isHangUp(signal) else { break }
                try Self.reload(book)
            }
            try await server.stop()
        }

        /// Checks that the folder exists; creating it would turn a mistyped path into an empty
        /// store.
        private static func checkFolder(of path: String) throws {
            let folder = URL(filePath: path).deletingLastPathComponent().path
            var isFolder: ObjCBool = false
            let isThere = FileManager.default.fileExists(
                atPath: folder, isDirectory: &isFolder)
            guard isThere, isFolder.boolValue else {
                throw CommandError(
                    "there is no folder \(folder) for the store \(path); make it, or name another")
            }
        }

        /// Reads the rules again; after an error the previous rules stay in force.
        private static func reload(_ book: ReloadableRules) throws {
            do {
                let isChanged = try book.reload()
                try Console.standard.warn("rules: \(isChanged ? "read again" : "as before")")
            } catch {
                try Console.standard.warn("rules: not changed: \(error)")
            }
        }

        private var settings: ServerSettings {
            var settings = ServerSettings()
            settings.host = host
            settings.port = port
            settings.advertised = advertise
            settings.replicaSet = replicaSet
            settings.handshakeTimeoutSeconds = max(1, handshakeTimeout)
            settings.connectionsMax = max(1, maxConnections)
            settings.transactions.countMax = max(1, maxTransactions)
            settings.transactions.ofOneMax = max(1, maxTransactionsPerUser)
            settings.allowsTestCommands = testCommands
            settings.arguments = CommandLine.arguments
            settings.requiresSignIn = auth
            settings.allowsScriptsUnderRules = scriptsUnderRules
            if let tlsCert, let tlsKey { settings.certificates = (tlsCert, tlsKey) }
            settings.tokens = jwks.map {
                TokenSettings(
                    keysFile: $0, issuer: jwtIssuer, audience: jwtAudience,
                    rolesClaim: jwtRolesClaim)
            }
            settings.metricsPort = metricsPort
            settings.log = Self.log(Logger.Level(rawValue: logLevel) ?? .notice)
            return settings
        }

        private static func log(_ level: Logger.Level) -> ServerLog {
            var logger = Logger(label: "stitchsync") { label in
                StreamLogHandler.standardError(label: label)
            }
            logger.logLevel = level
            return ServerLog { [logger] level, text in
                switch level {
                case .debug: logger.debug("\(text)")
                case .info: logger.info("\(text)")
                case .notice: logger.notice("\(text)")
                case .warning: logger.warning("\(text)")
                }
            }
        }
    }
#endif
