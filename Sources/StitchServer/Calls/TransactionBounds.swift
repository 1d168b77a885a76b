internal import BSONStore

/// Bounds how many transactions of several commands are open; each holds a thread and two files.
package struct TransactionBounds: Sendable, Hashable {
    /// How many there are at once in all.
    package var countMax = 256
    /// How many one user has at once; where nobody signs in, one address.
    package var ofOneMax = 64

    /// Takes the defaults.
    package init() {}

    /// Whose the transactions of a connection are.
    static func owner(_ connection: ClientConnection) -> [UInt8] {
        if let user = connection.state.withLock({ $0.user }) {
            return Array("u\(user.database)\0\(user.name)".utf8)
        }
        let peer = connection.peer
        return Array("a\(peer[..<(peer.lastIndex(of: ":") ?? peer.endIndex)])".utf8)
    }
}
