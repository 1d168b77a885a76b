internal import BSONStore

/// What the watch of a running engine knows of the remotes' histories, so that its passes need not ask.
///
/// The watch waits at the position up to which the passes have read. As long as the wait is under way,
/// there is nothing new to read, and the collection is the one whose identity was checked: a drop would
/// end the wait. The changes that a wait returns are read by the next pass.
///
/// It counts for the passes of the engine's own loop only: a pass that the app asks for looks itself.
final class HistoryWatch: Sendable {
    /// The changes after a position, as far as the watch knows them.
    enum News {
        /// The pass has to ask the remote.
        case unknown
        /// No change: the remote would have reported it.
        case nothing
        case changes(RemoteChangeBatch)
    }

    /// The knowledge of one collection.
    private struct Knowledge {
        /// The identity that the remote reported, and the connection over which it did.
        var identity: (finding: CheckIdentity.Finding, connection: UInt64)?
        /// The position after which a wait is under way.
        var waiting: ResumeToken?
        /// What a wait returned, and the position before it.
        var found: (after: ResumeToken, changes: RemoteChangeBatch)?
    }

    private let state = Locked<[Namespace: Knowledge]>([:])

    /// Notes that a wait for changes after a position begins.
    func begin(_ namespace: Namespace, after token: ResumeToken) {
        state.withLock { state in
            state[namespace, default: Knowledge()].waiting = token
            state[namespace]?.found = nil
        }
    }

    /// Notes that a wait ended, with the changes that it found.
    func end(_ namespace: Namespace, after token: ResumeToken, with changes: RemoteChangeBatch?) {
        state.withLock { state in
            state[namespace]?.waiting = nil
            if let changes { state[namespace]?.found = (token, changes) }
        }
    }

    /// Forgets what the waits found, as after a failed one: the next pass asks for everything.
    func forget(_ namespace: Namespace) { state.withLock { $0[namespace] = nil } }

    /// Notes the identity that a pass found unchanged over a connection.
    func note(
        _ identity: CheckIdentity.Finding, of namespace: Namespace, over connection: UInt64
    ) {
        state.withLock { $0[namespace, default: Knowledge()].identity = (identity, connection) }
    }

    /// Returns the identity, where it cannot have changed since a pass read up to a position.
    func identity(
        of namespace: Namespace, at token: ResumeToken, over connection: UInt64
    ) -> CheckIdentity.Finding? {
        state.withLock { state in
            guard let known = state[namespace],
                known.waiting == token || known.found?.after == token,
                let identity = known.identity, identity.connection == connection
            else { return nil }
            return identity.finding
        }
    }

    /// Whether a wait returned changes after a position that no pass has taken yet.
    func hasNews(of namespace: Namespace, after token: ResumeToken) -> Bool {
        state.withLock { $0[namespace]?.found?.after == token }
    }

    /// Returns the changes after a position; those that a wait returned are taken once.
    func takeNews(of namespace: Namespace, after token: ResumeToken) -> News {
        state.withLock { state in
            guard let known = state[namespace] else { return .unknown }
            if known.waiting == token { return .nothing }
            guard let found = known.found, found.after == token else { return .unknown }
            state[namespace]?.found = nil
            return .changes(found.changes)
        }
    }
}
