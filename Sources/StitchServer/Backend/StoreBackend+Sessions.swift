internal import BSONStore

extension StoreBackend {
    /// Ends sessions with what belongs to them.
    func end(_ ended: [BSONDocument]) {
        sessions.end(ended)
        for session in ended {
            cursors.kill(session: session)
            transactions.forget(SessionTable.key(session))
        }
    }
}
