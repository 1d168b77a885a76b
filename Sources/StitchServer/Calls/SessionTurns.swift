internal import BSONStore

/// The sessions whose retryable write, or commit, runs now.
///
/// A session has one operation at a time. A second one is a copy of the first, by a client that lost
/// its connection: it waits, and then gets the reply of the first.
final class SessionTurns: Sendable {
    private let busy = ThreadCondition<Set<[UInt8]>>([])

    /// Waits until the session is free, and takes it.
    ///
    /// - Throws: the errors of a command whose time is over or whose client is gone.
    func begin(_ session: [UInt8], _ call: CommandCall) throws {
        try busy.wait { busy in
            try call.checkTime()
            return busy.insert(session).inserted
                ? .done(()) : .forSignalOr(milliseconds: Self.checkMilliseconds)
        }
    }

    /// Frees the session.
    func end(_ session: [UInt8]) { busy.withLock(waking: .all) { _ = $0.remove(session) } }

    private static let checkMilliseconds = 100
}
