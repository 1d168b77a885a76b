internal import BSONStore

/// A device's file whose documents and sync the pages show.
struct ConsoleDevice: Sendable {
    /// The file's name for people.
    let name: String
    /// The secret in the address that the user opens.
    let token = ScramCredential.newSecret()
    let cookieName = "\(ConsoleAnswer.cookieName)-\(ScramCredential.newSecret().prefix(8))"
    /// The users, cursors and sessions that commands need, in memory.
    let services: StoreBackend
    /// Opens the file for one command; so each sees what the app has written until then.
    let open: @Sendable () throws -> DocumentStore
    /// Answers what a page about sync asks; `nil` for an unknown page.
    let read: @Sendable (_ page: String, _ query: [Name: String]) throws -> BSONDocument?

    /// The answer to a browser that does not have the secret.
    static let refusal = ConsoleFault(
        403,
        "open the address that `stitchsync inspect --serve` printed; it holds the key to these pages"
    )

    /// The commands that the pages may send; all only read.
    private static let commands: Set<Name> = [
        "aggregate", "collStats", "count", "explain", "find", "getMore", "killCursors",
        "listCollections", "listDatabases", "listIndexes",
    ]

    /// Whether a token is the one of the address; the time does not tell how much of it is right.
    func accepts(_ given: String) -> Bool {
        SHA256.areEqual(Array(given.utf8), Array(token.utf8))
    }

    /// Runs a command's body with a dispatcher over the file, which closes afterwards.
    ///
    /// - Throws: `ConsoleFault` for a command that does not only read.
    func answering<R>(
        _ command: BSONDocument, _ server: ServerContext, _ body: (Dispatcher) throws -> R
    ) throws -> R {
        guard let name = command.keys.first, Self.commands.contains(Name(name)) else {
            throw ConsoleFault(403, "these pages only read; change documents in the app")
        }
        let store = try open()
        defer { store.close() }
        let backend = StoreBackend(
            store, in: nil, readingFrom: nil, sharing: services, under: nil)
        return try body(Dispatcher(server: server, backend: backend))
    }
}

// The pages of a device's file.
extension Console {
    /// Answers a request of the pages of a device's file.
    func answer(
        _ request: ConsoleRequest, of device: ConsoleDevice
    ) throws -> ConsoleAnswer {
        guard let session = try session(request) else { throw ConsoleDevice.refusal }
        switch (request.method, request.path) {
        case ("GET", "/api/session"): return answer(of: session)
        case ("POST", "/api/command"):
            try checkToken(request, session)
            return try command(request, session)
        case ("GET", let path) where path.hasBytePrefix(Self.devicePrefix):
            let page = String(path.dropFirst(Self.devicePrefix.count))
            return try read(page, request.query, of: device)
        default: throw ConsoleFault(404, "there is no such request")
        }
    }

    private func read(
        _ page: String, _ query: [Name: String], of device: ConsoleDevice
    ) throws(ConsoleFault) -> ConsoleAnswer {
        let answer: BSONDocument?
        do {
            answer = try device.read(page, query)
        } catch {
            // The reader's errors are sentences for the user who started the pages.
            throw ConsoleFault(422, "\(error)")
        }
        guard let answer else { throw ConsoleFault(404, "there is no such request") }
        return .json(answer.extendedJSON(.canonical))
    }

    private static let devicePrefix = "/api/device/"
}
