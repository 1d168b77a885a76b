internal import BSONStore
internal import StitchWire

/// The console of a server: what its pages ask for, over the commands that any client may send.
final class Console: Sendable {
    let server: ServerContext
    let backend: any CommandBackend
    private let dispatcher: Dispatcher
    private let sessions: ConsoleSessions
    /// Whether the pages come over TLS.
    let isSecure: Bool
    /// Whether the pages are for browsers on this machine only.
    private let isLocal: Bool
    /// The device's file that the pages show; `nil` for those of the server.
    let device: ConsoleDevice?

    /// The memory of the requests' bodies.
    let bodies = ConsoleBodies()

    init(
        _ server: ServerContext, _ backend: any CommandBackend, isSecure: Bool,
        isLocal: Bool, device: ConsoleDevice? = nil
    ) {
        self.server = server
        self.backend = backend
        self.isSecure = isSecure
        self.isLocal = isLocal
        self.device = device
        dispatcher = Dispatcher(server: server, backend: backend)
        sessions = ConsoleSessions { session in
            session.connection.state.withLock { $0.isClosed = true }
            backend.connectionClosed(session.connection)
        }
    }

    /// The name of the cookie.
    ///
    /// Browsers send cookies of one port to all of a host, so the pages of a file have a name each.
    var cookieName: String { device?.cookieName ?? ConsoleAnswer.cookieName }

    /// Answers a request for a page's file, without blocking; `nil` for another request.
    func fileAnswer(_ request: ConsoleRequest) -> ConsoleAnswer? {
        request.path.hasBytePrefix("/api/") ? nil : answer(request)
    }

    /// Returns whose share of the server's threads a request uses: the signed-in user's, or that of
    /// the browser's address.
    ///
    /// As ``knows(_:)``, it may be called on an event loop.
    func owner(of request: ConsoleRequest) -> [UInt8] {
        known(by: request, isUse: false)?.connection.owner
            ?? ClientConnection.owner(ofPeer: request.peer)
    }

    /// Answers a request; may block.
    func answer(_ request: ConsoleRequest) -> ConsoleAnswer {
        do {
            try checkOrigin(request)
            guard request.path.hasBytePrefix("/api/") else { return try file(request) }
            return try api(request)
        } catch let fault as ConsoleFault {
            return fault.answer
        } catch {
            return ConsoleFault(CommandFailure(error)).answer
        }
    }

    /// Refuses requests that another site makes the browser send, also by a name that it lets point at
    /// this machine.
    func checkOrigin(_ request: ConsoleRequest) throws(ConsoleFault) {
        guard let host = request.header("host"), !host.isEmpty else {
            throw ConsoleFault(400, "the request names no host")
        }
        if isLocal {
            let name =
                host.hasBytePrefix("[")
                ? String(host.prefix { $0 != "]" }) + "]" : String(host.prefix { $0 != ":" })
            guard
                ["localhost", "127.0.0.1", "[::1]"].contains(where: { name.hasSameBytes(as: $0) })
            else {
                throw ConsoleFault(
                    421, "the console is at localhost; it does not answer to another name")
            }
        }
        guard let origin = request.header("origin") else { return }
        guard origin.hasSameBytes(as: "\(isSecure ? "https" : "http")://\(host)") else {
            throw ConsoleFault(403, "the request comes from another site")
        }
    }

    private func file(_ request: ConsoleRequest) throws -> ConsoleAnswer {
        guard request.method.hasSameBytes(as: "GET") else {
            throw ConsoleFault(405, "only GET is possible here")
        }
        guard var file = ConsoleFiles.file(request.path) else {
            throw ConsoleFault(404, "there is no such page")
        }
        if let device, let token = request.query["token"], request.path.hasSameBytes(as: "/") {
            guard device.accepts(token) else { throw ConsoleDevice.refusal }
            file.cookie = addSession(nil, request).id
        }
        return file
    }

    // MARK: - Sessions

    private func api(_ request: ConsoleRequest) throws -> ConsoleAnswer {
        if let device { return try answer(request, of: device) }
        let isChange = request.method.hasSameBytes(as: "POST")
        if isChange, request.path.hasSameBytes(as: "/api/signin") { return try signIn(request) }
        guard let session = try self.session(request) else {
            if !server.settings.requiresSignIn, request.path.hasSameBytes(as: "/api/session") {
                return try open(nil, request)
            }
            throw ConsoleFault(401, "sign in first")
        }
        if isChange { try checkToken(request, session) }
        switch (request.method, request.path) {
        case ("GET", "/api/session"): return answer(of: session)
        case ("POST", "/api/signout"):
            sessions.remove(session)
            var answer = ConsoleAnswer.done
            answer.cookie = ""
            return answer
        case ("POST", "/api/command"): return try command(request, session)
        case ("GET", "/api/devices"): return devices()
        case ("GET", "/api/slow"): return slow()
        case ("GET", "/api/denied"): return .canonical("denied", try denied(session))
        case ("GET", "/api/write"): return try write(request, session)
        case ("GET", "/api/log"):
            let after = Int64(request.query["after"] ?? "") ?? 0
            let lines = server.consoleLog.lines(after: after)
            return .json(["lines": .array(BSONArray(lines.map { .document($0) }))])
        case ("GET", "/api/rules"): return try rules()
        case ("POST", "/api/rules/check"): return try check(request.document())
        case ("POST", "/api/rules/explain"): return try explain(request.document(), session)
        case ("POST", "/api/rules/diff"): return try diff(request.document(), session)
        default: throw ConsoleFault(404, "there is no such request")
        }
    }

    /// Refuses a change that does not come from the pages.
    func checkToken(
        _ request: ConsoleRequest, _ session: ConsoleSession
    ) throws(ConsoleFault) {
        guard let given = request.header("x-csrf-token"),
            SHA256.areEqual(Array(given.utf8), Array(session.csrf.utf8))
        else { throw ConsoleFault(403, "the request does not come from the console's pages") }
    }

    /// The header of a request that a page sends by itself, so that it is no use of the session.
    static let unattended = "x-unattended"

    /// Whether a request's cookie is that of a session; the user may be no administrator any more.
    ///
    /// It asks neither the store nor an upstream, so it may be called on an event loop.
    func knows(_ request: ConsoleRequest) -> Bool {
        known(by: request, isUse: false) != nil
    }

    private func known(by request: ConsoleRequest, isUse: Bool) -> ConsoleSession? {
        request.cookie(cookieName).flatMap { sessions.session($0, isUse: isUse) }
    }

    /// Returns the session of a request, if its user still is an administrator.
    func session(_ request: ConsoleRequest) throws -> ConsoleSession? {
        let isUse = request.header(Self.unattended) == nil
        guard let session = known(by: request, isUse: isUse) else { return nil }
        guard try isAdministrator(session) else {
            sessions.remove(session)
            return nil
        }
        return session
    }

    /// Whether a session has not ended and its user still is an administrator; it is no use of it.
    func isOpen(_ session: ConsoleSession) -> Bool {
        do {
            return try sessions.holds(session) && isAdministrator(session)
        } catch {
            // What cannot be checked ends; the page opens its stream again.
            return false
        }
    }

    private func isAdministrator(_ session: ConsoleSession) throws -> Bool {
        guard server.settings.requiresSignIn else { return true }
        do {
            return try backend.signedIn(session.connection)?.isBoundless == true
        } catch is CommandFailure {
            // The sign-in has ended.
            return false
        }
    }

    private func open(_ user: SignedInUser?, _ request: ConsoleRequest) throws -> ConsoleAnswer {
        let session = addSession(user, request)
        var answer = answer(of: session)
        answer.cookie = session.id
        return answer
    }

    private func addSession(
        _ user: SignedInUser?, _ request: ConsoleRequest
    ) -> ConsoleSession {
        let session = ConsoleSession(connection(of: request))
        session.connection.become(user)
        sessions.add(session)
        return session
    }

    private func connection(of request: ConsoleRequest) -> ClientConnection {
        let connection = ClientConnection(
            id: server.state.withLock { state in
                state.lastConnectionID &+= 1
                return state.lastConnectionID
            }, peer: request.peer, local: "console", isSecure: isSecure,
            isLoopback: isLocal)
        connection.state.withLock { $0.applicationName = "console" }
        return connection
    }

    /// Signs a user in by name and password; a wrong password counts as at any sign-in.
    private func signIn(_ request: ConsoleRequest) throws -> ConsoleAnswer {
        let fields = try request.document()
        let name = fields["user"]?.stringValue ?? ""
        let database = fields["database"]?.stringValue ?? "admin"
        let refusal = ConsoleFault(401, "wrong name or password, or the user is no administrator")
        do {
            let user = try self.user(
                name, database, password: fields["password"]?.stringValue ?? "", request)
            guard user.isBoundless else { throw refusal }
            var answer = try open(user, request)
            (answer.status, answer.body) = (204, [])
            return answer
        } catch let delayed as DelayedFailure {
            var answer = refusal.answer
            answer.notBefore = delayed.until
            return answer
        } catch let failure as CommandFailure where failure.code == ScramConversation.failed.code {
            throw refusal
        }
    }

    /// Returns the user with a password; it takes as long for an unknown one.
    private func user(
        _ name: String, _ database: String, password: String, _ request: ConsoleRequest
    ) throws -> SignedInUser {
        let began = server.signIns.now
        let signIn = backend.signIn
        let generation = server.userGeneration.withLock { $0 }
        let credential = try signIn.credential(.sha256, of: User.id(name, database))
        let given = try credential.storedKey(user: name, password: password)
        do {
            try server.signIns.judge(
                SignInDelay.key(user: name, database: database, peer: request.peer), began: began
            ) {
                guard SHA256.areEqual(given, credential.storedKey) else {
                    throw ScramConversation.failed
                }
            }
        } catch {
            server.settings.log.write(
                .warning, "a sign-in to the console failed from \(request.peer)")
            throw error
        }
        guard let found = try signIn.users.user(name, database),
            found.credentials.contains(credential)
        else { throw ScramConversation.failed }
        var user = found.signedIn(isUnderRules: server.settings.rules != nil)
        user.generation = generation
        server.settings.log.write(.info, "an administrator signed in to the console")
        return user
    }

    /// Returns what the pages know of their session and the server.
    func answer(of session: ConsoleSession) -> ConsoleAnswer {
        let user = session.connection.state.withLock { $0.user }
        return .json([
            "user": user.map { .string($0.name.text) } ?? .null,
            "database": user.map { .string($0.database.text) } ?? .null,
            "csrf": .string(session.csrf),
            "server": [
                "version": "0.1.0", "host": .string(device?.name ?? server.settings.host),
                "kind": .string(
                    device != nil ? "device" : backend.isGateway ? "gateway" : "file"),
                "rules": .bool(server.settings.rules != nil),
                "auth": .bool(server.settings.requiresSignIn),
            ],
        ])
    }

    // MARK: - Commands

    /// Runs the command of a request.
    ///
    /// With `excerpt: true`, the answer holds the documents as a list shows them.
    func command(
        _ request: ConsoleRequest, _ session: ConsoleSession
    ) throws -> ConsoleAnswer {
        let fields = try request.document()
        guard let database = fields["database"]?.stringValue,
            let command = fields["command"]?.documentValue
        else { throw ConsoleFault(400, "a command needs the fields database and command") }
        let reply: BSONDocument
        if let device {
            reply = try device.answering(command, server) { dispatcher in
                try run(command, on: database, session, by: dispatcher)
            }
        } else {
            reply = try run(command, on: database, session)
        }
        let shown =
            fields["excerpt"]?.isTrue == true ? DocumentExcerpt.shortened(reply) : reply
        return .json(#"{"reply": \#(shown.extendedJSON(.canonical))}"#)
    }

    /// Runs a command as the session's user; one that waits for news is asked once.
    ///
    /// - Throws: `ConsoleFault` with the command's error.
    func run(
        _ command: BSONDocument, on database: String, _ session: ConsoleSession
    ) throws -> BSONDocument {
        try run(command, on: database, session, by: dispatcher)
    }

    private func run(
        _ command: BSONDocument, on database: String, _ session: ConsoleSession,
        by dispatcher: Dispatcher
    ) throws -> BSONDocument {
        let reply = try reply(to: command, on: database, session, by: dispatcher)
        guard reply["ok"] == 0.0 else { return reply }
        throw ConsoleFault(
            CommandFailure(
                Int32(clamping: reply["code"]?.int64Value ?? 8),
                reply["errmsg"]?.stringValue ?? ""))
    }

    /// Runs a command as ``run(_:on:_:)`` does, and returns the reply, also one whose `ok` is 0.
    func reply(
        to command: BSONDocument, on database: String, _ session: ConsoleSession
    ) throws -> BSONDocument {
        try reply(to: command, on: database, session, by: dispatcher)
    }

    private func reply(
        to command: BSONDocument, on database: String, _ session: ConsoleSession,
        by dispatcher: Dispatcher
    ) throws -> BSONDocument {
        var body = command
        body.removeValue(forKey: "$db")
        body.append("$db", .string(database))
        var outcome = dispatcher.respond(
            to: WireRequest(requestID: 1, form: .message([]), body: body), on: session.connection)
        while true {
            switch outcome {
            case .reply(let reply): return reply
            case .blocking(let step): outcome = step()
            case .waiting(let wait): outcome = try wait.again(true)
            case .close: throw ConsoleFault(500, "the server ended the command")
            }
        }
    }
}
