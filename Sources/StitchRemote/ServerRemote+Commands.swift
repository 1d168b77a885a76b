#if Remote
    package import BSONStore
    internal import StitchCommands
    package import StitchSync

    extension ServerRemote {
        /// Returns the database that a URI names.
        ///
        /// - Throws: `RemoteError` for an invalid URI.
        package static func database(namedBy uri: String) throws(RemoteError) -> String? {
            try ServerURI(uri).database
        }

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
