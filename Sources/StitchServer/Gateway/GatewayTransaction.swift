internal import BSONStore

/// A client's transaction, which the upstream holds open in a session of its own.
final class GatewayTransaction: HeldTransaction {
    private enum State {
        /// No command was sent yet.
        case new
        /// The first command takes a connection.
        case beginning
        /// The session waits for the next command.
        case open(any UpstreamSession)
        /// A command uses the session.
        case running(any UpstreamSession)
        /// It is to be aborted once the command that begins or runs has ended.
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
    /// The collections that its commands wrote.
    private let written = Locked<Set<Namespace>>([])

    init(_ link: UpstreamLink, session: [UInt8], number: Int64) {
        self.link = link
        self.session = session
        self.number = number
    }

    deinit { _ = giveUp() }

    /// The key of the user whose transaction it is.
    var owner: [UInt8] { link.user ?? [] }

    /// Notes the collections that a command of the transaction writes.
    func noteWrite(of namespaces: [Namespace]) { written.withLock { $0.formUnion(namespaces) } }

    /// Whether it wrote in one of some collections.
    func wrote(inAny namespaces: [Namespace]) -> Bool {
        written.withLock { !$0.isDisjoint(with: namespaces) }
    }

    /// Runs a body with a link whose commands belong to the transaction, after the command before.
    ///
    /// - Throws: 251 (NoSuchTransaction) when it has ended, the errors of the body, and the end of the
    ///   command's time while it waits.
    func use<R>(for call: CommandCall, _ body: (UpstreamLink) throws -> R) throws -> R {
        let held = try take(for: call)
        defer { giveBack(held) }
        return try body(link.within(held))
    }

    private func take(for call: CommandCall) throws -> any UpstreamSession {
        let ready: (any UpstreamSession)? = try state.wait { state in
            switch state {
            case .new:
                state = .beginning
                return .done(nil)
            case .open(let session):
                state = .running(session)
                return .done(session)
            case .beginning, .running, .leaving, .committing: return try Self.waitForSignal()
            case .committed, .aborted: throw TransactionFailures.aborted(number)
            }
        }
        return try ready ?? begin(for: call)
    }

    /// Begins the transaction at the upstream, for the first command.
    private func begin(for call: CommandCall) throws -> any UpstreamSession {
        let made: any UpstreamSession
        do {
            made = try link.beginTransaction(for: call)
        } catch {
            state.withLock(waking: .all) { state in
                if case .beginning = state { state = .new } else { state = .aborted }
            }
            throw error
        }
        let isWanted = state.withLock { state in
            guard case .beginning = state else { return false }
            state = .running(made)
            return true
        }
        guard isWanted else {
            giveBack(made)
            throw TransactionFailures.aborted(number)
        }
        return made
    }

    /// Has a command wait for the one that uses the transaction.
    ///
    /// - Throws: the end of the waiting command's time.
    private static func waitForSignal<R>() throws(StoreError) -> ThreadWait<R> {
        try WorkBudget.check()
        return .forSignalOr(milliseconds: 50)
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
            case .new, .beginning, .open, .running, .committing, .committed: false
            }
        }
    }

    /// The upstream itself ends transactions that block others; where it does not, a write that they
    /// block does (``TransactionTable/endHolders(of:for:)``).
    func isOverdue(forOther isOther: Bool, _ patience: WriterPatience) -> Bool { false }

    func commit() throws {
        let open: (any UpstreamSession)? = try state.wait { state in
            switch state {
            case .open(let session):
                state = .committing
                return .done(session)
            case .new:
                state = .committed
                return .done(nil)
            case .beginning, .running, .leaving, .committing: return try Self.waitForSignal()
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
        let held: (any UpstreamSession)??
        do {
            held = try state.wait { (state) throws(StoreError) in
                switch state {
                case .new, .aborted:
                    state = .aborted
                    return .done(.some(nil))
                case .open(let session):
                    state = .aborted
                    return .done(session)
                case .beginning, .running, .leaving, .committing: return try Self.waitForSignal()
                case .committed: return .done(.none)
                }
            }
        } catch {
            // The command that uses it aborts it in the end.
            return giveUp()
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
            case .beginning, .running:
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

extension TransactionTable where Transaction == GatewayTransaction {
    /// Ends the transactions of other owners that wrote in some collections.
    func endHolders(of namespaces: [Namespace], for owner: [UInt8]) {
        for transaction in inProgress
        where transaction.owner != owner && transaction.wrote(inAny: namespaces) {
            end(transaction)
        }
    }
}

extension CommandCall {
    /// Returns the collections that a command with statements writes.
    ///
    /// - Throws: the failure for a list of collections that cannot be read.
    func writtenCollections(
        _ definition: CommandDefinition
    ) throws(CommandFailure) -> [Namespace] {
        guard definition.traits.contains(.retryable) else { return [] }
        guard definition.statements == .mixed else {
            return [Namespace(database, target.stringValue ?? "")]
        }
        return try BulkWriteCommand.namespaces(self)
    }
}
