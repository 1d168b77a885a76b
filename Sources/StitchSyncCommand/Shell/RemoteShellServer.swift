#if CommandLine && Remote
    import BSONStore
    import StitchRemote
    import StitchSync

    /// A server that answers the commands of a shell.
    final class RemoteShellServer: ShellServer {
        let place: String
        private let remote: ServerRemote

        /// Connects to a server.
        ///
        /// - Throws: an error if the server cannot be reached.
        init(_ remote: ServerRemote, place: String) throws {
            self.remote = remote
            self.place = HiddenPassword.hidden(in: place)
            let reply = try run(["hello": 1], on: "admin")
            guard reply.number("ok") == 1 else { throw CommandError(reply.text("errmsg")) }
        }

        func run(_ command: BSONDocument, on database: String) throws -> BSONDocument {
            try BlockingCall.run { [remote] in try await remote.run(command, on: database) }
        }

        func isSynced(_ namespace: Namespace) -> Bool { false }

        func close() {
            do {
                try BlockingCall.run { [remote] in await remote.close() }
            } catch {
                // The body throws nothing.
            }
        }
    }
#endif
