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
        /// Whether a commit may have landed, or land still.
        var isUnknown = false
        /// Whether changes were sent without a transaction.
        var isOutside = false
        /// The time since which all attempts met a lock of another transaction.
        var heldUpSince: ContinuousClock.Instant?
    }

    private let session: [UInt8]
    private let number: Int64
    private let replies: ReplyLog
    private let call: CommandCall
    private let state = Locked(State())

    /// - Parameter call: the client's command, with whose interruption the transaction ends.
    init(session: [UInt8], number: Int64, _ replies: ReplyLog, for call: CommandCall) {
        self.session = session
        self.number = number
        self.replies = replies
        self.call = call
    }

    /// Whether its changes landed, together with its reply.
    var hasLanded: Bool { state.withLock { $0.hasLanded } }

    /// Whether its changes may have landed, or land still, although the upstream did not say so.
    var isUnknown: Bool { state.withLock { $0.isUnknown } }

    /// Whether it can be one transaction.
    var isPossible: Bool { state.withLock { $0.isPossible } }

    /// The time since which all attempts met a lock of another transaction; `nil` if the last one did
    /// not.
    var heldUpSince: ContinuousClock.Instant? { state.withLock { $0.heldUpSince } }

    /// Lets later attempts use no transaction, unless a commit may already have succeeded.
    func giveUp() { state.withLock { if !$0.isUnknown { $0.isPossible = false } } }

    /// Whether changes may have landed without a reply, so that a copy would be carried out again.
    var isOutside: Bool { state.withLock { $0.isOutside } }

    /// Prepares for changes that are sent without a transaction.
    ///
    /// - Throws: ``Superseded`` when another copy was carried out; the upstream's errors.
    func leaveTransaction(_ link: UpstreamLink) throws {
        guard !isOutside else { return }
        try checkOthers(link)
        state.withLock { $0.isOutside = true }
    }

    private func checkOthers(_ link: UpstreamLink) throws {
        let known = try replies.entry(of: session, for: number, isNewest: true, link)
        if let known, known.number >= number { throw Superseded() }
    }

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
        let start = ContinuousClock.now
        do {
            if isUnknown { try checkOthers(link) }
            let transaction = try link.beginTransaction(readsNewest: true, for: call)
            defer { transaction.end() }
            do {
                let inside = link.within(transaction)
                guard let reply = try body(inside) else {
                    transaction.abortTransaction()
                    state.withLock { $0.heldUpSince = nil }
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
        } catch var fault as CommandFailure {
            if fault.labels.contains("UnknownTransactionCommitResult") {
                state.withLock { $0.isUnknown = true }
                fault = ReplyLog.undecided
            }
            let isTooLong =
                .now - start > Self.timeMax && Self.ends.contains(fault.code)
            let isUnsupported = Self.unsupported.contains(fault.code) || isTooLong
            if isUnsupported { giveUp() }
            guard isUnsupported || runsAgain(after: fault) else {
                // The client knows of no transaction.
                fault.labels.removeAll { $0 == Self.transient }
                throw ErrorLabels.isOfServer(fault.code) ? ReplyLog.undecided : fault
            }
            state.withLock { state in
                state.heldUpSince =
                    Self.locks.contains(fault.code) ? state.heldUpSince ?? start : nil
            }
            return false
        }
    }

    /// Whether the command may run again: if a failed commit landed after all, its entry refuses the
    /// next one.
    private func runsAgain(after fault: CommandFailure) -> Bool {
        guard ErrorLabels.isOfServer(fault.code) else {
            return ErrorLabels.transient.contains(fault.code)
                || fault.labels.contains(Self.transient)
        }
        return state.withLock { state in
            defer { state.hasBroken = true }
            return !state.hasBroken
        }
    }

    private static let transient = "TransientTransactionError"

    /// The time after which a failed transaction is taken for one that the upstream ends for its
    /// length: half of MongoDB's `transactionLifetimeLimitSeconds`.
    private static let timeMax: Duration = .seconds(30)

    /// WriteConflict, NoSuchTransaction and TransactionExceededLifetimeLimitSeconds.
    private static let ends: Set<Int32> = [112, 251, 290]

    /// LockTimeout and WriteConflict.
    private static let locks: Set<Int32> = [24, 112]

    /// IllegalOperation, OperationNotSupportedInTransaction and TransactionTooLargeForCache: no
    /// replica set, a collection that no transaction writes, such as a capped one, or too much.
    static let unsupported: Set<Int32> = [20, 263, 388]
}

extension CommandCall {
    /// Whether a transaction, which a majority of the upstream acknowledges, meets the client's write
    /// concern.
    var allowsMajority: Bool {
        guard let concern = document("writeConcern") else { return true }
        guard concern["wtimeout"]?.wholeNumber ?? 0 == 0 else { return false }
        return concern["w"].map { $0 == "majority" || $0.wholeNumber.map { $0 <= 1 } ?? false }
            ?? true
    }
}
