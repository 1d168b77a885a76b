internal import BSONStore

/// The limits on open multi-document transactions; each holds a thread and two files.
package struct TransactionBounds: Sendable, Hashable {
    /// The maximum in total.
    package var countMax = 256
    /// The maximum of one user, or of one address where clients do not sign in or are
    /// anonymous.
    package var ofOneMax = 64

    /// Creates the default limits.
    package init() {}

    /// Returns the key of the user, or address, that owns a connection's transactions.
    static func owner(_ connection: ClientConnection) -> [UInt8] { connection.owner }
}

extension ClientConnection {
    /// The key of the user, or of the address, whose share of the server the connection uses.
    ///
    /// It is the address before sign-in and for anonymous users, since a client can be any number
    /// of these. A /64 network of IPv6 counts as one address.
    var owner: [UInt8] {
        if let user = state.withLock({ $0.user }), !user.isAnonymous {
            return Array("u\(user.database)\0\(user.name)".utf8)
        }
        return addressOwner
    }
}
