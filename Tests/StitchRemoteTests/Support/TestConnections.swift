#if Remote
    import BSONStore
    import StitchCommands
    import StitchSync

    @testable import StitchRemote

    extension ServerRemote.Options {
        /// Options for tests, whose server may answer late beside many others.
        static var patient: Self {
            var options = Self()
            options.serverSelectionTimeout = .seconds(240)
            options.connectTimeout = .seconds(240)
            options.socketTimeout = .seconds(240)
            return options
        }
    }

    extension MongoFailure {
        /// Whether a search for a server ended before each host had answered, as beside many other
        /// tests.
        var isUninformed: Bool { message.contains("no answer yet") }
    }

    extension ServerConnections {
        /// Makes connections by a URI, lends them, and closes them.
        @discardableResult
        static func run<R>(
            _ uri: String, signIn: SignIn = .none,
            options: ServerRemote.Options = .patient,
            _ body: (ServerConnections) async throws -> R
        ) async throws -> R {
            let remote = try ServerRemote(uri, signIn: signIn, options: options)
            let result: Result<R, any Error>
            do {
                result = .success(try await body(remote.connections))
            } catch {
                result = .failure(error)
            }
            await remote.close()
            return try result.get()
        }

        /// Runs a command that succeeds.
        @discardableResult
        func read(_ command: BSONDocument, on database: String = "admin") async throws
            -> BSONDocument
        {
            try await run(command, on: database, .read)
        }

        /// The failure of a command; `nil` when it succeeds.
        func failure(
            of command: BSONDocument, on database: String = "admin",
            _ kind: MongoCommandKind = .read
        ) async -> MongoFailure? {
            do throws(MongoFailure) {
                _ = try await run(command, on: database, kind)
                return nil
            } catch {
                return error
            }
        }

        /// The failure of a command with the answers of all hosts, for which it asks again;
        /// `nil` when the command succeeds.
        func informedFailure(of command: BSONDocument) async -> MongoFailure? {
            while true {
                let failure = await failure(of: command)
                if failure?.isUninformed != true { return failure }
            }
        }
    }
#endif
