#if Remote
    package import BSONStore
    internal import StitchCommands
    package import StitchSync

    extension ServerRemote {
        /// The database that the URI names.
        package var namedDatabase: String? { database }

        /// Runs a command and returns the server's reply, also one whose `ok` is 0.
        ///
        /// - Throws: `RemoteError` if the server cannot be reached or refuses the sign-in.
        package func run(
            _ command: BSONDocument, on database: String
        ) async throws(RemoteError) -> BSONDocument {
            do throws(MongoFailure) {
                return try await connections.run(command, on: database, .write)
            } catch {
                if error.kind == .server, let reply = error.reply { return reply }
                throw error.accountError
            }
        }
    }
#endif
