public import BSONStore
internal import StitchWire

/// Answers the messages of one client without a network, over a store of its own in memory.
///
/// It goes the way of every message from the bytes to the answer, so fuzzers and tests use it.
public final class OfflineServer {
    private let backend: StoreBackend
    private let dispatcher: Dispatcher
    private let connection: ClientConnection

    /// Makes an empty store and a client.
    ///
    /// - Parameter requiresSignIn: whether the client, who has not signed in, is a stranger.
    /// - Throws: what opening the store throws.
    public convenience init(requiresSignIn: Bool) throws {
        var settings = ServerSettings()
        settings.requiresSignIn = requiresSignIn
        try self.init(settings)
    }

    /// Makes an empty store and a client of a server with some settings.
    init(_ settings: ServerSettings) throws {
        let store = try DocumentStore(
            at: .inMemory, options: .init(changeHistory: .keep(changesMax: 1_000)))
        let context = ServerContext(settings: settings)
        backend = try StoreBackend(store: store, server: context)
        dispatcher = Dispatcher(server: context, backend: backend)
        // From another machine, so that the door for the first user is closed.
        connection = ClientConnection(
            id: 1, peer: "192.0.2.1:1", local: "localhost:27017", isLoopback: false)
    }

    deinit { backend.close() }

    /// Answers all whole messages at the beginning of some bytes.
    ///
    /// - Returns: the answers one after the other, and whether the connection goes on.
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
                    request = try parser.request(message)
                } catch let error as WireDocumentError {
                    answers += reply(
                        CommandFailure(.invalidBSON, error.error.message).reply,
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

    /// Answers a command as if it had come in a message; `nil` closes the connection.
    ///
    /// A command that waits for something is told that its time is over.
    public func answer(command: BSONDocument) -> BSONDocument? {
        answer(WireRequest(requestID: 1, form: .message([]), body: command))
    }

    /// Lets the client be somebody, or a stranger again, as if by signing in.
    func become(_ user: SignedInUser?) { connection.state.withLock { $0.user = user } }

    /// How many logical sessions are kept.
    var sessionCount: Int { backend.sessions.all.count }

    /// Whether strangers get answers to a command.
    public static func isOpenToStrangers(_ command: String) -> Bool {
        CommandTable.find(command)?.traits.contains(.unauthenticated) ?? false
    }

    private func answer(_ request: WireRequest) -> BSONDocument? {
        var outcome = dispatcher.respond(to: request, on: connection)
        defer { backend.letGo() }
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
        return WireReply.bytes(
            document, to: request.form, requestID: 1, responseTo: request.requestID)
    }
}

extension StoreBackend {
    /// Ends what would keep others waiting.
    fileprivate func letGo() {
        transactions.giveUpAll()
        snapshots.endIdle(.zero)
    }
}
