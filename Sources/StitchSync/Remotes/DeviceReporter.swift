/// A remote that tells its server how much waits on the device.
package protocol DeviceReporter: Sendable {
    /// Sends the numbers; a server that takes none ignores them.
    func report(_ backlog: DeviceBacklog) async throws(RemoteError)
}

/// The numbers of what waits on a device, over all collections.
package struct DeviceBacklog: Sendable, Hashable {
    /// The changes that the remote has not confirmed.
    package var pending = 0
    /// The documents whose sync is paused.
    package var paused = 0
    /// The rejected writes that the app has not settled.
    package var rejected = 0

    package init(pending: Int = 0, paused: Int = 0, rejected: Int = 0) {
        self.pending = pending
        self.paused = paused
        self.rejected = rejected
    }
}
