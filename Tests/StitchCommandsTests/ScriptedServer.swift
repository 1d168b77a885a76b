import BSONStore
import StitchCommands

/// A server whose replies a test writes, and that notes what it was asked.
final class ScriptedServer: MongoServer {
    typealias Script = @Sendable (BSONDocument) async throws(MongoFailure) -> BSONDocument

    private struct State {
        var lines: [String] = []
        var sessions = 0
        var signIn = 1
    }

    private let state = Locked(State())
    private let script: Script
    private let hasCredentials: Bool
    /// Notifies of each session that ends.
    let ended = Signal()
    let waitMax: Duration = .milliseconds(700)

    init(hasCredentials: Bool = true, _ script: @escaping Script) {
        self.hasCredentials = hasCredentials
        self.script = script
    }

    /// What the server was asked since the last call.
    func transcript() -> [String] {
        state.withLock { state in
            defer { state.lines = [] }
            return state.lines
        }
    }

    fileprivate func note(_ line: String) { state.withLock { $0.lines.append(line) } }

    fileprivate func answer(
        _ command: BSONDocument, _ session: String
    ) async throws(MongoFailure) -> BSONDocument {
        note("\(session)\(command.first { _ in true }?.key ?? "")")
        return try await script(command)
    }

    func run(
        _ request: MongoRequest, on database: String, _ kind: MongoCommandKind
    ) async throws(MongoFailure) -> BSONDocument {
        try await answer(request.document, "")
    }

    func startSession() async throws(MongoFailure) -> any MongoSession {
        let number = state.withLock { state in
            state.sessions += 1
            return state.sessions
        }
        return ScriptedSession(server: self, number: number)
    }

    var usesBulkWrite: Bool? { nil }

    func takesBulkWrite() async throws(MongoFailure) -> Bool { false }

    func knows(_ part: ServerExtension) async throws(MongoFailure) -> Bool {
        part == .echoFilter
    }

    var signIn: Int { state.withLock { $0.signIn } }

    func renew(after signIn: Int) async -> Bool {
        note("renew")
        guard hasCredentials else { return false }
        state.withLock { $0.signIn = max($0.signIn, signIn + 1) }
        return true
    }
}

private struct ScriptedSession: MongoSession {
    let server: ScriptedServer
    let number: Int

    func run(
        _ command: BSONDocument, on database: String, waits: Bool
    ) async throws(MongoFailure) -> BSONDocument {
        try await server.answer(command, "\(number) \(waits ? "waits " : "")")
    }

    func startTransaction() async throws(MongoFailure) {
        server.note("\(number) startTransaction")
    }

    func commitTransaction() async throws(MongoFailure) {
        _ = try await server.answer(["commitTransaction": 1], "\(number) ")
    }

    func abortTransaction() async { server.note("\(number) abortTransaction") }

    func end(killing cursor: MongoCursorID?) {
        server.note("\(number) ends" + (cursor.map { " killing \($0.id)" } ?? ""))
        server.ended.notify()
    }
}
