public import BSONStore
internal import StitchWire

/// A server for one client, without a network, over a store of its own.
///
/// It runs the same code from a message's bytes to the reply's bytes as `Server` does, so fuzzers
/// and tests use it.
public final class OfflineServer {
    private var keepsTransactions = false
    private let backend: StoreBackend
    private let dispatcher: Dispatcher
    private let connection: ClientConnection

    /// Creates an empty store and one client.
    ///
    /// - Parameter requiresSignIn: whether commands need a signed-in user; the client has none.
    /// - Throws: the errors of opening the store.
    public convenience init(requiresSignIn: Bool) throws {
        var settings = ServerSettings()
        settings.requiresSignIn = requiresSignIn
        try self.init(settings)
    }

    /// Creates an empty store and one client of a server with these settings.
    ///
    /// - Parameter isLoopback: whether the client is on the server's machine. By default it is not,
    ///   so that the localhost exception for the first user does not apply.
    convenience init(_ settings: ServerSettings, isLoopback: Bool = false) throws {
        let store = try DocumentStore(
            at: .inMemory, options: .init(changeHistory: .keep(changesMax: 1_000)))
        try self.init(settings, over: store, isLoopback: isLoopback)
    }

    /// Creates one client, on the server's machine, over a store, which closes with the server.
    ///
    /// - Parameter keepsTransactions: whether transactions go on between commands, so that other
    ///   processes wait for them. By default a command's end aborts them.
    /// - Throws: the errors of reading the store.
    package convenience init(over store: DocumentStore, keepsTransactions: Bool = false) throws {
        try self.init(ServerSettings(), over: store, isLoopback: true)
        self.keepsTransactions = keepsTransactions
    }

    /// Creates one client of a server over a store, which closes with the server.
    init(_ settings: ServerSettings, over store: DocumentStore, isLoopback: Bool) throws {
        let context = ServerContext(settings: settings)
        backend = try StoreBackend(store: store, server: context)
        dispatcher = Dispatcher(server: context, backend: backend)
        connection = ClientConnection(
            id: 1, peer: "192.0.2.1:1", local: "localhost:27017", isLoopback: isLoopback)
    }

    deinit { backend.close() }

    /// Replies to every complete message at the beginning of the bytes.
    ///
    /// - Returns: the replies in order, and whether the connection stays open.
    public func answer(_ bytes: UnsafeRawBufferPointer) -> (bytes: [UInt8], goesOn: Bool) {
        let parser = WireParser(limits: dispatcher.server.limits(of: connection))
        var (answers, at): ([UInt8], Int) = ([], 0)
        do {
            while let length = try parser.messageLength(
                UnsafeRawBufferPointer(rebasing: bytes[at...]))
            {
                guard length <= bytes.count - at else { break }
                let message = UnsafeRawBufferPointer(rebasing: bytes[at..<(at + length)])
                at += length
                let request: WireRequest
                do {
                    request = try parser.parse(message)
                } catch let error as WireContentError {
                    answers += reply(
                        CommandFailure(error.code, error.message).reply,
                        WireRequest(requestID: error.requestID, form: error.form, body: [:]))
                    continue
                }
                guard let document = answer(request) else { return (answers, false) }
                answers += reply(document, request)
            }
            return (answers, true)
        } catch {
            return (answers, false)
        }
    }

    /// Replies to a command as if a message had carried it; `nil` closes the connection.
    ///
    /// A command that would wait finishes at once, as if its time had run out.
    public func answer(command: BSONDocument) -> BSONDocument? {
        answer(WireRequest(requestID: 1, form: .message([]), body: command))
    }

    /// Sets the client's user as if by signing in; `nil` signs the client out.
    func become(_ user: SignedInUser?) { connection.become(user) }

    /// The size of what open cursors keep, in memory and in files, and the number of the files.
    var cursorUse: (memoryBytes: Int, fileBytes: Int, files: Int) {
        let use = backend.spools.budget.use
        return (backend.cursors.memoryBytes, use.bytes, use.files)
    }

    /// The number of open logical sessions.
    var sessionCount: Int { backend.sessions.all.count }

    /// Whether a client that has not signed in may send the command.
    public static func isOpenToStrangers(_ command: String) -> Bool {
        CommandTable.find(command)?.traits.contains(.unauthenticated) ?? false
    }

    private func answer(_ request: WireRequest) -> BSONDocument? {
        var outcome = dispatcher.respond(to: request, on: connection)
        defer { if !keepsTransactions { backend.endTransactions() } }
        while true {
            switch outcome {
            case .reply(let document): return document
            case .close: return nil
            case .blocking(let step): outcome = step()
            case .waiting(let wait):
                do {
                    outcome = try wait.again(true)
                } catch {
                    return CommandFailure(error).reply
                }
            }
        }
    }

    private func reply(_ document: BSONDocument, _ request: WireRequest) -> [UInt8] {
        guard request.wantsReply else { return [] }
        return WireEncoder.bytes(
            document, to: request.form, requestID: 1, responseTo: request.requestID)
    }
}
