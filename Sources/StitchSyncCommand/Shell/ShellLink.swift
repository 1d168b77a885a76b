#if CommandLine
    import BSONScript
    import BSONStore

    /// A server that the objects of a script use, alone or within a session.
    final class ShellLink {
        unowned let shell: Shell
        let server: any ShellServer
        /// The session of all commands; `nil` for none.
        let session: ShellSession?

        init(_ shell: Shell, _ server: any ShellServer, session: ShellSession? = nil) {
            self.shell = shell
            self.server = server
            self.session = session
        }

        /// Runs a command and returns the reply.
        ///
        /// - Throws: a `ScriptError` for a reply whose `ok` is 0.
        func run(_ command: BSONDocument, on database: String) throws -> BSONDocument {
            let command = try session?.prepared(command) ?? command
            let reply = try server.run(command, on: database)
            guard reply.number("ok") == 1 else {
                throw Shell.error(of: reply, name: "MongoServerError")
            }
            try shell.notePending(command, on: database, at: server)
            return reply
        }
    }
#endif
