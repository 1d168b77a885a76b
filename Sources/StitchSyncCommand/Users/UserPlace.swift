#if CommandLine && Server
    import ArgumentParser
    import BSONStore
    import StitchRemote
    import StitchServer

    /// The place of the users that a command manages.
    struct UserPlace: ParsableArguments {
        @Argument(
            help: "The store's file, or a server with an administrator, stitchsync://….",
            completion: .file())
        var store: String

        @OptionGroup var administrator: AdministratorArguments

        /// Runs a command on the users.
        func run(_ command: BSONDocument, on database: String) async throws -> BSONDocument {
            let address = try administrator.address(of: store)
            if store.contains("://") {
                #if Remote
                    return try await ServerRemote.administrate(command, on: database, at: address)
                #else
                    throw SessionRemote.lacksServers
                #endif
            }
            // Opened as it is first, so that a missing file is not created.
            try StoreOpening.existing(store).close()
            let opened = try DocumentStore(
                at: .file(store), options: .init(changeHistory: .keep(changesMax: 100_000)))
            return try ServerUsers.run(command, on: database, closing: opened)
        }
    }

    /// A user that a command names.
    struct UserArguments: ParsableArguments {
        @OptionGroup var place: UserPlace

        @Argument(help: "The user's name.")
        var name: String

        @Option(help: "The database that holds the user.")
        var database = "admin"

        /// Runs a command whose first field names the user, with further fields.
        @discardableResult
        func run(_ command: String, _ fields: BSONDocument = [:]) async throws -> BSONDocument {
            var document: BSONDocument = [command: .string(name)]
            for (key, value) in fields { document.append(key, value) }
            return try await place.run(document, on: database)
        }
    }
#endif
