internal import BSONStore

/// Carries commands out on a document store.
final class StoreBackend: CommandBackend {
    /// The documents.
    let store: DocumentStore
    /// What all connections have in common.
    let server: ServerContext
    /// The queries whose documents are not all given out.
    let cursors: CursorTable
    /// The logical sessions of clients.
    let sessions: SessionTable
    /// Wakes commands that wait for a commit.
    let commits: CommitHub

    /// Takes an open store, which is closed with the backend.
    ///
    /// - Throws: when the store's feed cannot be read.
    init(store: DocumentStore, server: ServerContext) throws {
        self.store = store
        self.server = server
        cursors = CursorTable(timeoutSeconds: server.settings.cursorTimeoutSeconds)
        sessions = SessionTable(timeoutMinutes: server.settings.sessionTimeoutMinutes)
        commits = CommitHub(store)
        if let time = try store.read({ try FeedTimes($0).last() }) { server.clock.follow(time) }
    }

    func run(_ rule: CommandRule, _ call: CommandCall) throws -> CommandOutcome {
        guard case .store(let answer) = rule.answering else {
            throw CommandFault(59, "no such command: '\(call.givenName)'")
        }
        if let session = call.session { sessions.touch(session) }
        return try answer(call, self)
    }

    func connectionClosed(_ connection: ClientConnection) {}

    func tidy() {
        cursors.endIdle()
        for session in sessions.endIdle() { cursors.kill(session: session) }
    }

    func close() {
        cursors.killAll()
        store.close()
    }
}

extension StoreBackend {
    /// Reads one state of the store for a command.
    func read<R>(_ call: CommandCall, _ body: (ReadTransaction) throws -> R) throws -> R {
        try call.checkTime()
        return try store.read(body)
    }

    /// Changes the store for a command; all of it is committed together or not at all.
    func write<R>(_ call: CommandCall, _ body: (WriteTransaction) throws -> R) throws -> R {
        try call.checkTime()
        return try store.write { transaction in
            // Inside of the transaction: times grow in the order of the commits.
            transaction.comment = WriteStamp(time: server.clock.advance()).comment
            let result = try body(transaction)
            try call.checkTime()
            return result
        }
    }
}
