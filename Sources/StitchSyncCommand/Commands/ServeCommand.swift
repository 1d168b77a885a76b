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
                mongodb://127.0.0.1:PORT. Prints `listening on HOST:PORT` when it is ready. \
                SIGTERM or SIGINT stops it after the running commands.

                Example:
                  stitchsync serve --db shop.stitch --port 27017

                Exit code: 0 after a stop, 1 when the store cannot be opened or the address is not \
                available, 64 for a wrong command line.
                """)

        @Option(help: "The store's file, created if missing; without it, a temporary file.")
        var db: String?

        @Option(
            help: ArgumentHelp(
                """
                Serve as a gateway: documents and users are in this MongoDB deployment, and \
                any number of gateways may serve it. Instead of --db. The option shows the \
                URI's password to other users of this machine until the program hides it; \
                the environment variable STITCHSYNC_UPSTREAM never does.
                """, valueName: "uri"))
        var upstream: String?

        @Option(help: "The port to listen on; 0 for any free one.")
        var port = 27017

        @Option(help: "The address to listen on.")
        var host = "127.0.0.1"

        @Option(help: "HOST:PORT for clients, if they reach the server under another address.")
        var advertise: String?

        @Option(help: "The name of the replica set, whose only member is the server.")
        var replicaSet = "rs0"

        @Option(help: "Seconds within which a connection must send its first message.")
        var handshakeTimeout = 10

        @Option(help: "The maximum number of open connections.")
        var maxConnections = 10_000

        @Option(help: "The maximum number of open multi-document transactions.")
        var maxTransactions = 256

        @Option(help: "The maximum number of open transactions of one user or address.")
        var maxTransactionsPerUser = 64

        @Option(
            help: """
                MiB of memory for caching the file: a third for writing, the rest for reading.
                """)
        var cacheMib = 64

        @Option(help: "MiB of memory that running commands may hold together; one may hold half.")
        var memoryMib = 1_024

        @Option(help: "MiB of memory for results that clients have not read.")
        var cursorMib = 128

        @Option(
            help: """
                MiB of disk for large results that clients have not read; one user may have half.
                """)
        var spoolMib = 4_096

        @Flag(
            help: """
                Require clients to sign in. While there are no users, a client on this machine can \
                create the first one with createUser on the database admin.
                """)
        var auth = false

        @Option(help: "The server's certificate chain, a PEM file.")
        var tlsCert: String?

        @Option(help: "The certificate's private key, a PEM file.")
        var tlsKey: String?

        @Option(
            help: """
                A file with a JSON Web Key Set. A client signs in with the mechanism PLAIN; its \
                password is a token that one of the keys has signed. Needs TLS, --jwt-issuer and \
                --jwt-audience.
                """)
        var jwks: String?

        @Option(help: "The required issuer of the tokens of --jwks, their claim iss.")
        var jwtIssuer: String?

        @Option(help: "The required audience of the tokens of --jwks, in their claim aud.")
        var jwtAudience: String?

        @Option(help: "The claim of a token with the roles, such as readWrite@shop.")
        var jwtRolesClaim = "roles"

        @Option(
            parsing: .singleValue,
            help: ArgumentHelp(
                """
                A JSON file that describes an identity provider whose tokens are accepted: name, \
                issuer, audience, keys and more (see Docs/SERVER.md). May be repeated. Needs TLS.
                """, valueName: "file"))
        var tokenProvider: [String] = []

        @Option(
            help: """
                A folder with the rules of an App Services app: users see and write what their \
                roles allow. Users with the role root on admin are exempt. Reloaded on SIGHUP. \
                Needs --auth.
                """)
        var rules: String?

        @Flag(
            help: """
                Let people use an app without an account: each device is a user of its own, whose \
                %%user.type is anonymous. Needs --rules.
                """)
        var anonymous = false

        @Flag(
            help: """
                Let people create an account with a name and a password. Rules alone decide what \
                such users see and write. Needs --rules.
                """)
        var signUp = false

        @Option(help: "The maximum number of sign-ups from one address in an hour.")
        var signUpsPerAddress = 10

        @Option(help: "The maximum number of sign-ups in an hour.")
        var signUpsPerHour = 1_000

        @Option(
            help: ArgumentHelp(
                """
                A program that sends users the tokens for a forgotten password that they ask for. \
                It reads a line of JSON with user, database, token and expires. Limited like \
                sign-ups. Needs --auth.
                """, valueName: "program"))
        var passwordMail: String?

        @Option(
            parsing: .unconditionalSingleValue,
            help: ArgumentHelp(
                "An argument of the program of --password-mail; may be repeated.",
                valueName: "argument"))
        var passwordMailArgument: [String] = []

        @Flag(
            help: """
                Let users under rules send JavaScript: $where, $function and $accumulator. Such a \
                script occupies a thread up to its time limit.
                """)
        var scriptsUnderRules = false

        @Option(
            help: """
                A port for Prometheus (GET /metrics) and load balancers (GET /healthz, /readyz).
                """)
        var metricsPort: Int?

        @Option(help: "The address of --metrics-port; anyone who reaches it reads the metrics.")
        var metricsHost = "127.0.0.1"

        @Option(
            help: """
                A port for the console, the pages for administrators in a browser (see \
                Docs/CONSOLE.md).
                """)
        var console: Int?

        @Option(
            help: """
                The address of --console. Without --auth and --tls-cert it is this machine's only.
                """)
        var consoleHost = "127.0.0.1"

        @Option(help: "The lowest logged level on standard error: debug, info, notice, warning.")
        var logLevel = "notice"

        @Option(
            help: """
                A file with one option per line, without dashes: `port = 27017`, or `auth = true` \
                for a flag. The command line takes precedence.
                """)
        var config: String?

        @Flag(help: "Let clients inject faults (configureFailPoint), for the tests of drivers.")
        var testCommands = false

        func validate() throws {
            guard (tlsCert == nil) == (tlsKey == nil) else {
                throw ValidationError("--tls-cert and --tls-key need each other; give both")
            }
            guard upstream == nil || db == nil else {
                throw ValidationError(
                    "--upstream and --db exclude each other: a gateway keeps no documents")
            }
            for port in [port, metricsPort, console].compactMap({ $0 }) {
                // The system would take a larger number modulo 65536, and listen on another port.
                guard (0...65_535).contains(port) else {
                    throw ValidationError("a port is from 0 to 65535, not \(port)")
                }
            }
            guard (4...1_048_576).contains(cacheMib) else {
                throw ValidationError("--cache-mib is from 4 to 1048576, not \(cacheMib)")
            }
            for (name, value) in [
                ("memory", memoryMib), ("cursor", cursorMib), ("spool", spoolMib),
            ] {
                guard (16...1_048_576).contains(value) else {
                    throw ValidationError("--\(name)-mib is from 16 to 1048576, not \(value)")
                }
            }
            guard rules == nil || auth else {
                throw ValidationError("--rules needs --auth: rules apply to signed-in users")
            }
            for (flag, isSet) in [("--anonymous", anonymous), ("--sign-up", signUp)] where isSet {
                guard rules != nil else {
                    throw ValidationError(
                        "\(flag) needs --auth and --rules: without rules everyone could read and "
                            + "write everything")
                }
            }
            if passwordMail != nil {
                guard auth else {
                    throw ValidationError(
                        "--password-mail needs --auth: without it users do not sign in")
                }
            } else if !passwordMailArgument.isEmpty {
                throw ValidationError("--password-mail-argument needs --password-mail")
            }
            for count in [signUpsPerAddress, signUpsPerHour] {
                guard (1...100_000).contains(count) else {
                    throw ValidationError("a limit of sign-ups is from 1 to 100000, not \(count)")
                }
            }
            if jwks != nil {
                guard let jwtIssuer, let jwtAudience, !jwtIssuer.isEmpty, !jwtAudience.isEmpty
                else {
                    throw ValidationError(
                        "--jwks needs --jwt-issuer and --jwt-audience: without them the server "
                            + "would accept tokens that the provider made for other services")
                }
            }
            guard Logger.Level(rawValue: logLevel) != nil else {
                throw ValidationError("--log-level must be one of debug, info, notice, warning")
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
            settings.tokenProviders += try tokenProvider.map { try TokenProvider(file: $0) }
            settings.passwordMail = try passwordMail.map { path in
                let program = try MailProgram(path, arguments: passwordMailArgument)
                return PasswordMail(limits: strangerLimits) { try program.send($0) }
            }
            for note in book?.notes ?? [] { settings.log.write(.warning, "rules: \(note)") }
            if let uri = upstream ?? (db == nil ? UpstreamAddress.inEnvironment : nil) {
                return try await serve(gatewayTo: uri, settings, until: stops)
            }
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
            let remark =
                settings.isTemporary
                ? " (temporary store, removed at the end; --db FILE keeps the data)"
                : isNew ? " (new, empty store)" : ""
            try await run(server, settings, remark, until: stops)
        }

        /// Serves as a gateway to a MongoDB deployment.
        private func serve(
            gatewayTo uri: String, _ settings: ServerSettings, until stops: AsyncStream<Int32>
        ) async throws {
            #if MongoRemote
                var settings = settings
                UpstreamAddress.hide(uri)
                settings.arguments = settings.arguments.map {
                    $0.replacing(uri, with: "(hidden)")
                }
                // Threads wait for the upstream most of the time.
                settings.threadsMax = 128
                let upstream = try GatewayUpstream(uri: uri)
                let server = try await Server.start(gatewayTo: upstream, settings: settings)
                try await run(server, settings, " (gateway)", until: stops, within: .seconds(4))
            #else
                throw CommandError(
                    "this program was built without libmongoc; build it with the traits Tool and "
                        + "MongoRemote to serve as a gateway")
            #endif
        }

        private func run(
            _ server: Server, _ settings: ServerSettings, _ remark: String,
            until stops: AsyncStream<Int32>, within limit: Duration? = nil
        ) async throws {
            if let port = server.metricsPort {
                try Console.standard.warn("metrics on \(metricsHost):\(port)")
            }
            if let port = server.consolePort {
                let scheme = settings.certificates == nil ? "http" : "https"
                let name = consoleHost == "127.0.0.1" ? "localhost" : consoleHost
                try Console.standard.warn("console on \(scheme)://\(name):\(port)")
            }
            try Console.standard.say("listening on \(host):\(server.port)\(remark)")
            for await signal in stops {
                guard let book = settings.rules, StopSignals.isHangUp(signal) else { break }
                try Self.reload(book)
            }
            if let limit { StopDeadline.begin(limit) }
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
                    "cannot create the store \(path): there is no folder \(folder) (create it, or "
                        + "name another)")
            }
        }

        /// Reads the rules again; after an error the previous rules stay in force.
        private static func reload(_ book: ReloadableRules) throws {
            do {
                let isChanged = try book.reload()
                try Console.standard.warn("rules: \(isChanged ? "reloaded" : "unchanged")")
            } catch {
                try Console.standard.warn(
                    "rules: cannot reload, the previous rules stay in force: \(error)")
            }
        }

        private var strangerLimits: SignUpLimits {
            SignUpLimits(ofAddress: signUpsPerAddress, inAll: signUpsPerHour)
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
            settings.memoryBytesMax = memoryMib << 20
            settings.cursorBytesMax = cursorMib << 20
            settings.spoolBytesMax = spoolMib << 20
            settings.allowsTestCommands = testCommands
            settings.arguments = CommandLine.arguments
            settings.requiresSignIn = auth
            settings.allowsScriptsUnderRules = scriptsUnderRules
            settings.allowsAnonymous = anonymous
            settings.signUps = signUp ? strangerLimits : nil
            if let tlsCert, let tlsKey { settings.certificates = (tlsCert, tlsKey) }
            if let jwks, let jwtIssuer, let jwtAudience {
                settings.tokenProviders = [
                    TokenProvider(
                        keysFile: jwks, issuer: jwtIssuer, audience: jwtAudience,
                        rolesClaim: jwtRolesClaim)
                ]
            }
            settings.metricsPort = metricsPort
            settings.metricsHost = metricsHost
            settings.consolePort = console
            settings.consoleHost = consoleHost
            settings.log = Self.log(Logger.Level(rawValue: logLevel) ?? .notice)
            return settings
        }

        private static func log(_ level: Logger.Level) -> ServerLog {
            var logger = Logger(label: "stitchsync") { label in
                StreamLogHandler.standardError(label: label)
            }
            logger.logLevel = level
            return ServerLog { [logger] level, text in
                let text = HiddenPassword.hidden(in: text)
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
