package import BSONStore

/// The MongoDB deployment behind a gateway.
///
/// A call blocks its thread until the reply has come. Any thread may call.
package protocol Upstream: Sendable {
    /// Sends a command to the primary, and once more where MongoDB's drivers would.
    ///
    /// The deployment is told to end the command once the caller's budget is over.
    ///
    /// - Returns: the reply, also one that reports write errors.
    /// - Throws: ``UpstreamFailure`` without a reply, or when its `ok` is not 1.
    func run(
        _ command: BSONDocument, on database: String, _ kind: UpstreamCommandKind,
        for caller: UpstreamCaller
    ) throws(UpstreamFailure) -> BSONDocument

    /// Returns a place for a cursor, which holds no connection.
    ///
    /// - Throws: ``UpstreamFailure`` when no primary can be reached.
    func place(for caller: UpstreamCaller) throws(UpstreamFailure) -> any UpstreamPlace

    /// Takes a connection with a session of its own, for the commands of a transaction.
    ///
    /// - Throws: ``UpstreamFailure`` when no primary can be reached.
    func openSession(for caller: UpstreamCaller) throws(UpstreamFailure) -> any UpstreamSession
}

/// The one for whom a command is sent upstream.
package struct UpstreamCaller: Sendable {
    /// The user whose share of the connections the command uses; `nil` for the gateway itself.
    package let user: [UInt8]?
    /// The budget of the client's command; `nil` for the gateway's own work, which nothing
    /// interrupts.
    package let budget: WorkBudget?

    /// The gateway itself.
    package static let own = UpstreamCaller(user: nil, budget: nil)
}

/// A server of the upstream, and a session there, by which the commands of a cursor find it.
///
/// Any thread may use it.
package protocol UpstreamPlace: Sendable {
    /// The number of the server.
    var server: UInt32 { get }

    /// Sends a command with any connection; never repeats it.
    ///
    /// - Throws: ``UpstreamFailure`` without a reply, or when its `ok` is not 1.
    func run(
        _ command: BSONDocument, on database: String, for caller: UpstreamCaller
    ) throws(UpstreamFailure) -> BSONDocument
}

/// The way in which drivers repeat a command after a failed connection.
package enum UpstreamCommandKind: Sendable {
    /// As a read.
    case read
    /// As a retryable write, which the deployment executes once.
    case write
}

/// A connection to the upstream with a session, for one thread at a time.
package protocol UpstreamSession: Sendable {
    /// Sends a command, in the session's transaction if one is open; never repeats it.
    ///
    /// - Throws: ``UpstreamFailure`` without a reply, or when its `ok` is not 1.
    func run(
        _ command: BSONDocument, on database: String, for caller: UpstreamCaller
    ) throws(UpstreamFailure) -> BSONDocument

    /// Begins a transaction: the next command starts it.
    ///
    /// - Parameter readsNewest: `true` for a short transaction: it reads the newest state, also what no
    ///   majority has acknowledged, and waits for its commit for at most 10 seconds.
    func startTransaction(readsNewest: Bool) throws(UpstreamFailure)

    /// Commits the open transaction.
    func commitTransaction() throws(UpstreamFailure)

    /// Reverts the open transaction; the deployment does so by itself if it cannot be reached.
    func abortTransaction()

    /// Returns the connection; the session must not be used afterwards.
    func end()
}

/// The failure of a command at the upstream.
package struct UpstreamFailure: Error, Sendable {
    /// The origin of a failure.
    package enum Kind: Sendable {
        /// The deployment answered with an error.
        case answer
        /// No primary could be reached, or the connection broke: it is unknown what was done.
        case unreachable
        /// The user, or the gateway, has too many connections in use; nothing was sent.
        case busy
        /// The deployment refuses the gateway's credentials or certificate.
        case signIn
    }

    package let kind: Kind
    /// MongoDB's error code.
    package let code: Int32
    package let message: String
    package let labels: [String]
    /// The deployment's reply, if one came.
    package let reply: BSONDocument?

    package init(
        _ kind: Kind, code: Int32, _ message: String, labels: [String] = [],
        reply: BSONDocument? = nil
    ) {
        self.kind = kind
        self.code = code
        self.message = message
        self.labels = labels
        self.reply = reply
    }
}
