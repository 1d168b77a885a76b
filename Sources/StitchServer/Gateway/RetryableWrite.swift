internal import BSONStore

/// A retryable write of a client, whose changes and reply land upstream in one transaction.
///
/// The entry for the reply is accepted once. So of all copies of the command, at whatever gateway and
/// however late they reach the upstream, one is carried out, and the others find its reply.
///
/// Source: the drivers' specification "Retryable Writes".
final class RetryableWrite: Sendable {
    /// The failure of a copy: another one was carried out, or a later command of the session.
    struct Superseded: Error {}

    private struct State {
        var hasLanded = false
        var isPossible = true
        /// Whether a connection broke before.
        var hasBroken = false
    }

    private let session: [UInt8]
    private let number: Int64
    private let replies: ReplyLog
    private let state = Locked(State())

    init(session: [UInt8], number: Int64, _ replies: ReplyLog) {
        self.session = session
        self.number = number
        self.replies = replies
    }

    /// Whether its changes landed, together with its reply.
    var hasLanded: Bool { state.withLock { $0.hasLanded } }

    /// Whether it can still be one transaction.
    var isPossible: Bool { state.withLock { $0.isPossible } }

    /// Notes that its changes cannot be one transaction.
    func giveUp() { state.withLock { $0.isPossible = false } }

    /// Runs a body in a transaction of the upstream, and adds the reply that it returns.
    ///
    /// - Parameter body: sends the changes; returns `nil` to have none of them land.
    /// - Returns: whether they landed. If not, the command is to run again: also where the
    ///   upstream had other writers, or its connection broke for the first time.
    /// - Throws: ``Superseded``, and the errors of the body and of the upstream, after which
    ///   nothing has landed or the upstream knows what has.
    func land(
        _ link: UpstreamLink, _ body: (UpstreamLink) throws -> BSONDocument?
    ) throws -> Bool {
        do {
            let transaction = try link.beginTransaction()
            defer { transaction.end() }
            do {
                let inside = link.within(transaction)
                guard let reply = try body(inside) else {
                    transaction.abortTransaction()
                    return false
                }
                let entry = ReplyLog.Entry(number: number, reply: reply)
                guard try replies.claim(entry, of: session, inside) else { throw Superseded() }
                try link.commit(transaction)
                replies.remember(entry, of: session)
                state.withLock { $0.hasLanded = true }
                return true
            } catch {
                transaction.abortTransaction()
                throw error
            }
        } catch let fault as CommandFailure {
            if Self.unsupported.contains(fault.code) { giveUp() }
            guard Self.unsupported.contains(fault.code) || runsAgain(after: fault) else {
                throw fault
            }
            return false
        }
    }

    /// Whether the command may run again: if the failed commit landed after all, its entry refuses
    /// the next one.
    private func runsAgain(after fault: CommandFailure) -> Bool {
        guard fault.code == UpstreamLink.unreachable else {
            return ErrorLabels.transient.contains(fault.code)
        }
        return state.withLock { state in
            defer { state.hasBroken = true }
            return !state.hasBroken
        }
    }

    /// IllegalOperation and OperationNotSupportedInTransaction: no replica set, or a collection that
    /// no transaction writes, such as a capped one.
    private static let unsupported: Set<Int32> = [20, 263]
}

extension CommandCall {
    /// Whether a transaction, which a majority of the upstream acknowledges, meets the client's write
    /// concern.
    var allowsMajority: Bool {
        guard let concern = document("writeConcern") else { return true }
        guard concern["wtimeout"] == nil else { return false }
        return concern["w"].map { $0 == "majority" || $0.wholeNumber.map { $0 <= 1 } ?? false }
            ?? true
    }
}
