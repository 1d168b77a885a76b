internal import BSONStore

extension StoreBackend {
    /// Ends sessions with their cursors and transactions.
    func end(_ ended: [BSONDocument]) {
        sessions.end(ended)
        for session in ended {
            cursors.kill(session: session)
            transactions.forget(SessionTable.key(session))
        }
    }
}
