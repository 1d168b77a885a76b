internal import BSONStore

/// A client's transaction, which the upstream holds open in a session of its own.
final class GatewayTransaction: HeldTransaction {
    private enum State {
        /// No command was sent yet.
        case new
        /// The session waits for the next command.
        case open(any UpstreamSession)
        /// A command uses the session.
        case running(any UpstreamSession)
        /// It is to be aborted once the running command has ended.
        case leaving
        /// The upstream was told to commit, and has not answered.
        case committing
        case committed, aborted
    }

    let session: [UInt8]
    let number: Int64
    let startedAt = ContinuousClock.now
    private let link: UpstreamLink
    private let state = ThreadCondition(State.new)

    init(_ link: UpstreamLink, session: [UInt8], number: Int64) {
        self.link = link
        self.session = session
        self.number = number
    }

    deinit { _ = giveUp() }

    /// Runs a body with a link whose commands belong to the transaction.
    ///
    /// - Throws: 251 (NoSuchTransaction) when it has ended, and the errors of the body.
    func use<R>(_ body: (UpstreamLink) throws -> R) throws -> R {
        let held = try take()
        defer { giveBack(held) }
        return try body(link.within(held))
    }

    private func take() throws -> any UpstreamSession {
        let ready: (any UpstreamSession)? = try state.wait { state in
            switch state {
            case .new: return .done(nil)
            case .open(let session):
                state = .running(session)
                return .done(session)
            case .running, .leaving, .committing: return .forSignal
            case .committed, .aborted: throw TransactionFailures.aborted(number)
            }
        }
        if let ready { return ready }
        let made = try link.beginTransaction(for: nil)
        state.withLock { $0 = .running(made) }
        return made
    }

    private func giveBack(_ session: any UpstreamSession) {
        let isLeaving = state.withLock(waking: .all) { state in
            if case .leaving = state {
                state = .aborted
                return true
            }
            state = .open(session)
            return false
        }
        guard isLeaving else { return }
        session.abortTransaction()
        session.end()
    }

    var isAborted: Bool {
        state.withLock { state in
            switch state {
            case .leaving, .aborted: true
            case .new, .open, .running, .committing, .committed: false
            }
        }
    }

    /// The upstream itself ends transactions that block others.
    func isOverdue(idle: Duration, grace: Duration) -> Bool { false }

    func commit() throws {
        let open: (any UpstreamSession)? = try state.wait { state in
            switch state {
            case .open(let session):
                state = .committing
                return .done(session)
            case .new:
                state = .committed
                return .done(nil)
            case .running, .leaving, .committing: return .forSignal
            case .committed: return .done(nil)
            case .aborted: throw TransactionFailures.aborted(number)
            }
        }
        guard let open else { return }
        defer { open.end() }
        do throws(CommandFailure) {
            try link.commit(open)
            state.withLock(waking: .all) { $0 = .committed }
        } catch {
            state.withLock(waking: .all) { $0 = .aborted }
            throw error
        }
    }

    @discardableResult
    func abort() -> Bool {
        let held: (any UpstreamSession)?? = state.wait { state in
            switch state {
            case .new, .aborted:
                state = .aborted
                return .done(.some(nil))
            case .open(let session):
                state = .aborted
                return .done(session)
            case .running, .leaving, .committing: return .forSignal
            case .committed: return .done(.none)
            }
        }
        guard let held else { return false }
        held?.abortTransaction()
        held?.end()
        return true
    }

    func giveUp() -> Bool {
        let (held, isReverted) = state.withLock { state -> ((any UpstreamSession)?, Bool) in
            switch state {
            case .new:
                state = .aborted
                return (nil, true)
            case .open(let session):
                state = .aborted
                return (session, true)
            case .running:
                state = .leaving
                return (nil, true)
            case .leaving, .aborted: return (nil, true)
            case .committing, .committed: return (nil, false)
            }
        }
        held?.abortTransaction()
        held?.end()
        return isReverted
    }
}
