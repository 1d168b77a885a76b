#if CommandLine && Server
    import ArgumentParser
    import BSONStore
    import StitchRemote
    import StitchServer

    /// The command that creates a user in a server's store file, or at a server.
    struct AddUserCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "adduser",
            abstract:
                "Create a user in a file that `stitchsync serve --auth` serves, or at a server.",
            discussion: """
                The password is the first line of standard input, or of --password-file. The server may be running. The \
                users of a gateway are in its upstream: name the gateway instead of a file, with \
                an administrator. The first user can be created without one, from the gateway's \
                own machine.

                Examples:
                  stitchsync adduser shop.stitch ann --role readWrite@shop
                  stitchsync adduser stitchsync://admin@localhost:27017 ann \\
                      --role readWrite@shop

                Exit code: 0, 1 when the user exists already or cannot be stored, 64 for a wrong \
                command line.
                """)

        @Argument(
            help: "The store's file; created if it does not exist. Or a server, stitchsync://….",
            completion: .file())
        var store: String

        @Argument(help: "The user's name.")
        var name: String

        @Option(help: "ROLE@DATABASE, or ROLE for one on admin; may be given more than once.")
        var role: [String] = []

        @OptionGroup var password: PasswordInput

        @OptionGroup var administrator: AdministratorArguments

        @Option(
            help: "A document that rules read as %%user.data.",
            transform: { try ExtendedJSONArgument.document($0) })
        var customData: BSONDocument?

        func run() async throws {
            try checkDatabase()
            let address = try administrator.address(of: store)
            let password = try password.read()
            if store.contains("://") {
                try await create(password, at: address)
            } else {
                try add(password)
            }
            try Console.standard.say("\(name): created; users sign in to the database admin")
            if role.isEmpty {
                try Console.standard.warn(
                    "note: \(name) has no role, so a server with --auth or --rules refuses every "
                        + "command; `stitchsync user grant` gives one, such as readWrite@shop")
            }
        }

        /// - Throws: `ValidationError` if the address names a database that would not be used.
        private func checkDatabase() throws {
            guard let scheme = store.firstRange(of: "://") else { return }
            let path = store[scheme.upperBound...].drop { $0 != "/" }.dropFirst()
            let database = path.prefix { $0 != "?" }
            guard database.isEmpty || database == "admin" else {
                throw ValidationError(
                    "adduser creates users on the database admin, not on \(database); leave it "
                        + "out, or use `stitchsync user add … "
                        + "\(ShellWord.option("database", String(database)))`")
            }
        }

        private func create(_ password: String, at address: String) async throws {
            #if Remote
                try await ServerRemote.createUser(
                    name, password: password, roles: ServerUsers.roles(role),
                    customData: customData, at: address)
            #else
                throw SessionRemote.lacksServers
            #endif
        }

        private func add(_ password: String) throws {
            let opened = try DocumentStore(
                at: .file(store), options: .init(changeHistory: .keep(changesMax: 100_000)))
            defer { opened.close() }
            try ServerUsers.add(
                name, password: password, roles: role, customData: customData, to: opened)
        }
    }
#endif
