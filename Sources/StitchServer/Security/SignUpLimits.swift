internal import BSONStore

/// The limits on how many people may sign up in an hour.
package struct SignUpLimits: Sendable, Hashable {
    /// The maximum from one address; a /64 network of IPv6 counts as one.
    package var ofAddress: Int
    /// The maximum from all addresses.
    package var inAll: Int

    /// Creates limits.
    package init(ofAddress: Int = 10, inAll: Int = 1_000) {
        self.ofAddress = ofAddress
        self.inAll = inAll
    }
}
